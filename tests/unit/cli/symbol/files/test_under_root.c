/*
 * test_under_root.c: links of another system lead to places of that system.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/base/grow.h"
#include "cli/symbol/files/under_root.h"

static char root[] = "/tmp/under-root.XXXXXX";

static void make_link(const char *target, const char *name)
{
	char *path = grow_format("%s/%s", root, name);

	assert_int_equal(symlink(target, path), 0);
	free(path);
}

/*
 *	usr/lib/real
 *	lib -> usr/lib
 *	usr/lib/absolute -> /usr/lib/real
 *	usr/lib/out -> ../../../../../../etc/passwd
 *	usr/folder -> /lib
 *	round -> again -> round
 */
static int prepare(void **state)
{
	char *path;

	(void)state;
	assert_non_null(mkdtemp(root));
	path = grow_format("%s/usr", root);
	assert_int_equal(mkdir(path, 0700), 0);
	free(path);
	path = grow_format("%s/usr/lib", root);
	assert_int_equal(mkdir(path, 0700), 0);
	free(path);
	make_link("usr/lib", "lib");
	make_link("/usr/lib/real", "usr/lib/absolute");
	make_link("../../../../../../etc/passwd", "usr/lib/out");
	make_link("/lib", "usr/folder");
	make_link("again", "round");
	make_link("round", "again");
	return 0;
}

static int clean(void **state)
{
	static const char *const names[] = {
		"lib", "usr/lib/absolute", "usr/lib/out", "usr/folder",
		"round", "again",
	};
	char *path;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		path = grow_format("%s/%s", root, names[i]);
		unlink(path);
		free(path);
	}
	path = grow_format("%s/usr/lib", root);
	rmdir(path);
	free(path);
	path = grow_format("%s/usr", root);
	rmdir(path);
	free(path);
	return rmdir(root);
}

/* `wanted` is below the root. */
static void leads_to(const char *path, const char *wanted)
{
	char *whole = grow_format("%s%s", root, wanted);
	char *slashed = grow_format("%s//", root);
	char *got = under_root(root, path), *again = under_root(slashed, path);

	assert_string_equal(got, whole);
	assert_string_equal(again, whole);
	free(whole);
	free(slashed);
	free(got);
	free(again);
}

static void links(void **state)
{
	(void)state;
	leads_to("/usr/lib/real", "/usr/lib/real");
	leads_to("/lib/real", "/usr/lib/real");
	leads_to("//lib/./absolute", "/usr/lib/real");
	leads_to("/usr/folder/absolute", "/usr/lib/real");
	leads_to("/lib/out", "/etc/passwd");
	leads_to("/../../usr/../lib", "/usr/lib");
	leads_to("usr/not/there", "/usr/not/there");
	leads_to("/", "/");
}

static void too_many_links(void **state)
{
	(void)state;
	assert_null(under_root(root, "/round/x"));
}

static void no_other_system(void **state)
{
	char *path = under_root(NULL, "/a/../b");

	(void)state;
	assert_string_equal(path, "/a/../b");
	free(path);
	path = under_root("/", "/proc/not/there");
	assert_string_equal(path, "/proc/not/there");
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links),
		cmocka_unit_test(too_many_links),
		cmocka_unit_test(no_other_system),
	};

	return cmocka_run_group_tests(tests, prepare, clean);
}
