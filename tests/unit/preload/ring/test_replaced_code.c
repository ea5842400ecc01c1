// FLAGS: -lpthread
/*
 * test_replaced_code.c: code that was replaced: what the recorder tells,
 * threads of the target take once each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <string.h>

#include "cli/recorder/emit/replaced_report.h"
#include "preload/ring/area.h"
#include "preload/ring/replaced_code.h"
#include "preload/ring/ring.h"
#include "unwind/image/image.h"
#include "unwind/image/jit.h"

#define THREADS 4
#define MANY 2000

static struct gl_shared shared;

/* Each range that the context tree is told of moves it. */
static uint32_t forgotten(void)
{
	static uint32_t before;
	uint32_t since = image_generation - before;

	before = image_generation;
	jit_init(NULL);		/* gives their places back */
	return since;
}

static int each(void **state)
{
	(void)state;
	memset(&shared, 0, sizeof(shared));
	forgotten();
	return 0;
}

static void next_event_takes_all(void **state)
{
	struct gl_ring ring;

	(void)state;
	memset(&ring, 0, sizeof(ring));
	replaced_request(&shared);
	assert_int_equal(shared.turn, 0);	/* nothing to ask for */
	assert_true(replaced_report(&shared, 0x1000, 0x2000));
	assert_true(replaced_report(&shared, 0x5000, 0x6000));
	replaced_request(&shared);
	assert_int_equal(shared.turn, RING_ASKED);
	ring_stamp(&shared, &ring);
	assert_int_equal(shared.turn, 0);
	assert_int_equal(forgotten(), 2);
	replaced_request(&shared);
	assert_int_equal(shared.turn, 0);
	replaced_code_take(&shared);
	assert_int_equal(forgotten(), 0);
}

static void full_list_refuses_until_it_is_taken(void **state)
{
	unsigned i;

	(void)state;
	/* the counts may run over */
	shared.replaced_put = shared.replaced_taken = UINT32_MAX - 3;
	for (i = 0; i < GL_REPLACED; i++)
		assert_true(replaced_report(&shared, 1 + i, 2 + i));
	assert_false(replaced_report(&shared, 1, 2));
	replaced_code_take(&shared);
	assert_int_equal(forgotten(), GL_REPLACED);
	assert_true(replaced_report(&shared, 1, 2));
}

static _Atomic bool over;

static void *take(void *arg)
{
	while (!over)
		replaced_code_take(&shared);
	return arg;
}

static void each_is_taken_once(void **state)
{
	pthread_t thread[THREADS];
	unsigned i;

	(void)state;
	over = false;
	for (i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, take, NULL);
	for (i = 0; i < MANY;)
		i += replaced_report(&shared, 1 + i, 2 + i);
	while (shared.replaced_taken != shared.replaced_put)
		;
	over = true;
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(shared.replaced_taken, MANY);
	assert_int_equal(forgotten(), MANY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(next_event_takes_all, each),
		cmocka_unit_test_setup(full_list_refuses_until_it_is_taken,
				       each),
		cmocka_unit_test_setup(each_is_taken_once, each),
	};

	if (area_map(UINT64_C(16) << 20))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
