/* test_shadow.c: which remembered frames still stand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/test_unwinder.h"
#include "unwind/shadow.h"

#define DEPTH 22

static uintptr_t stack[200];
static struct capture_thread t;
static struct capture_report report;

/* Of frames[i]; frames[1] is the outermost. */
static uintptr_t *slot_of(uint32_t i)
{
	return &stack[9 + 4 * (DEPTH - i)];
}

static void start(void)
{
	uint32_t i;

	assert_int_equal(test_unwinder_init(CAPTURE_AUTO, 0), 0);
	memset(&t, 0, sizeof(t));
	t.report = &report;
	shadow_clear(&t);
	assert_true(stack_grow(&t));
	for (i = 1; i <= DEPTH; i++) {
		*slot_of(i) = 0x401000 + i;
		t.frames[i] = (struct shadow_frame){
			.slot = (uintptr_t)slot_of(i), .raw = *slot_of(i),
			.word = i - 1, .mark = 100 + i };
		t.words[i - 1] = (struct shadow_word){ (uintptr_t)slot_of(i),
						       *slot_of(i) };
	}
	t.count = DEPTH + 1;
	t.word_count = DEPTH;
}

static uint32_t unchanged(uint32_t at)
{
	return (uint32_t)(shadow_validate(&t, &t.frames[at]) - t.frames);
}

static void test_prefix(void **unused)
{
	uint32_t i, at;

	(void)unused;
	start();
	for (at = 0; at <= DEPTH; at++)
		assert_int_equal(unchanged(at), at);
	for (i = 1; i <= DEPTH; i++) {
		++*slot_of(i);
		assert_int_equal(unchanged(DEPTH), i - 1);
		--*slot_of(i);
	}
}

/* What lies inward of sp has returned, whatever the memory still says. */
static void test_returned(void **unused)
{
	uint32_t i;

	(void)unused;
	start();
	for (i = DEPTH; i >= 1; i--) {
		/* the hook's own return address still counts */
		shadow_pop(&t, (uintptr_t)(slot_of(i) + 1));
		assert_int_equal(t.count, i + 1);
		shadow_pop(&t, (uintptr_t)(slot_of(i) + 2));
		assert_int_equal(t.count, i);
	}
	shadow_pop(&t, UINTPTR_MAX - 64);
	assert_int_equal(t.count, 1);
}

/* One more word, behind frame 9's slot: its saved frame pointer. */
static void test_saved_fp(void **unused)
{
	uint32_t i = 9, k;

	(void)unused;
	start();
	for (k = DEPTH; k > i; k--) {
		t.words[k] = t.words[k - 1];
		t.frames[k].word = k;
	}
	t.words[i] = (struct shadow_word){ (uintptr_t)(slot_of(i) - 1), 4242 };
	t.word_count++;
	slot_of(i)[-1] = 4242;
	assert_int_equal(unchanged(DEPTH), DEPTH);
	/* What lies further in depends on it; frame 9 itself does not. */
	slot_of(i)[-1] = 4243;
	assert_int_equal(unchanged(DEPTH), i);
	assert_int_equal(unchanged(i), i);
}

/* A barrier in whose slot the stub is found vouches for what is further out;
 * one that is not there, or lies further in than the walk, does not. */
static void test_barriers(void **unused)
{
	const uintptr_t stub = (uintptr_t)arch_stubs + 5 * ARCH_STUB_BYTES;
	uint32_t i;

	(void)unused;
	start();
	shadow_place_barrier(&t, 12, stub);
	shadow_place_barrier(&t, 5, stub + ARCH_STUB_BYTES);
	assert_int_equal(t.barrier_count, 2);
	assert_int_equal(t.barrier[0], 5);
	assert_int_equal(report.barriers_placed, 2);
	for (i = 1; i < 12; i++)
		if (i != 5)
			++*slot_of(i);
	assert_int_equal(unchanged(DEPTH), DEPTH);
	assert_int_equal(unchanged(12), 12);
	assert_true(shadow_stands(&t, DEPTH));
	++*slot_of(13);
	assert_int_equal(unchanged(DEPTH), 12);
	assert_false(shadow_stands(&t, DEPTH));
	assert_true(shadow_stands(&t, 12));
	/* returned through: the next one out is asked */
	*slot_of(12) = 0x401000 + 12;
	assert_int_equal(unchanged(DEPTH), 5);
	assert_int_equal(t.barrier_count, 1);
	assert_int_equal(t.frames[12].mark, 112);
	/* the walk is further out than it */
	for (i = 1; i < 5; i++)
		--*slot_of(i);
	assert_int_equal(unchanged(4), 4);
	assert_int_equal(t.barrier_count, 0);
}

/* Of several barriers only those are kept that stand with all outward of
 * them, and what lies inward of the innermost is not looked at. */
static void test_recheck(void **unused)
{
	const uintptr_t stub = (uintptr_t)arch_stubs + 5 * ARCH_STUB_BYTES;

	(void)unused;
	start();
	shadow_recheck(&t);
	shadow_place_barrier(&t, 5, stub);
	shadow_place_barrier(&t, 12, stub + ARCH_STUB_BYTES);
	++*slot_of(13);
	shadow_recheck(&t);
	assert_int_equal(t.barrier_count, 2);
	++*slot_of(8);
	shadow_recheck(&t);
	assert_int_equal(t.barrier_count, 1);
	assert_int_equal(t.frames[5].mark, 105 | MARK_BARRIER);
	assert_int_equal(t.frames[12].mark, 112);
	++*slot_of(1);
	shadow_recheck(&t);
	assert_int_equal(t.barrier_count, 0);
	assert_int_equal(t.frames[5].mark, 105);
}

