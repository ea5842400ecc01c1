/* test_store_locator.c: the step of a number is what a search from the last one
 * on finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "cli/base/hash.h"
#include "cli/store/store_locator.h"

#define STEPS_MAX 300

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static size_t search(const uint64_t *begins, size_t steps, uint64_t number)
{
	size_t step = steps - 1;

	while (step > 0 && begins[step] > number)
		step--;
	return step;
}

static void as_a_search(void **state)
{
	static struct store_locator locator;
	uint64_t begins[STEPS_MAX], seed = 0;

	(void)state;
	for (unsigned n = 0; n < 300; n++) {
		size_t steps = 1 + hash_fixed(seed++) % STEPS_MAX;
		unsigned shift = hash_fixed(seed++) % 60;

		for (size_t i = 0; i < steps; i++)
			begins[i] = hash_fixed(seed++) % 9 == 0 ? UINT64_MAX :
				    hash_fixed(seed++) >> shift;
		qsort(begins, steps, sizeof(*begins), by_number);
		store_locator_init(&locator, begins, steps);
		for (size_t i = 0; i < steps; i++)
			for (int j = -1; j <= 1; j++)
				assert_int_equal(store_locate(&locator,
						begins[i] + (uint64_t)j),
					search(begins, steps,
					       begins[i] + (uint64_t)j));
		for (unsigned i = 0; i < 300; i++) {
			uint64_t number = hash_fixed(seed++) >> shift;

			assert_int_equal(store_locate(&locator, number),
					 search(begins, steps, number));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(as_a_search) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
