/*
 * test_hardware_stack.c: stacks read from a shadow stack. There is none on most
 * machines, so arrays play its part: recorded and made up ones, which lie
 * between pages that cannot be read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/test_unwinder.h"
#include "unwind/base/context.h"
#include "unwind/hardware_stack.h"

#define PAGE 4096u
#define PAGES 4u
#define ENTRIES (PAGES * PAGE / sizeof(uint64_t))
#define OWN UINT64_C(0x7f0000000100)	/* entries of the recorder itself */
#define CODE UINT64_C(0x401000)

static uint64_t *base, *end, *top;	/* the array, the stack in it */
static struct hardware_stack *h;

static void start(void)
{
	char *map;

	assert_int_equal(test_unwinder_init(CAPTURE_AUTO, 0), 0);
	map = mmap(NULL, (PAGES + 2) * PAGE, PROT_NONE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	assert_int_equal(mprotect(map + PAGE, PAGES * PAGE,
				  PROT_READ | PROT_WRITE), 0);
	base = (uint64_t *)(map + PAGE);
	end = top = base + ENTRIES;
	h = hardware_new();
	assert_non_null(h);
}

static void call(uint64_t address)
{
	*--top = address;
}

/* What the tree says of these frames, asked without any remembering. */
static uint32_t wanted(const uint64_t *from, uint32_t stop)
{
	uint64_t hash = context_hash_root(stop);
	const uint64_t *at = end;
	uint32_t context = stop;

	while (at-- > from) {
		hash = context_hash(hash, *at);
		context = context_child(context, *at, hash, false);
	}
	return context;
}

/* As a hook does it: two frames of ours further in. */
static uint32_t take(bool *ok)
{
	uint64_t first = top[-1], second = top[-2];
	uint32_t context;

	top[-1] = OWN;
	top[-2] = OWN + 16;
	context = hardware_capture(h, top - 2, end, *top, ok);
	top[-1] = first;
	top[-2] = second;
	return context;
}

static void expect(uint32_t fresh)
{
	bool ok = false;
	uint32_t context = take(&ok);

	assert_true(ok);
	assert_int_equal(context, wanted(top, GT_STOP_BOTTOM));
	assert_int_equal(h->fresh, fresh);
}

static void only_new_frames_are_looked_up(void **unused)
{
	unsigned i;

	(void)unused;
	start();
	for (i = 0; i < 30; i++)
		call(CODE + i);
	expect(30);
	expect(0);
	/* growth */
	call(CODE + 100);
	expect(1);
	/* across the first size of the arrays, and further */
	for (i = 0; i < 300; i++)
		call(CODE + 200 + i);
	expect(300);
	expect(0);
	/* returned, and the same again */
	top += 50;
	expect(0);
	top -= 50;
	expect(0);
	/* returned, and others called */
	top += 50;
	call(CODE + 1000);
	expect(1);
	call(CODE + 1001);
	expect(1);
	/* a frame far out was left and entered again from another place */
	end[-10] = CODE + 2000;
	expect((uint32_t)(end - top) - 9);
	end[-1]++;
	expect((uint32_t)(end - top));
}

/* Every place of change, near every multiple of the comparison's step. */
static void each_changed_entry_is_noticed(void **unused)
{
	uint32_t depth, i;

	(void)unused;
	start();
	for (depth = 1; depth < 20; depth++) {
		call(CODE + depth);
		expect(1);
		for (i = 0; i < depth; i++) {
			top[i] += 1000;
			expect(i + 1);
			top[i] -= 1000;
			expect(i + 1);
		}
	}
}

static void forgotten_contexts_are_made_anew(void **unused)
{
	uint32_t before, after;
	bool ok;

	(void)unused;
	start();
	call(CODE);
	call(CODE + 1);
	before = take(&ok);
	context_forget(CODE, CODE + 100, 0);
	hardware_forget(h);
	after = take(&ok);
	assert_true(ok);
	assert_int_not_equal(after, before);
	assert_int_equal(after, wanted(top, GT_STOP_BOTTOM));
}

static void refused(void)
{
	bool ok = true;

	assert_int_equal(take(&ok), 0);
	assert_false(ok);
}

static void tokens_need_a_walk(void **unused)
{
	uint64_t *at;
	unsigned i;

	(void)unused;
	start();
	for (i = 0; i < 10; i++)
		call(CODE + i);
	expect(10);
	/* a signal: the pointer of before, the restorer, the handler's */
	at = top;
	call((uint64_t)(uintptr_t)at | ARCH_SHADOW_DATA);
	call(CODE + 500);
	call(CODE + 501);
	refused();
	/* what was remembered is as right as before */
	top = at;
	expect(0);
	/* the token that lets a stack be entered again */
	call((uint64_t)(uintptr_t)at | 1);
	call(CODE + 500);
	refused();
	top = at;
	call(CODE + 500);
	expect(1);
}

static void values_of_no_call_need_a_walk(void **unused)
{
	static const uint64_t wrong[] = {
		0, UINT64_MAX, UINT64_C(1) << 63, ARCH_ADDRESS_MAX + 1,
		UINT64_C(0x8000000000401000), UINT64_C(0x0000800000000000),
	};
	bool ok = true;
	unsigned i, k;

	(void)unused;
	start();
	/* nothing at all */
	assert_int_equal(hardware_capture(h, end, end, CODE, &ok), 0);
	assert_false(ok);
	/* upside down */
	assert_int_equal(hardware_capture(h, end, base, CODE, &ok), 0);
	assert_false(ok);
	for (i = 0; i < 8; i++)
		call(CODE + i);
	/* not the hook that it is said to be */
	ok = true;
	assert_int_equal(hardware_capture(h, top, end, CODE + 77, &ok), 0);
	assert_false(ok);
	expect(8);
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		for (k = 1; k < 8; k++) {
			uint64_t right = top[k];

			top[k] = wrong[i];
			refused();
			top[k] = right;
			expect(0);
		}
	/* ra is looked for near the top only */
	for (i = 0; i < 40; i++)
		call(OWN + i);
	ok = true;
	assert_int_equal(hardware_capture(h, top, end, CODE, &ok), 0);
	assert_false(ok);
}

/* Whatever lies there: refused, or the very addresses. */
static void hostile_contents(void **unused)
{
	uint64_t seed = 88172645463325252u;
	unsigned round, i;

	(void)unused;
	start();
	for (round = 0; round < 20000; round++) {
		uint32_t depth, changed;
		bool ok;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		depth = 1 + (seed >> 8) % 40;
		changed = 1 + (seed >> 16) % depth;
		top = end - depth;
		for (i = 0; i < changed; i++)
			top[i] = CODE + ((seed >> i) & 3);
		if (seed % 5 == 0)
			top[(seed >> 24) % depth] = seed;
		if (seed % 7 == 0)
			top[(seed >> 28) % depth] = (uintptr_t)top | 3;
		for (i = 0; i < depth; i++)
			if (!top[i])
				top[i] = CODE;
		i = take(&ok);
		if (ok)
			assert_int_equal(i, wanted(top, GT_STOP_BOTTOM));
		else
			assert_int_equal(i, 0);
	}
}

static void too_deep(void **unused)
{
	size_t n = (1u << 20) + 1, i;
	uint64_t *deep = test_unwinder_alloc((n + 2) * sizeof(*deep));
	bool ok;

	(void)unused;
	start();
	end = deep + n + 2;
	top = deep + 2;
	for (i = 0; i < n; i++)
		top[i] = CODE + i % 7;
	refused();
	top++;
	assert_int_not_equal(take(&ok), 0);
	assert_true(ok);
}

static bool alloc_fails;

static void *failing_alloc(size_t size)
{
	return alloc_fails ? NULL : test_unwinder_alloc(size);
}

static void without_memory_nothing_is_remembered(void **unused)
{
	uint32_t context;
	unsigned i;
	bool ok;

	(void)unused;
	start();
	unwind_alloc = failing_alloc;
	for (i = 0; i < 50; i++)
		call(CODE + i);
	expect(50);
	for (; i < 100; i++)
		call(CODE + i);
	alloc_fails = true;
	expect(50);
	expect(50);
	alloc_fails = false;
	expect(50);
	expect(0);
	/* no memory for nodes: the frames before them are kept */
	for (; i < 110; i++)
		call(CODE + 1000 + i);
	atomic_store(&test_unwinder_node_limit,
		     atomic_load(&test_unwinder_node_count) + 4);
	context = take(&ok);
	assert_true(ok);
	assert_true(context < GT_STOP_COUNT ||
		    context_node(context)->address == *top);
	atomic_store(&test_unwinder_node_limit, TEST_UNWINDER_NODES);
	expect(6);
	expect(0);
}

/* The end is where the outermost frame of a walk lies. */
static void end_is_learnt_from_a_walk(void **unused)
{
	uint32_t whole, early;
	unsigned i;

	(void)unused;
	start();
	/* something else adjoins */
	end -= 3;
	end[0] = end[1] = end[2] = CODE;
	top = end;
	for (i = 0; i < 600; i++)
		call(CODE + i);
	top[-1] = OWN;
	whole = wanted(top, GT_STOP_BOTTOM);
	early = wanted(top, GT_STOP_NO_IMAGE);
	assert_null(hardware_end(h, top));
	assert_null(hardware_end(h, NULL));
	/* no bottom, another hook, another stack, none */
	hardware_learn(h, top - 1, *top, early);
	hardware_learn(h, top - 1, *top + 1, whole);
	hardware_learn(h, top, top[1], whole);
	hardware_learn(h, NULL, *top, whole);
	hardware_learn(h, top, *top, GT_STOP_BOTTOM);
	hardware_learn(h, (uint64_t *)((char *)top + 4), *top, whole);
	assert_null(hardware_end(h, top));
	hardware_learn(h, top - 1, *top, whole);
	assert_ptr_equal(hardware_end(h, top), end);
	assert_ptr_equal(hardware_end(h, end - 1), end);
	assert_null(hardware_end(h, end));
	assert_null(hardware_end(h, (uint64_t *)((char *)top + 4)));
	/* deeper: page by page, to the one that is not there */
	assert_ptr_equal(hardware_end(h, base), end);
	assert_null(hardware_end(h, base - 1));
	assert_int_equal(h->floor, (uintptr_t)base);
	assert_null(hardware_end(h, base - 100));
	assert_ptr_equal(hardware_end(h, base), end);
	hardware_reset(h);
	assert_null(hardware_end(h, top));
}

/* Entries up to the last one before a page that cannot be read. */
static void nothing_beyond_is_read(void **unused)
{
	uint32_t context;

	(void)unused;
	start();
	call(CODE);
	call(CODE + 1);
	/* the walk says one frame more than there is room for */
	end++;
	context = context_child(GT_STOP_BOTTOM, CODE + 2,
				context_hash(context_hash_root(GT_STOP_BOTTOM),
					     CODE + 2), false);
	end--;
	context = context_child(context, CODE, 1, false);
	context = context_child(context, CODE + 1, 2, false);
	hardware_learn(h, top, *top, context);
	assert_null(hardware_end(h, top));
	/* nor for the hook that is looked for */
	hardware_learn(h, top, CODE + 9, context);
	assert_null(hardware_end(h, top));
}

static uint32_t deep(struct capture_thread *t, unsigned more);
static uint32_t (*volatile again)(struct capture_thread *, unsigned) = deep;

static __attribute__((noinline)) uint32_t deep(struct capture_thread *t,
					       unsigned more)
{
	uint32_t context = more ? again(t, more - 1) : test_unwinder_hook(t);

	__asm__ volatile("" ::: "memory");
	return context;
}

/* A stack of this program, walked, and as a shadow stack would have it. */
static void same_as_a_walk(void **unused)
{
	struct capture_thread *t;
	uintptr_t addresses[256];
	uint32_t walked, stop;
	unsigned n, i, more;
	bool ok;

	(void)unused;
	start();
	t = capture_thread_new(true, NULL);
	assert_non_null(t);
	for (more = 0; more < 40; more += 13) {
		walked = deep(t, more);
		n = test_unwinder_expand(walked, addresses, 256, &stop);
		assert_int_equal(stop, GT_STOP_BOTTOM);
		assert_true(n > more);
		top = end;
		for (i = n; i-- > 0;)
			call(addresses[i]);
		if (!more)
			hardware_learn(h, top, *top, walked);
		assert_ptr_equal(hardware_end(h, top), end);
		assert_int_equal(take(&ok), walked);
		assert_true(ok);
	}
}

/* Here as everywhere that has none, the pointer reads as 0. */
static void stack_is_detected(void **unused)
{
	(void)unused;
	assert_int_equal(hardware_active(), arch_shadow_stack_pointer() != 0);
	if (!hardware_active())
		assert_null(hardware_top());
}

static void damaged_state_is_invalid(void **unused)
{
	(void)unused;
	start();
	assert_true(hardware_is_valid(h));
	for (unsigned i = 0; i < 5; i++)
		call(CODE + 16 * i);
	expect(5);
	assert_true(hardware_is_valid(h));
	h->copy[h->capacity - 2]++;
	assert_false(hardware_is_valid(h));
	h->copy[h->capacity - 2]--;
	h->context[3] = GT_STOP_NO_MEMORY;
	assert_false(hardware_is_valid(h));
	h->context[3] = h->context[4];
	assert_false(hardware_is_valid(h));
	h->context[3] = context_node(h->context[4])->parent;
	assert_true(hardware_is_valid(h));
	h->count = h->capacity + 1;
	assert_false(hardware_is_valid(h));
	h->count = 5;
	h->floor = 8;
	assert_false(hardware_is_valid(h));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_new_frames_are_looked_up),
		cmocka_unit_test(each_changed_entry_is_noticed),
		cmocka_unit_test(forgotten_contexts_are_made_anew),
		cmocka_unit_test(tokens_need_a_walk),
		cmocka_unit_test(values_of_no_call_need_a_walk),
		cmocka_unit_test(hostile_contents),
		cmocka_unit_test(too_deep),
		cmocka_unit_test(without_memory_nothing_is_remembered),
		cmocka_unit_test(end_is_learnt_from_a_walk),
		cmocka_unit_test(nothing_beyond_is_read),
		cmocka_unit_test(same_as_a_walk),
		cmocka_unit_test(stack_is_detected),
		cmocka_unit_test(damaged_state_is_invalid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
