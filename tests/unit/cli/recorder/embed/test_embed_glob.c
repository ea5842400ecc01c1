/* test_embed_glob.c: patterns of paths, and the files that have such ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/text/buffer.h"
#include "cli/recorder/embed/embed_glob.h"

#define LONG 4094		/* longest value of an option, about */

static struct embed_glob glob;

static void names_match_patterns(void **state)
{
	static const struct {
		const char *pattern, *name;
		bool matches;
	} cases[] = {
		{ "a", "a", true }, { "a", "b", false }, { "a", "ab", false },
		{ "*", "abc", true }, { "*", ".abc", false },
		{ ".*", ".abc", true }, { "a*c", "abbc", true },
		{ "a*c", "abbcd", false }, { "*.conf", "x.conf", true },
		{ "*a*b*", "xxaxxbxx", true }, { "*a*b*", "xxbxxaxx", false },
		{ "a?c", "abc", true }, { "a?c", "ac", false },
		{ "[a-c]x", "bx", true }, { "[a-c]x", "dx", false },
		{ "[!a-c]x", "dx", true }, { "[!a-c]x", "ax", false },
		{ "[]]", "]", true }, { "[a", "[a", true },
		{ "[a-", "[a-", true }, { "\\*", "*", true },
		{ "\\*", "x", false }, { "a/b", "a", true },
		{ "a,b", "a", true }, { "", "", true }, { "", "a", false },
		{ "***", "a", true }, { "[z-a]", "m", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (embed_glob_matches(cases[i].pattern, cases[i].name) !=
		    cases[i].matches)
			fail_msg("%s, %s", cases[i].pattern, cases[i].name);
}

static unsigned found(const char *patterns)
{
	unsigned count = 0;

	embed_glob_all(&glob, patterns);
	for (uint32_t at = 0; at < glob.used; count++)
		at += (uint32_t)strlen(glob.found + at) + 1;
	return count;
}

static void touch(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static char folder[] = "/tmp/embed_glob.XXXXXX", back[4096];

/* Each test runs in an empty folder. */
static int enter_folder(void **state)
{
	(void)state;
	memcpy(folder + sizeof(folder) - 7, "XXXXXX", 6);
	return getcwd(back, sizeof(back)) == NULL || mkdtemp(folder) == NULL ||
		chdir(folder) != 0;
}

static int leave_folder(void **state)
{
	(void)state;
	return chdir(back) != 0 || rmdir(folder) != 0;
}

static void files_are_found(void **state)
{
	char pattern[4096];

	(void)state;
	assert_int_equal(mkdir("one", 0700) | mkdir("two", 0700), 0);
	touch("one/a.conf");
	touch("one/b.conf");
	touch("two/a.conf");
	touch("two/.hidden");
	assert_int_equal(found("one/a.conf"), 1);
	assert_int_equal(found("*/a.conf"), 2);
	assert_int_equal(found("*/*.conf,two/.*"), 3 + 3); /* . and .. too */
	assert_int_equal(found("t*//[ab].conf"), 1);
	snprintf(pattern, sizeof(pattern), "%s/*/*", folder);
	assert_int_equal(found(pattern), 3);
	assert_int_equal(strncmp(glob.found, folder, strlen(folder)), 0);
	snprintf(pattern, sizeof(pattern), "%s/o?e/a.conf", folder);
	assert_int_equal(found(pattern), 1);
	snprintf(pattern, sizeof(pattern), "%s/one/a.conf", folder);
	assert_string_equal(glob.found, pattern);
	found("one/a.conf");
	assert_string_equal(glob.found, pattern);
	assert_int_equal(found("three/*,,one/*/c"), 0);
	unlink("one/a.conf");
	unlink("one/b.conf");
	unlink("two/a.conf");
	unlink("two/.hidden");
	rmdir("one");
	rmdir("two");
}

/* As deep as patterns get, and as long. */
static void deep_patterns_end(void **state)
{
	static char long_one[LONG + 1];

	(void)state;
	for (size_t i = 0; i + 2 < sizeof(long_one); i += 2)
		memcpy(long_one + i, "*/", 2);
	found(long_one);
	long_one[0] = '/';
	found(long_one);
	for (size_t i = 1; i + 2 < sizeof(long_one); i += 2)
		memcpy(long_one + i, "./", 2);
	found(long_one);
}

#define NAME_BYTES 200
#define FILES (EMBED_GLOB_BYTES / NAME_BYTES + 1)

/* For each file a name of NAME_BYTES bytes. */
static void each_file(void (*act)(const char *name))
{
	char name[NAME_BYTES + 1];

	for (unsigned i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "%0*u", NAME_BYTES, i);
		act(name);
	}
}

static void remove_file(const char *name)
{
	assert_int_equal(unlink(name), 0);
}

static void bytes_of_paths_have_a_limit(void **state)
{
	(void)state;
	each_file(touch);
	assert_int_equal(found("*0"), FILES / 10 + 1);
	assert_false(glob.full);
	assert_in_range(found("*"), 1, FILES - 1);
	assert_true(glob.full);
	assert_true(glob.used <= EMBED_GLOB_BYTES);
	each_file(remove_file);
}

static void entries_read_have_a_limit(void **state)
{
	/* each pattern reads all entries, with . and .. */
	const unsigned most = EMBED_GLOB_LOOKS / (FILES + 2);
	struct buffer patterns = { 0 };

	(void)state;
	each_file(touch);
	for (unsigned i = 0; i < most; i++)
		buffer_string(&patterns, "none*,");
	assert_int_equal(found(patterns.data), 0);
	assert_false(glob.full);
	buffer_string(&patterns, "none*");
	assert_int_equal(found(patterns.data), 0);
	assert_true(glob.full);
	buffer_free(&patterns);
	each_file(remove_file);
}

#define IN_FOLDER(test)							\
	cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_match_patterns),
		IN_FOLDER(files_are_found),
		IN_FOLDER(deep_patterns_end),
		IN_FOLDER(bytes_of_paths_have_a_limit),
		IN_FOLDER(entries_read_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
