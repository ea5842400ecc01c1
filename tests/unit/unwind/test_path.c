/* test_path.c: remembered stacks over a made-up one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/test_unwinder.h"
#include "unwind/path.h"
#include "unwind/shadow.h"

#define DEPTH 30
#define CONTEXT 1000
#define STUB_BYTES ARCH_STUB_BYTES

/* At a fixed address, so that the sets are the same in every run. */
#define STACK_AT ((void *)0x20000000)
static uintptr_t *stack;
static struct capture_thread t;
static struct capture_report report;

#define SP ((uintptr_t)&stack[10])
#define RA 0x401000u
#define CALL 5		/* bytes of a call */

/* Of the i-th frame outward of the hook. */
static uintptr_t *slot_of(uint32_t i)
{
	return &stack[9 + 4 * i];
}

static void set_hook(uintptr_t ra, uintptr_t fp)
{
	stack[9] = ra;
	stack[8] = fp;
	t.words[t.frames[t.count - 1].word].value = ra;
	t.frames[t.count - 1].fp = fp;
}

/* `depth` frames of 4 words each; the innermost one is the hook's caller. */
static void start(uint32_t depth)
{
	uint32_t i;

	unwind_alloc = test_unwinder_alloc;
	stack = mmap(STACK_AT, 64 * 4096, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	assert_ptr_equal(stack, STACK_AT);
	memset(&t, 0, sizeof(t));
	t.report = &report;
	shadow_clear(&t);
	assert_int_equal(path_init(&t), 0);
	while (t.capacity <= depth + 1)
		assert_true(stack_grow(&t));
	for (i = 0; i < depth; i++) {
		uintptr_t *slot = slot_of(depth - 1 - i);

		*slot = RA + depth - 1 - i;
		t.frames[i + 1] = (struct shadow_frame){
			.slot = (uintptr_t)slot, .raw = *slot, .word = i,
			.mark = 100 + i };
		t.words[i] = (struct shadow_word){ (uintptr_t)slot, *slot };
	}
	t.count = depth + 1;
	t.word_count = depth;
	set_hook(RA, 0);
}

static void learn(uint32_t context)
{
	path_learn(&t, stack[9], SP, context, 0);
	path_learn(&t, stack[9], SP, context, 0);
}

static uint32_t find_at(uintptr_t ra, uintptr_t sp)
{
	const struct path *p = path_find(&t, ra, sp);

	return p ? p->context : 0;
}

static uint32_t find(void)
{
	return find_at(RA, SP);
}

static void test_second_meeting(void **unused)
{
	(void)unused;
	start(DEPTH);
	assert_int_equal(find(), 0);
	path_learn(&t, RA, SP, CONTEXT, 0);
	assert_int_equal(find(), 0);
	path_learn(&t, RA, SP, CONTEXT, 0);
	assert_int_equal(find(), CONTEXT);
	stack[8] = 99;		/* a frame pointer that was not used */
	assert_int_equal(find(), CONTEXT);
	assert_int_equal(find_at(RA, SP + 16), 0);
	stack[9] = RA + 1;
	assert_int_equal(find_at(RA + 1, SP), 0);
	path_clear(&t);
	assert_int_equal(find(), 0);
}

static void test_every_word_counts(void **unused)
{
	uint32_t i;

	(void)unused;
	start(DEPTH);
	learn(CONTEXT);
	for (i = 0; i < DEPTH; i++) {
		++*slot_of(i);
		assert_int_equal(find(), 0);
		--*slot_of(i);
		assert_int_equal(find(), CONTEXT);
	}
}

/* A wrapper's address on another stack than the thread's own, or at the bottom
 * of that: the word further out is not read, as there may be none. */
static void test_wrapper_elsewhere(void **unused)
{
	const struct path_wrapper far = { RA, (uintptr_t)1 << 40 };
	const struct path_wrapper next = { RA, 5 * sizeof(uintptr_t) };

	(void)unused;
	start(DEPTH);
	learn(CONTEXT);
	t.wrappers[path_wrapper(RA)] = far;
	assert_int_equal(find(), CONTEXT);
	t.lo = (uintptr_t)stack;
	t.hi = t.lo + 64 * 4096;
	assert_int_equal(find(), CONTEXT);
	/* its own stack: the next address chooses another set */
	t.wrappers[path_wrapper(RA)] = next;
	assert_int_not_equal(path_choice(&t, RA, path_key(SP)),
			     path_hash(RA, path_key(SP)));
	learn(CONTEXT + 1);
	assert_int_equal(find(), CONTEXT + 1);
	path_clear(&t);
	assert_int_equal(t.wrappers[path_wrapper(RA)].ra, 0);
}

static void test_frame_pointer(void **unused)
{
	(void)unused;
	start(DEPTH);
	t.frames[DEPTH].flags = FRAME_FP;
	t.words[DEPTH] = (struct shadow_word){ (uintptr_t)&stack[9], RA };
	t.words[DEPTH - 1] = (struct shadow_word){ (uintptr_t)&stack[12], 55 };
	t.frames[DEPTH].word = DEPTH;
	t.word_count++;
	stack[12] = 55;
	set_hook(RA, 33);
	learn(CONTEXT);
	assert_int_equal(find(), CONTEXT);
	stack[8] = 34;
	assert_int_equal(find(), 0);
	stack[8] = 33;
	assert_int_equal(find(), CONTEXT);
	stack[12] = 56;
	assert_int_equal(find(), 0);
}

/* Frames with a frame pointer: two words each, one beside the other. All of
 * them count, in a list that has as much as there is room for. */
static void test_pairs(void **unused)
{
	uint32_t depth, i;

	(void)unused;
	for (depth = 2; depth < PATH_WORDS; depth++) {
		start(depth);
		t.words[0] = (struct shadow_word){
			(uintptr_t)slot_of(depth - 1), RA + depth - 1 };
		for (i = 1; i < depth; i++) {
			uintptr_t *slot = slot_of(depth - 1 - i);

			slot[3] = 7000 + i;
			t.words[2 * i - 1] = (struct shadow_word){
				(uintptr_t)&slot[3], slot[3] };
			t.words[2 * i] = (struct shadow_word){
				(uintptr_t)slot, *slot };
			t.frames[i + 1].word = 2 * i;
		}
		t.word_count = 2 * depth - 1;
		t.frames[depth].flags = FRAME_FP;
		set_hook(RA, 33);
		learn(CONTEXT);
		assert_int_equal(find(), CONTEXT);
		assert_true(path_is_valid(&t));
		for (i = 0; i < 4 * depth - 2; i++) {
			bool counts = i % 4 < 2;

			++stack[8 + i];
			assert_int_equal(find(), counts ? 0 : CONTEXT);
			--stack[8 + i];
			assert_int_equal(find(), CONTEXT);
		}
	}
}

/* What was learned last is looked at first, and a stack that is learned anew
 * takes the place of what was known of it. */
static void test_order_of_ways(void **unused)
{
	uint32_t i;

	(void)unused;
	start(DEPTH);
	t.set_mask = 0;		/* one set */
	t.seen_mask = 63;
	report.path_ways = PATH_WAYS;
	for (i = 0; i < 2 * PATH_WAYS; i++) {
		t.words[3].value = *(uintptr_t *)t.words[3].at = 500 + i;
		learn(CONTEXT + i);
		assert_int_equal(t.paths[0].context, CONTEXT + i);
		assert_int_equal(find(), CONTEXT + i);
		assert_int_equal(report.path_ways_used,
				 i < PATH_WAYS ? i + 1 : PATH_WAYS);
	}
	path_clear(&t);
	for (i = 0; i < PATH_WAYS; i++) {
		t.words[3].value = *(uintptr_t *)t.words[3].at = 500 + i;
		learn(CONTEXT + i % 2);
	}
	assert_int_equal(report.path_ways_used, 2);
	assert_int_equal(find(), CONTEXT + 1);
}

/* The same return address and the same words elsewhere are another stack:
 * what can be read at one sp need not be there at another. */
static void test_key(void **unused)
{
	uint32_t i;

	(void)unused;
	start(DEPTH);
	t.set_mask = 0;
	for (i = 0; i < 400; i++)
		stack[i] = RA;
	for (i = 0; i < DEPTH; i++)
		t.words[i].value = RA;
	learn(CONTEXT);
	assert_int_equal(find(), CONTEXT);
	for (i = 1; i < 100; i++) {
		assert_int_equal(find_at(RA, SP + 8 * i), 0);
		stack[9] = RA + i;
		assert_int_equal(find_at(RA + i, SP), 0);
		stack[9] = RA;
	}
}

/* Of a deep stack the inner words are listed; the rest are the shadow's. */
static void test_deep(void **unused)
{
	const uint32_t depth = 4 * PATH_WORDS;
	uint32_t i;

	(void)unused;
	start(depth);
	learn(CONTEXT);
	for (i = 0; i < depth; i++) {
		++*slot_of(i);
		assert_int_equal(find(), 0);
		--*slot_of(i);
		assert_int_equal(find(), CONTEXT);
	}
	/* Another stack in the shadow, or none, or the same context at
	 * another slot: nothing is known of the rest. */
	for (i = 1; i < depth; i++)
		t.frames[i].mark += 1000;
	assert_int_equal(find(), 0);
	for (i = 1; i < depth; i++)
		t.frames[i].mark -= 1000;
	assert_int_equal(find(), CONTEXT);
	t.count = 5;
	assert_int_equal(find(), 0);
	t.count = depth + 1;
	for (i = 1; i < depth; i++)
		t.frames[i].slot += 8;
	assert_int_equal(find(), 0);
}

/* The list ends at the innermost barrier; further out nothing is read. */
static void test_barrier(void **unused)
{
	const uint32_t depth = 200, at = 20;
	uintptr_t stub = (uintptr_t)arch_stubs + 5 * STUB_BYTES;
	uint32_t i, place = depth - at;

	(void)unused;
	start(depth);
	shadow_place_barrier(&t, place, stub);
	assert_int_equal(*slot_of(at), stub);
	learn(CONTEXT);
	assert_int_equal(find(), CONTEXT);
	for (i = at + 1; i < depth; i++)
		++*slot_of(i);
	assert_int_equal(find(), CONTEXT);
	for (i = 0; i <= at; i++) {
		++*slot_of(i);
		assert_int_equal(find(), 0);
		--*slot_of(i);
		assert_int_equal(find(), CONTEXT);
	}
	/* The shadow knows of no barrier there, or of one before another
	 * context, or at another slot. */
	t.frames[place].mark &= ~MARK_BARRIER;
	assert_int_equal(find(), 0);
	t.frames[place].mark |= MARK_BARRIER;
	assert_int_equal(find(), CONTEXT);
	t.frames[place].mark++;
	assert_int_equal(find(), 0);
	t.frames[place].mark--;
	t.frames[place].slot -= 8;
	assert_int_equal(find(), 0);
	t.frames[place].slot += 8;
	t.count = place;
	assert_int_equal(find(), 0);
}

/* One too far out to list all words inward of it: the list ends before it. */
static void test_far_barrier(void **unused)
{
	const uint32_t depth = 200, at = 2 * PATH_WORDS;
	uintptr_t stub = (uintptr_t)arch_stubs + 5 * STUB_BYTES;
	uint32_t i;

	(void)unused;
	start(depth);
	shadow_place_barrier(&t, depth - at, stub);
	learn(CONTEXT);
	assert_int_equal(find(), CONTEXT);
	for (i = 0; i < depth; i++) {
		++*slot_of(i);
		assert_int_equal(find(), i <= at ? 0 : CONTEXT);
		--*slot_of(i);
		assert_int_equal(find(), CONTEXT);
	}
}

static void test_many(void **unused)
{
	uint32_t i, round, found = 0;
	uint64_t used;

	(void)unused;
	start(DEPTH);
	for (round = 0; round < 12; round++)
		for (i = 0; i < 2000; i++) {
			uintptr_t ra = RA + CALL * i;

			set_hook(ra, 0);
			if (!find_at(ra, SP))
				path_learn(&t, ra, SP, CONTEXT + i, 0);
		}
	for (i = 0; i < 2000; i++) {
		uint32_t c;

		set_hook(RA + CALL * i, 0);
		c = find_at(RA + CALL * i, SP);
		assert_true(c == 0 || c == CONTEXT + i);
		found += c != 0;
	}
	/* The 4 sets of the start would hold 16. */
	assert_true(found > 600);
	assert_int_equal(report.path_ways, (t.set_mask / PATH_SET + 1) * PATH_WAYS);
	for (i = used = 0; i < report.path_ways; i++)
		used += t.keys[i] != 0;
	assert_int_equal(report.path_ways_used, used);
	assert_true(report.path_ways_used >= found);
	assert_true(report.path_bytes <= report.path_bytes_max);
}

/* A stack that is not the thread's own: a page of it is only read where all
 * that lies inward is as it was. */
static void test_foreign(void **unused)
{
	enum { FRAMES = 45, NEAR = 12 };	/* the last on the next page */
	uintptr_t *slot[FRAMES], sp;
	char *next;
	uint32_t i;

	(void)unused;
	start(FRAMES);
	next = (char *)stack + 9 * 4096;
	for (i = 0; i < FRAMES; i++) {
		slot[i] = (uintptr_t *)next + 4 * ((int)i - NEAR) + 1;
		*slot[i] = RA + i;
		t.scratch[i] = (struct frame){ .slot = (uintptr_t)slot[i],
					       .ra = RA + i };
	}
	/* one frame's saved frame pointer was read as well */
	t.scratch[5].flags = FRAME_FP | FRAME_FP_AT;
	t.scratch[5].fp_at = (uintptr_t)(slot[5] - 1);
	t.scratch[5].fp = slot[5][-1] = 77;
	sp = (uintptr_t)(slot[0] + 1);
	path_learn(&t, RA, sp, CONTEXT, FRAMES);
	assert_int_equal(find_at(RA, sp), 0);
	path_learn(&t, RA, sp, CONTEXT, FRAMES);
	assert_int_equal(find_at(RA, sp), CONTEXT);
	for (i = 0; i < FRAMES; i++) {
		++*slot[i];
		assert_int_equal(find_at(RA, sp), 0);
		--*slot[i];
	}
	slot[5][-1]++;
	assert_int_equal(find_at(RA, sp), 0);
	slot[5][-1]--;
	assert_int_equal(mprotect(next, 4096, PROT_NONE), 0);
	for (i = 0; i < NEAR; i++) {
		++*slot[i];
		assert_int_equal(find_at(RA, sp), 0);
		--*slot[i];
	}
	assert_int_equal(mprotect(next, 4096, PROT_READ | PROT_WRITE), 0);
	assert_int_equal(find_at(RA, sp), CONTEXT);
	/* more words than a path has, or a stub among them: not learned */
	t.scratch[3].flags = FRAME_STUB;
	path_learn(&t, RA, sp, CONTEXT + 1, FRAMES);
	path_learn(&t, RA, sp, CONTEXT + 1, FRAMES);
	assert_int_not_equal(find_at(RA, sp), CONTEXT + 1);
}

/* Each of these would lead a look-up astray. */
static void test_broken_cache(void **unused)
{
	uint64_t way = 0;
	uint16_t end;

	(void)unused;
	start(DEPTH);
	learn(CONTEXT);
	learn(CONTEXT);
	assert_true(path_is_valid(&t));
	while (!t.keys[way])
		way++;
	end = t.paths[way].singles_end;
	t.paths[way].singles_end = 0;
	assert_false(path_is_valid(&t));
	t.paths[way].singles_end = end - 1;
	assert_false(path_is_valid(&t));
	t.paths[way].singles_end = end;
	assert_true(path_is_valid(&t));
	t.paths[way].pairs = end - PATH_OFFSETS;
	assert_false(path_is_valid(&t));
	t.paths[way].pairs = sizeof(t.paths->offset) - 1;
	assert_false(path_is_valid(&t));
	t.paths[way].pairs = sizeof(t.paths->offset) + PATH_OFFSETS;
	assert_false(path_is_valid(&t));
	t.paths[way].pairs = sizeof(t.paths->offset);
	t.paths[way].context = GT_STOP_OTHER;
	assert_false(path_is_valid(&t));
	t.paths[way].context = CONTEXT;
	t.paths[way].tail = t.capacity;
	assert_false(path_is_valid(&t));
	t.paths[way].tail = 0;
	t.keys[way] = 0;	/* one that is counted is not there */
	assert_false(path_is_valid(&t));
	path_clear(&t);
	assert_true(path_is_valid(&t));
	t.set_mask = 2 * PATH_SET;
	assert_false(path_is_valid(&t));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_second_meeting),
		cmocka_unit_test(test_every_word_counts),
		cmocka_unit_test(test_wrapper_elsewhere),
		cmocka_unit_test(test_frame_pointer),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_order_of_ways),
		cmocka_unit_test(test_key),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_barrier),
		cmocka_unit_test(test_far_barrier),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_broken_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
