/* test_pressure.c: limits of control groups, from folders as the kernel makes
 * them, and when memory is short enough for a snapshot. */
// FLAGS: -Wl,--wrap=sysconf
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

#include "cli/recorder/base/recording.h"
#include "cli/recorder/memory/pressure.h"

#define MIB (UINT64_C(1) << 20)

static char root[64];
static struct options options;

static void put(const char *path, const char *text)
{
	char name[256];
	FILE *file;

	snprintf(name, sizeof(name), "%s/%s", root, path);
	file = fopen(name, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void folder(const char *path)
{
	char name[256];

	snprintf(name, sizeof(name), "%s/%s", root, path);
	assert_int_equal(mkdir(name, 0700), 0);
}

static int make_root(void **state)
{
	(void)state;
	strcpy(root, "/tmp/gnomon-test-cgroup.XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static void version_2(void **state)
{
	struct cgroup group;
	uint64_t events = 0;

	(void)state;
	folder("a");
	folder("a/b");
	put("a/memory.current", "5\n");
	put("a/memory.max", "67108864\n");
	put("a/b/memory.current", "5\n");
	put("a/b/memory.max", "max\n");
	put("a/b/memory.events",
	    "low 7\nhigh 1\nmax 20\noom 300\noom_kill 4000\n");
	assert_true(cgroup_find(&group, root, "0::/a/b\n"));
	assert_int_equal(cgroup_limit(&group), 64 * MIB);
	assert_true(cgroup_events(&group, &events));
	assert_int_equal(events, 4321);
	put("a/b/memory.max", "1048576\n");
	assert_int_equal(cgroup_limit(&group), MIB);
}

static void version_1(void **state)
{
	struct cgroup group;
	uint64_t events = 0;

	(void)state;
	folder("memory");
	folder("memory/x");
	put("memory/memory.usage_in_bytes", "5\n");
	put("memory/memory.limit_in_bytes", "9223372036854771712\n");
	put("memory/x/memory.usage_in_bytes", "5\n");
	put("memory/x/memory.limit_in_bytes", "2097152\n");
	put("memory/x/memory.failcnt", "12\n");
	assert_true(cgroup_find(&group, root, "9:name=systemd:/x\n"
				"3:cpu,memory:/x\n0::/y\n"));
	assert_int_equal(cgroup_limit(&group), 2 * MIB);
	assert_true(cgroup_events(&group, &events));
	assert_int_equal(events, 12);
	/* a container sees its own as the mount */
	assert_true(cgroup_find(&group, root, "4:memory:/not/here"));
	assert_int_equal(cgroup_limit(&group), 0);
	assert_false(cgroup_events(&group, &events));
}

static void nothing_there(void **state)
{
	static const char *const lines[] = {
		"", "0", "0:", "0::", "::::", "1:memoryx:/", "1:xmemory:/",
		"\n\n\n", "0::/a\n", "5:memory", "5:memory\n:/x\n"
	};
	struct cgroup group;
	uint64_t events;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		assert_false(cgroup_find(&group, root, lines[i]));
		assert_int_equal(cgroup_limit(&group), 0);
		assert_false(cgroup_events(&group, &events));
	}
}

static void levels(void **state)
{
	static struct pressure p;
	char name[SNAPSHOT_NAME_MAX];

	(void)state;
	recording_options = &options;
	options_default(&options);
	assert_int_equal(options_set(&options, OPTION_SNAPSHOT_AT,
				     "RSS=64M,RSS=50.5%"), 0);
	pressure_init(&p, getpid());
	p.limit = 1000 * MIB;
	assert_int_equal(p.levels, 2);
	assert_false(pressure_is_high(&p, 63 * MIB, 0, name));
	assert_true(pressure_is_high(&p, 65 * MIB, 0, name));
	assert_string_equal(name, "RSS=64M");
	assert_false(pressure_is_high(&p, 65 * MIB, 0, name));
	/* around the level, and below it */
	assert_false(pressure_is_high(&p, 63 * MIB, 0, name));
	assert_false(pressure_is_high(&p, 65 * MIB, 0, name));
	assert_false(pressure_is_high(&p, 50 * MIB, 0, name));
	/* both at once: one after the other */
	assert_true(pressure_is_high(&p, 506 * MIB, 0, name));
	assert_true(pressure_is_high(&p, 506 * MIB, 0, name));
	assert_string_equal(name, "RSS=50.5%");
	assert_false(pressure_is_high(&p, 506 * MIB, 0, name));
	assert_true(pressure_is_high(&p, 506 * MIB, 1, name));
	assert_string_equal(name, "memory.events");
	assert_false(pressure_is_high(&p, 506 * MIB, 1, name));
}

static void another_group(void **state)
{
	static struct pressure p;

	(void)state;
	recording_options = &options;
	options_default(&options);
	folder("a");
	put("a/memory.current", "5\n");
	folder("b");
	put("b/memory.current", "5\n");
	pressure_init(&p, getpid());
	pressure_group(&p, root, "0::/a\n");
	assert_true(p.found);
	p.counted = true;
	/* hidden for a while */
	pressure_group(&p, root, "");
	assert_false(p.found);
	pressure_group(&p, root, "0::/a\n");
	assert_true(p.found && p.counted);
	pressure_group(&p, root, "0::/b\n");
	assert_true(p.found);
	assert_false(p.counted);
}

static long page_times = 1;

long __real_sysconf(int name);
long __wrap_sysconf(int name);

long __wrap_sysconf(int name)
{
	return __real_sysconf(name) * page_times;
}

/* The resident size of this test is far from 1 GiB. */
static void large_pages(void **state)
{
	static struct pressure p;
	char name[SNAPSHOT_NAME_MAX];

	(void)state;
	recording_options = &options;
	options_default(&options);
	assert_int_equal(options_set(&options, OPTION_SNAPSHOT_AT, "RSS=1G"),
			 0);
	pressure_init(&p, getpid());
	assert_false(pressure_poll(&p, 1000 * MIB, name));
	page_times = 65536;
	pressure_init(&p, getpid());
	page_times = 1;
	assert_true(pressure_poll(&p, 1000 * MIB, name));
	assert_string_equal(name, "RSS=1G");
}

static void wrong_levels(void **state)
{
	static const char *const wrong[] = {
		"64M", "RSS", "RSS=", "RSS=0", "RSS=0%", "RSS=101%", "RSS=1%%",
		"RSS=1M%", "rss=1M", "RSS=1M,", "RSS=1M,,RSS=2M", ",RSS=1M",
		"RSS=-1", "RSS=99999999999999999999999999999999999999999999"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		if (options_fit(OPTION_SNAPSHOT_AT, wrong[i]))
			fail_msg("%s was taken", wrong[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(version_2, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(version_1, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(nothing_there, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(another_group, make_root,
						remove_root),
		cmocka_unit_test(levels),
		cmocka_unit_test(large_pages),
		cmocka_unit_test(wrong_levels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
