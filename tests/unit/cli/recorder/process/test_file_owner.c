/* test_file_owner.c: users and groups by name and number, from files as
 * passwd(5) and group(5) describe them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/recorder/process/file_owner.h"

static char users[] = "/tmp/gnomon-test-passwd.XXXXXX";
static char groups[] = "/tmp/gnomon-test-group.XXXXXX";

static int write_file(char *name, const char *text)
{
	int fd = mkstemp(name);
	size_t n = strlen(text);
	bool done = fd >= 0 && write(fd, text, n) == (ssize_t)n;

	close(fd);
	return done ? 0 : -1;
}

static int begin(void **state)
{
	(void)state;
	return write_file(users, "root:x:0:0:root:/root:/bin/sh\n"
			  "\n:\nbad\nworse:x\n"
			  "www:x:33:34:w:/:/bin/false\n"
			  "www-data:x:35:36::/:\n7:x:70:71::/:\n") ||
	       write_file(groups, "adm:x:4:www\nops:x:90:\n");
}

static int end(void **state)
{
	(void)state;
	return unlink(users) | unlink(groups);
}

static void known(void **state)
{
	static const struct {
		const char *text;
		uint32_t user, group;
	} cases[] = {
		{ "root", 0, 0 }, { "www", 33, 34 }, { "www-data", 35, 36 },
		{ "www:ops", 33, 90 }, { "www:5", 33, 5 },
		{ ":adm", FILE_OWNER_KEEP, 4 }, { "12", 12, FILE_OWNER_KEEP },
		{ "12:13", 12, 13 }, { ":14", FILE_OWNER_KEEP, 14 },
		/* a number is one, whatever is called so */
		{ "7", 7, FILE_OWNER_KEEP },
	};
	struct file_owner owner;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (!file_owner_find(&owner, cases[i].text, users, groups))
			fail_msg("%s is not found", cases[i].text);
		assert_int_equal(owner.user, cases[i].user);
		assert_int_equal(owner.group, cases[i].group);
	}
}

static void unknown(void **state)
{
	static char large[600];
	static const char *const cases[] = {
		"", ":", "nobody-here", "ww", "www:", "www:none", "root:root",
		"4294967295", "99999999999", "18446744073709551616", "-1",
		" 1", "+1", "bad", "worse", "1:2:3", "www ", large
	};
	struct file_owner owner;

	(void)state;
	memset(large, 'a', sizeof(large) - 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (file_owner_find(&owner, cases[i], users, groups))
			fail_msg("%s is found", cases[i]);
	assert_false(file_owner_find(&owner, "www", "/not/there", groups));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known),
		cmocka_unit_test(unknown),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
