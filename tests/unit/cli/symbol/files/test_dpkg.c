/* test_dpkg.c: packages by the files they came with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/symbol/files/dpkg.h"

static char root[] = "/tmp/test_dpkg.XXXXXX";

static void write_list(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/var/lib/dpkg/info/%s", root, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int make_root(void **state)
{
	static const char *const parts[] = {
		"/var", "/var/lib", "/var/lib/dpkg", "/var/lib/dpkg/info",
	};
	char path[256];

	(void)state;
	assert_non_null(mkdtemp(root));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", root, parts[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	write_list("libone1:amd64.list", "/.\n/usr/lib/libone.so.1.2\n");
	write_list("two.list", "/usr/bin/two\n/lib/libtwo.so");	/* no end */
	write_list("two-doc.list", "/usr/share/usr/bin/two\n/usr/bin/two2\n");
	write_list("two.md5sums", "/usr/bin/none\n");
	write_list(".list", "/usr/bin/none\n");
	write_list("empty.list", "");
	return 0;
}

static int remove_root(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static void owners(void **state)
{
	static const char *const paths[] = {
		"/usr/bin/two", "/usr/lib/libone.so.1.2", "/usr/bin/none",
		"/usr/lib/libtwo.so", "", "usr/bin/two", "/usr/lib/libone.so",
	};
	static const char *const wanted[] = {
		"two", "libone1", NULL, NULL, NULL, NULL, NULL,
	};
	char *packages[sizeof(paths) / sizeof(paths[0])];
	size_t count = sizeof(paths) / sizeof(paths[0]);

	(void)state;
	dpkg_owners(root, paths, count, packages);
	for (size_t i = 0; i < count; i++) {
		if (wanted[i] == NULL)
			assert_null(packages[i]);
		else
			assert_string_equal(packages[i], wanted[i]);
		free(packages[i]);
	}
}

/* What is in /usr/lib may have been put to /lib. */
static void merged_usr(void **state)
{
	static const char *const paths[] = { "/usr/lib/libtwo.so" };
	char *package;

	(void)state;
	write_list("two.list", "/usr/bin/two\n/lib/libtwo.so\n");
	dpkg_owners(root, paths, 1, &package);
	assert_string_equal(package, "two");
	free(package);
}

static void no_such_system(void **state)
{
	static const char *const paths[] = { "/usr/bin/two" };
	char *package;

	(void)state;
	dpkg_owners("/nowhere", paths, 1, &package);
	assert_null(package);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(owners),
		cmocka_unit_test(merged_usr),
		cmocka_unit_test(no_such_system),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
