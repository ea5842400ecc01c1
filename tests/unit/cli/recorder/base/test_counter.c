/*
 * test_counter.c: the counter of a target of another architecture, as the
 * recorder computes it from the clock.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "arch.h"
#include "cli/recorder/base/counter.h"
#include "cli/recorder/base/time_ns.h"

#define SOON UINT64_C(3600)	/* seconds: longer than any test */

static struct gl_setup setup;
static struct gl_header live;

/* Of so many a second, and of this value now. */
static void begin(uint32_t machine, uint64_t hz, uint64_t value)
{
	setup.machine = machine;
	setup.counter_hz = hz;
	live.counter0 = value;
	live.monotonic0_ns = time_ns_now();
	counter_of(&setup, &live);
}

static void of_this_machine(void **state)
{
	uint64_t before, now;

	(void)state;
	begin(ARCH_ELF_MACHINE, 1000, 5);
	before = arch_cycles();
	now = counter_now();
	assert_in_range(now, before, arch_cycles());
}

static void of_another(void **state)
{
	static const uint64_t hz[] = { 1000, 62500000, 1000000000 };
	uint64_t first = UINT64_C(1) << 50, last;

	(void)state;
	for (unsigned i = 0; i < sizeof(hz) / sizeof(*hz); i++) {
		begin(ARCH_ELF_MACHINE + 1, hz[i], first);
		last = first;
		for (unsigned n = 0; n < 1000; n++) {
			uint64_t now = counter_now();

			assert_in_range(now, last, first + SOON * hz[i]);
			last = now;
		}
		/* two seconds later than its pair */
		live.monotonic0_ns -= 2 * UINT64_C(1000000000);
		counter_of(&setup, &live);
		assert_in_range(counter_now(), first + 2 * hz[i] - hz[i] / 1000,
				first + SOON * hz[i]);
	}
}

/* Then it is not late. */
static void of_the_clock_itself(void **state)
{
	uint64_t before, now;

	(void)state;
	begin(ARCH_ELF_MACHINE + 1, 1000000000, time_ns_now());
	before = time_ns_now();
	now = counter_now();
	assert_in_range(now, before, time_ns_now());
}

int main(void)
{
	/* what is set once for another machine stays */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_this_machine),
		cmocka_unit_test(of_another),
		cmocka_unit_test(of_the_clock_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
