/* test_smaps.c: the figures of smaps, from lines of all sorts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "cli/recorder/memory/smaps.h"

static void figures(void **state)
{
	struct smaps s = { { 0 } };

	(void)state;
	assert_true(smaps_line(&s, "Rss:                 123 kB"));
	assert_true(smaps_line(&s, "Pss:0 kB"));
	assert_true(smaps_line(&s, "Shared_Clean:          1 kB"));
	assert_true(smaps_line(&s, "Shared_Dirty:          2 kB"));
	assert_true(smaps_line(&s, "Private_Clean:         3 kB"));
	assert_true(smaps_line(&s, "Private_Dirty:         4 kB"));
	assert_true(smaps_line(&s, "Anonymous:       1099511627776 kB"));
	assert_true(smaps_line(&s, "AnonHugePages:      2048 kB"));
	assert_true(smaps_line(&s, "Swap:                  5 kB"));
	assert_int_equal(s.kib[SMAPS_RSS], 123);
	assert_int_equal(s.kib[SMAPS_PSS], 0);
	assert_int_equal(s.kib[SMAPS_SHARED_CLEAN], 1);
	assert_int_equal(s.kib[SMAPS_SHARED_DIRTY], 2);
	assert_int_equal(s.kib[SMAPS_PRIVATE_CLEAN], 3);
	assert_int_equal(s.kib[SMAPS_PRIVATE_DIRTY], 4);
	assert_int_equal(s.kib[SMAPS_ANONYMOUS], UINT64_C(1) << 40);
	assert_int_equal(s.kib[SMAPS_HUGE], 2048);
	assert_int_equal(s.kib[SMAPS_SWAP], 5);
}

static void others_change_nothing(void **state)
{
	static const char *const lines[] = {
		"", "Rss:", "Rss: kB", "Rss: 12", "Rss: 12 MB", "Rss: 12 kB ",
		"Rss 12 kB", "rss: 12 kB", "Pss_Dirty: 12 kB", "SwapPss: 1 kB",
		"Rss: -1 kB", "Size: 12 kB", "VmFlags: rd ex", "\377\376",
		"7f00-7f10 r--p 00000000 00:00 0", " Rss: 12 kB",
	};
	struct smaps s = { { 0 } }, none = { { 0 } };

	(void)state;
	for (unsigned i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		assert_false(smaps_line(&s, lines[i]));
		assert_memory_equal(&s, &none, sizeof(s));
	}
}

/* The kernel at hand has all of them. */
static void own_figures(void **state)
{
	FILE *file = fopen("/proc/self/smaps", "r");
	unsigned found = 0, maps = 0;
	char line[8192];

	(void)state;
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		struct smaps s = { { 0 } };

		line[strcspn(line, "\n")] = '\0';
		found += smaps_line(&s, line);
		maps += strncmp(line, "Size:", 5) == 0;
	}
	fclose(file);
	assert_true(maps > 0);
	assert_int_equal(found, maps * SMAPS_FIGURES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures),
		cmocka_unit_test(others_change_nothing),
		cmocka_unit_test(own_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