/* A barrier that was itself returned through is none. */
static void test_recheck_returned(void **unused)
{
	const uintptr_t stub = (uintptr_t)arch_stubs + 5 * ARCH_STUB_BYTES;

	(void)unused;
	start();
	shadow_place_barrier(&t, 5, stub);
	shadow_place_barrier(&t, 12, stub + ARCH_STUB_BYTES);
	*slot_of(12) = 0x401000 + 12;
	shadow_recheck(&t);
	assert_int_equal(t.barrier_count, 1);
	assert_int_equal(t.barrier[0], 5);
}

/* More than can be remembered: the outermost are forgotten. */
static void test_many_barriers(void **unused)
{
	uint32_t i;

	(void)unused;
	start();
	for (i = 1; i <= DEPTH; i++)
		shadow_place_barrier(&t, i, (uintptr_t)arch_stubs +
						    i * ARCH_STUB_BYTES);
	assert_int_equal(t.barrier_count, BARRIERS_MAX);
	for (i = 0; i < BARRIERS_MAX; i++)
		assert_int_equal(t.barrier[i], DEPTH - BARRIERS_MAX + 1 + i);
	for (i = 1; i <= DEPTH; i++)
		assert_int_equal((t.frames[i].mark & MARK_BARRIER) != 0,
				 i > DEPTH - BARRIERS_MAX);
	assert_int_equal(unchanged(DEPTH), DEPTH);
}

static void test_update(void **unused)
{
	struct walk w = { .count = 3, .join = 4, .stop = GT_STOP_BOTTOM };
	uint32_t i, parent = 0, context, stop;
	uintptr_t got[8];

	(void)unused;
	start();
	for (i = 0; i < 3; i++)
		t.scratch[i] = (struct frame){ .slot = 1000 + 8 * i,
					       .ra = 0x500000 + i };
	parent = shadow_update(&t, &w, WALK_ENDED);
	assert_int_equal(t.count, 4);
	assert_int_equal(t.words[0].value, 0x500002);
	assert_int_equal(t.words[2].value, 0x500000);
	assert_int_equal(t.frames[3].mark, parent);
	assert_int_equal(test_unwinder_expand(parent, got, 8, &stop), 3);
	assert_int_equal(stop, GT_STOP_BOTTOM);
	/* One new frame inward of frames[2]. */
	t.scratch[0].ra = 0x600000;
	t.scratch[1].slot = t.frames[2].slot;
	w.count = 2;
	w.join = 2;
	shadow_hash(t.scratch, t.scratch + 1, t.frames[2].hash);
	context = shadow_update(&t, &w, WALK_JOINED);
	assert_int_equal(t.count, 4);
	assert_int_equal(t.word_count, 3);
	assert_int_not_equal(context, parent);
	assert_int_equal(test_unwinder_expand(context, got, 8, &stop), 3);
	assert_int_equal(got[0], 0x600000);
	assert_int_equal(got[1], 0x500001);
	assert_int_equal(got[2], 0x500002);
}

/* A stub that a walk comes to, of whichever barrier, is one again. */
static void test_adopted(void **unused)
{
	const uintptr_t stub = (uintptr_t)arch_stubs + 7 * ARCH_STUB_BYTES;
	struct walk w = { .count = 3, .stop = GT_STOP_BOTTOM };
	uint32_t i;

	(void)unused;
	start();
	for (i = 0; i < 3; i++)
		t.scratch[i] = (struct frame){
			.slot = (uintptr_t)&stack[10 + i],
			.ra = 0x500000 + i };
	t.scratch[1].flags = FRAME_STUB;
	stack[11] = stub;
	stack[10] = 0x500000;
	shadow_update(&t, &w, WALK_ENDED);
	assert_int_equal(t.barrier_count, 1);
	assert_int_equal(t.barrier[0], 2);
	assert_int_equal(t.frames[2].raw, stub);
	assert_int_equal(t.words[1].value, stub);
	assert_int_equal(unchanged(3), 3);
	assert_int_equal(
		test_unwinder_nodes[(uint32_t)t.frames[2].mark].address,
		0x500001);
}

static void test_broken_shadow(void **unused)
{
	const uintptr_t stub = (uintptr_t)arch_stubs + 5 * ARCH_STUB_BYTES;
	struct shadow_word kept;

	(void)unused;
	start();
	shadow_place_barrier(&t, 5, stub);
	shadow_place_barrier(&t, 9, stub + ARCH_STUB_BYTES);
	assert_true(shadow_is_valid(&t));
	t.frames[7].slot = t.frames[6].slot;	/* I1 */
	assert_false(shadow_is_valid(&t));
	t.frames[7].slot = (uintptr_t)slot_of(7);
	kept = t.words[3];
	t.words[3].at = t.words[2].at;
	assert_false(shadow_is_valid(&t));
	t.words[3] = kept;
	t.barrier[0] = 9;			/* I5 */
	assert_false(shadow_is_valid(&t));
	t.barrier[0] = 5;
	t.frames[5].mark &= ~MARK_BARRIER;
	assert_false(shadow_is_valid(&t));
	t.frames[5].mark |= MARK_BARRIER;
	assert_true(shadow_is_valid(&t));
	t.count = t.capacity + 1;
	assert_false(shadow_is_valid(&t));
	t.count = DEPTH + 1;
	t.frames[0].slot = 0;
	assert_false(shadow_is_valid(&t));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prefix),
		cmocka_unit_test(test_returned),
		cmocka_unit_test(test_saved_fp),
		cmocka_unit_test(test_barriers),
		cmocka_unit_test(test_recheck),
		cmocka_unit_test(test_recheck_returned),
		cmocka_unit_test(test_many_barriers),
		cmocka_unit_test(test_update),
		cmocka_unit_test(test_adopted),
		cmocka_unit_test(test_broken_shadow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
