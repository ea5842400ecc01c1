/* test_turn.c: to whom the recorder offers the turn, and when it ends it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "preload/ring/ring.h"
#include "cli/recorder/turn.h"

#define RINGS 3
#define FAR (64u << 10)
#define NEAR 1000
#define LATER (5 * UINT64_C(1000000))

static struct gl_header header;
static struct recording r;
static struct gl_shared shared;
static struct gl_ring rings[RINGS];
static struct recording_ring given[RINGS];
static struct drain_source own[RINGS];
static struct ring_drain drain;
static uint64_t now;

static int each(void **state)
{
	(void)state;
	memset(&r, 0, sizeof(r));
	memset(&shared, 0, sizeof(shared));
	r.shared = &shared;
	memset(rings, 0, sizeof(rings));
	memset(own, 0, sizeof(own));
	memset(&drain, 0, sizeof(drain));
	memset(given, 0, sizeof(given));
	r.ring_count = RINGS;
	r.given = given;
	r.live = &header;
	r.base = (uintptr_t)&header;
	r.rings = rings;
	drain.r = &r;
	drain.rings = own;
	return 0;
}

/* So far, then the next look. */
static void look(uint64_t first, uint64_t second)
{
	rings[0].head += first;
	rings[1].head += second;
	now += LATER;
	turn_poll(&drain, now);
}

static uint64_t offered(const struct gl_ring *ring)
{
	return (uintptr_t)ring | RING_OFFERED;
}

static void who_moves_far_alone_gets_it(void **state)
{
	(void)state;
	look(NEAR, 0);
	assert_int_equal(shared.turn, 0);
	look(FAR, 0);
	assert_int_equal(shared.turn, offered(&rings[0]));
	/* taken; and offered anew, so that a stamp gets no older */
	shared.turn = (uintptr_t)&rings[0];
	look(FAR, 0);
	assert_int_equal(shared.turn, offered(&rings[0]));
}

static void it_ends_in_silence(void **state)
{
	(void)state;
	look(FAR, 0);
	look(NEAR, 0);
	assert_int_equal(shared.turn, 0);
	look(0, FAR);
	assert_int_equal(shared.turn, offered(&rings[1]));
	look(0, 0);
	assert_int_equal(shared.turn, 0);
}

static void nobody_gets_it_among_others(void **state)
{
	(void)state;
	look(FAR, 24);
	assert_int_equal(shared.turn, 0);
	look(FAR, 0);
	look(FAR, 16);
	assert_int_equal(shared.turn, 0);
}

static void it_is_not_passed_on_at_once(void **state)
{
	(void)state;
	look(FAR, 0);
	look(0, FAR);
	assert_int_equal(shared.turn, 0);
	look(0, FAR);
	assert_int_equal(shared.turn, offered(&rings[1]));
}

static void nested_rings_never_get_it(void **state)
{
	(void)state;
	given[1].flags = GT_THREAD_NESTED;
	look(0, FAR);
	assert_int_equal(shared.turn, 0);
}

static void looks_are_apart(void **state)
{
	(void)state;
	look(FAR, 0);
	rings[0].head += NEAR;
	turn_poll(&drain, now + 1000);
	assert_int_equal(shared.turn, offered(&rings[0]));
	/* a new generation begins at 0 */
	rings[0].head = 0;
	look(FAR / 2, 0);
	assert_int_equal(shared.turn, offered(&rings[0]));
}

static void what_is_asked_stays(void **state)
{
	(void)state;
	shared.turn = RING_ASKED;
	look(FAR, 0);
	assert_int_equal(shared.turn, RING_ASKED);
	look(0, 0);
	assert_int_equal(shared.turn, RING_ASKED);
	/* it went on looking meanwhile */
	shared.turn = 0;
	look(FAR, 0);
	assert_int_equal(shared.turn, offered(&rings[0]));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(who_moves_far_alone_gets_it, each),
		cmocka_unit_test_setup(it_ends_in_silence, each),
		cmocka_unit_test_setup(nobody_gets_it_among_others, each),
		cmocka_unit_test_setup(it_is_not_passed_on_at_once, each),
		cmocka_unit_test_setup(nested_rings_never_get_it, each),
		cmocka_unit_test_setup(looks_are_apart, each),
		cmocka_unit_test_setup(what_is_asked_stays, each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
