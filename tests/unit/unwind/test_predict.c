/*
 * test_predict.c: stacks that are followed as they were met, and all that leads
 * away from them.
 */
// FLAGS: -O2 -fomit-frame-pointer
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/test_unwinder.h"
#include "unwind/predict.h"
#include "unwind/placement.h"
#include "unwind/walk.h"

#define DEPTH_MAX 256
#define WITH_FP noinline, optimize("no-omit-frame-pointer")
#define BARRIER() __asm__ volatile("" ::: "memory")

static struct capture_thread *self;

/* The stack outward of a function's caller. */
struct stack {
	struct predicted_walk walk;
	uintptr_t address[DEPTH_MAX];
	uint32_t n, context;
};

static void start(uint32_t near)
{
	assert_int_equal(test_unwinder_init_with(CAPTURE_AUTO, 0, near), 0);
	self = capture_thread_new(true, NULL);
	assert_non_null(self);
	assert_true(stack_is_base(self, (uintptr_t)__builtin_frame_address(0)));
}

/* As a walk finds it, and the tree knows it. */
static void describe(struct stack *s, uintptr_t ra, uintptr_t sp, uintptr_t fp)
{
	const struct walk_start from = { ra, sp, fp, self->hi };
	enum gt_stop stop;
	uint64_t hash;

	assert_true(stack_is_base(self, sp));
	s->walk = (struct predicted_walk){
		.ra = ra, .sp = sp, .fp = fp, .lo = sp, .hi = self->hi };
	s->n = walk_addresses(&from, s->address, DEPTH_MAX, &stop, &hash);
	assert_true(s->n > 4);
	assert_int_equal(stop, GT_STOP_BOTTOM);
	s->context = context_of_walk(s->address, s->n, GT_STOP_BOTTOM, hash);
}

static bool follows(const struct stack *s, uint32_t context,
		    const struct capture_thread *t, struct predicted_walk *e)
{
	*e = s->walk;
	return predict_follow(e, context, t);
}

static void check_follows(const struct stack *s)
{
	struct predicted_walk e;

	assert_true(follows(s, s->context, NULL, &e));
	assert_int_equal(e.count, s->n);
	assert_false(e.met);
}

/* Another stack at each frame, one that goes on, one that ends early, and one
 * that ended for another reason. */
static void check_others(struct stack *s)
{
	struct predicted_walk e;
	uint32_t i;

	for (i = 0; i < s->n; i++) {
		s->address[i]++;
		assert_false(follows(s, context_of(s->address, s->n, 0), NULL,
				     &e));
		s->address[i]--;
	}
	s->address[s->n] = s->address[s->n - 1];
	assert_false(follows(s, context_of(s->address, s->n + 1, 0), NULL,
			     &e));
	assert_false(follows(s, context_of(s->address, s->n - 1, 0), NULL,
			     &e));
	assert_false(follows(s, context_of(s->address, s->n,
					   GT_STOP_NO_IMAGE), NULL, &e));
}

/* Where the memory of the stack ends before it does. */
static void check_bounds(const struct stack *s)
{
	struct stack less = *s;
	struct predicted_walk e;

	for (less.walk.hi = s->walk.sp; less.walk.hi < s->walk.hi;
	     less.walk.hi += ARCH_WORD)
		if (follows(&less, s->context, NULL, &e))
			break;
	assert_true(less.walk.hi > s->walk.sp + 256);
	assert_true(e.sp <= less.walk.hi);
}

/* Code of the outermost frames but one is no more. */
static void check_forgotten(const struct stack *s)
{
	struct predicted_walk e;
	uintptr_t gone = s->address[s->n - 2];

	context_forget(gone, gone + 1, 0);
	assert_false(follows(s, s->context, NULL, &e));
}

static __attribute__((WITH_FP)) void check_all(void)
{
	struct stack s;

	describe(&s, (uintptr_t)__builtin_return_address(0),
		 (uintptr_t)__builtin_dwarf_cfa(),
		 *(uintptr_t *)__builtin_frame_address(0));
	check_follows(&s);
	check_others(&s);
	check_bounds(&s);
	check_forgotten(&s);
	BARRIER();
}

static __attribute__((noinline)) void recurse(unsigned depth,
					      void (*inner)(void))
{
	volatile char pad[48] __attribute__((unused));

	pad[0] = (char)depth;
	if (depth)
		recurse(depth - 1, inner);
	else
		inner();
	BARRIER();
}

static void test_follow(void **unused)
{
	(void)unused;
	start(0);
	recurse(20, check_all);
}

/* Frames that end where fp says, inward and outward of some that save it. */
static __attribute__((WITH_FP)) void by_fp(void (*inner)(void), unsigned n)
{
	volatile char *p = __builtin_alloca(16 * n);

	p[0] = 1;
	recurse(3, inner);
	BARRIER();
}

static bool saved_since;

static __attribute__((WITH_FP)) void check_fp(void)
{
	struct stack s;
	struct predicted_walk e;
	uint32_t id, by_fp = 0;

	describe(&s, (uintptr_t)__builtin_return_address(0),
		 (uintptr_t)__builtin_dwarf_cfa(),
		 *(uintptr_t *)__builtin_frame_address(0));
	for (id = s.context; id; id = context_node(id)->parent) {
		uint32_t flags = context_node(id)->flags;

		by_fp += flags & STEP_RARE &&
			 (flags >> STEP_SIZE_SHIFT & STEP_SIZE_MAX) == STEP_FP;
	}
	assert_true(by_fp >= 2);
	check_follows(&s);
	if (!saved_since) {
		s.walk.fp = (uintptr_t)1 << 62;
		assert_false(follows(&s, s.context, NULL, &e));
		s.walk.fp = s.walk.sp + 1;
		assert_false(follows(&s, s.context, NULL, &e));
	}
	BARRIER();
}

/* The frame pointer is a register as others are. */
static __attribute__((noinline)) void saves_fp(void)
{
	__asm__ volatile("mov $1, %%ebp" ::: "rbp");
	saved_since = true;
	check_fp();
	__asm__ volatile("mov $2, %%ebp" ::: "rbp");
}

static __attribute__((WITH_FP)) void twice_by_fp(void)
{
	by_fp(check_fp, 5);
	by_fp(saves_fp, 7);
	BARRIER();
}

static void test_frame_pointers(void **unused)
{
	(void)unused;
	start(0);
	by_fp(twice_by_fp, 3);
}

/* Up to a barrier that vouches for the rest; through one that does not. */
static __attribute__((WITH_FP)) void check_barrier(void)
{
	struct stack s;
	struct predicted_walk e;

	test_unwinder_hook(self);
	assert_true(self->barrier_count > 0);
	describe(&s, (uintptr_t)__builtin_return_address(0),
		 (uintptr_t)__builtin_dwarf_cfa(),
		 *(uintptr_t *)__builtin_frame_address(0));
	assert_true(follows(&s, s.context, self, &e));
	assert_true(e.met);
	assert_in_range(e.count, 1, s.n - 5);
	check_follows(&s);
	check_others(&s);
	s.address[s.n - 2]++;
	assert_false(follows(&s, context_of(s.address, s.n, 0), self, &e));
	BARRIER();
}

static void test_barrier(void **unused)
{
	(void)unused;
	start(8);
	recurse(20, check_barrier);
}

/* As test_unwinder_hook, and where it was. */
static uintptr_t hook_sp;

static __attribute__((WITH_FP)) uint32_t hook(void)
{
	uint32_t context;

	hook_sp = (uintptr_t)__builtin_dwarf_cfa();
	context = capture_stack(self, (uintptr_t)__builtin_return_address(0),
				hook_sp,
				*(uintptr_t *)__builtin_frame_address(0));
	BARRIER();
	return context;
}

static uintptr_t address_of(uint32_t context, unsigned outward)
{
	while (outward--)
		context = context_node(context)->parent;
	return context_node(context)->address;
}

/* Barriers are not wanted any more: they go, though the stack is expected. */
static __attribute__((noinline)) void check_given_up(void)
{
	const uintptr_t *slot = NULL;
	struct prediction of;
	uint32_t context = 0;
	volatile unsigned i;	/* one call */

	for (i = 0; i < 2; i++) {
		context = hook();
		if (i) {
			assert_false(barrier_in_stubs(*slot));
			break;
		}
		assert_true(self->barrier_count > 0);
		slot = (const uintptr_t *)
			self->frames[self->barrier[0]].slot;
		assert_true(barrier_in_stubs(*slot));
		predict_probe(&of, address_of(context, 0),
			      address_of(context, 1), address_of(context, 2),
			      self->hi - hook_sp);
		predict_find(&of, address_of(context, 3));
		predict_learn(&of, context);
		placement_forbid(self, GT_WHY_RUNTIME);
		/* as if it had been met by other threads alone */
		memset(self->seen, 0,
		       (self->seen_mask + 1) * sizeof(*self->seen));
	}
	BARRIER();
}

static void test_given_up(void **unused)
{
	(void)unused;
	start(8);
	recurse(20, check_given_up);
}

#define DEEP 200u	/* more than PREDICT_MAX, the bottom's left out */
#define ALIKE 8u

static uint32_t pattern, taken;
typedef void level(unsigned context_value);
static level left, right;

/* Each level is one of two functions, as a bit of the pattern has it. */
static level *level_at(unsigned context_value)
{
	unsigned bit =
		context_value < 5 ? context_value : 5 + context_value % 27;

	return pattern >> bit & 1 ? left : right;
}

static __attribute__((noinline)) void left(unsigned context_value)
{
	if (context_value)
		level_at(context_value - 1)(context_value - 1);
	else
		taken = hook();
	BARRIER();
}

static __attribute__((noinline)) void right(unsigned context_value)
{
	if (context_value)
		level_at(context_value - 1)(context_value - 1);
	else
		taken = hook();
	BARRIER();
}

/* The innermost frames are its own, the fifth is another one than the last
 * one's, and so are most of those outward; from ALIKE on, they are all alike. */
static void take_pattern(uint32_t i)
{
	pattern = ((i < ALIKE ? i : 0) * UINT32_C(0x9e3779b9) & ~0x1fu) |
		  (i & 1) << 4 | i;
	/* as if many others had been met since: no path is learned */
	memset(self->seen, 0, (self->seen_mask + 1) * sizeof(*self->seen));
	self->path_misses = 0;
	level_at(DEEP)(DEEP);
}

/* Deep stacks that are mostly new each time are followed to their end; when
 * they are so no more, they are joined again. */
static void test_redrawn(void **unused)
{
	const struct capture_counts *counts;
	uint32_t first[2 * ALIKE], i;
	uint64_t joins = 0;
	volatile uint32_t n;	/* one call */

	(void)unused;
	assert_int_equal(test_unwinder_init_with(CAPTURE_VALIDATE, 0, 0), 0);
	self = capture_thread_new(true, NULL);
	assert_non_null(self);
	counts = &self->report->counts;
	for (n = 0; n < 6 * ALIKE + PREDICT_TRIES; n++) {
		i = n < 2 * ALIKE ? 2 * ALIKE - 1 - n :
		    n < 4 * ALIKE ? 1 + n % (ALIKE - 2) :
				    ALIKE + (n + 1) % (ALIKE - 2);
		take_pattern(i);
		if (n < 2 * ALIKE)
			first[i] = taken;
		assert_int_equal(taken, first[i]);
		if (n < 2 * ALIKE)
			joins = counts->tier_join;
		else if (n < 4 * ALIKE)
			assert_int_equal(counts->tier_join, joins);
	}
	assert_true(counts->tier_join > joins + ALIKE);
	assert_int_equal(self->redrawn, 0);
}

/* When it is worth while to follow: not further than PREDICT_MAX, as the shadow
 * has it, and as the last stack that was followed had it. */
static void test_wanted(void **unused)
{
	struct capture_report report = { 0 };
	struct capture_thread t = { .report = &report, .count = PREDICT_MAX };

	(void)unused;
	assert_true(predict_wanted(&t, 64, 0x1001));
	t.count = PREDICT_MAX + 8;
	assert_false(predict_wanted(&t, 64, 0x1001));
	t.barrier[0] = 8;
	t.barrier_count = 1;
	assert_true(predict_wanted(&t, 64, 0x1001));
	predict_answered(&t, 8, true, 64, 0x1001);
	assert_false(predict_wanted(&t, 64, 0x1001));
	assert_true(predict_wanted(&t, 72, 0x1001));
	/* the barrier was no more */
	predict_answered(&t, PREDICT_MAX + 8, false, 64, 0x1001);
	assert_false(predict_wanted(&t, 72, 0x1001));
	t.redrawn = PREDICT_REDRAWN;
	assert_true(predict_wanted(&t, 72, 0x1001));
}

/* Of those that begin alike. */
static uint32_t found(uintptr_t fourth, struct prediction *of)
{
	predict_probe(of, 0x1001, 0x1002, 0x1003, 640);
	predict_find(of, fourth);
	return of->context;
}

static void learn(uintptr_t fourth, uint32_t context)
{
	struct prediction of;

	found(fourth, &of);
	predict_learn(&of, context);
}

/* The newest in a place, as many as it has ways. */
static void test_recent(void **unused)
{
	struct prediction of;
	uint32_t i;

	(void)unused;
	start(0);
	assert_int_equal(found(0x10, &of), 0);
	for (i = 1; i <= RECENT_WAYS; i++)
		learn(0x10 * i, 100 * i);
	learn(0x40, 400);	/* is the newest already */
	for (i = 1; i <= RECENT_WAYS; i++)
		assert_int_equal(found(0x10 * i, &of), 100 * i);
	assert_int_equal(found(0x50, &of), 0);
	learn(0x10, 100);	/* the oldest becomes the newest … */
	learn(0x50, 500);	/* … and the second is left out */
	assert_int_equal(found(0x20, &of), 0);
	for (i = 1; i <= RECENT_WAYS + 1; i++)
		if (i != 2)
			assert_int_equal(found(0x10 * i, &of), 100 * i);
}

/* Of two that are told apart by neither place nor tag, the one met last; and
 * under every tag, also where other ways are empty. */
static void test_alike(void **unused)
{
	struct prediction of;
	unsigned tags = 0;
	uintptr_t i;

	(void)unused;
	start(0);
	learn(0x10, 100);
	learn(0x20, 300);
	learn(0x10, 200);
	assert_int_equal(found(0x10, &of), 200);
	learn(0x10, 100);
	assert_int_equal(found(0x10, &of), 100);
	assert_int_equal(found(0x20, &of), 300);
	for (i = 8; i < 8 * 4096; i += 8) {
		memset(of.at, 0, sizeof(*of.at));
		learn(i, 100);
		assert_int_equal(found(i, &of), 100);
		tags += of.tag == 0;
	}
	assert_true(tags > 0);
}

#define TRIED (1u << 18)

/* Each of the addresses, and where the stack lies, chooses the place and the
 * tag, but the fourth address, which chooses the tag alone. */
static void test_told_apart(void **unused)
{
	struct prediction of;
	unsigned changed, met[5] = { 0 };
	uintptr_t i;

	(void)unused;
	start(0);
	learn(0x1004, 100);
	for (i = 8; i < 8 * TRIED; i += 8)
		for (changed = 0; changed < 5; changed++) {
			predict_probe(&of, 0x1001 + (changed == 0) * i,
				      0x1002 + (changed == 1) * i,
				      0x1003 + (changed == 2) * i,
				      640 + (changed == 3) * i);
			predict_find(&of, 0x1004 + (changed == 4) * i);
			met[changed] += of.context != 0;
		}
	for (changed = 0; changed < 4; changed++)
		assert_in_range(met[changed], 0, 4);
	assert_in_range(met[4], 0, TRIED / 128);
}

/* What has no room beside the tag, and what is no context. */
static void test_left_out(void **unused)
{
	struct prediction of;

	(void)unused;
	start(0);
	learn(0x10, 1u << RECENT_TAG);
	learn(0x10, GT_STOP_NO_MEMORY);
	assert_int_equal(found(0x10, &of), 0);
	learn(0x10, (1u << RECENT_TAG) - 1);
	learn(0x20, 1u << RECENT_TAG);
	learn(0x30, 300);
	assert_int_equal(found(0x10, &of), (1u << RECENT_TAG) - 1);
}

/* Captured as it is, whatever was met lately. */
static __attribute__((WITH_FP)) void checked(void)
{
	const struct walk_start from = {
		.ra = (uintptr_t)__builtin_return_address(0),
		.sp = (uintptr_t)__builtin_dwarf_cfa(),
		.fp = *(uintptr_t *)__builtin_frame_address(0),
		.hi = self->hi };
	uint32_t i, n, context = capture_stack(self, from.ra, from.sp, from.fp);
	uintptr_t address[DEPTH_MAX];
	enum gt_stop stop;
	uint64_t hash;

	n = walk_addresses(&from, address, DEPTH_MAX, &stop, &hash);
	assert_in_range(n, 5, DEPTH_MAX);
	for (i = 0; i < n; i++, context = context_node(context)->parent)
		assert_int_equal(context_node(context)->address, address[i]);
	assert_int_equal(context, GT_STOP_BOTTOM);
	/* no path answers the next one */
	memset(self->seen, 0, (self->seen_mask + 1) * sizeof(*self->seen));
	BARRIER();
}

static __attribute__((noinline)) void wrapper(void)
{
	checked();
	BARRIER();
}

#define LEAF(name, size)                                                    \
	static __attribute__((noinline)) void name(void (*inner)(void))     \
	{                                                                   \
		volatile char pad[size] __attribute__((unused));            \
                                                                            \
		pad[0] = sizeof(#name);                                     \
		inner();                                                    \
		BARRIER();                                                  \
	}
LEAF(leaf_a, 16)
LEAF(leaf_b, 80)
LEAF(leaf_second, 16)

typedef void leaf(void (*inner)(void));
static leaf *const volatile leaves[] = { leaf_a, leaf_b, leaf_second };
#define LEAVES 3u

/* Stacks of which so many frames were joined as they should be, and all. */
static unsigned replaced, replacements;

/* One frame takes the place of another; two, where there is a wrapper. */
static __attribute__((noinline)) void replace(void)
{
	volatile unsigned i;	/* one call */

	for (i = 0; i < 4 * LEAVES; i++) {
		leaves[i % LEAVES](i < 2 * LEAVES ? checked : wrapper);
		if (i % (2 * LEAVES)) {
			replacements++;
			if (self->joined == (i < 2 * LEAVES ? 1 : 2))
				replaced++;
		}
	}
	BARRIER();
}

static __attribute__((noinline)) void replace_far(void)
{
	recurse(12, replace);
	BARRIER();
}

/* What was met lately is another stack. */
static void mislead(void)
{
	uint32_t i, way;

	for (i = 0; i < 1u << RECENT_BITS; i++)
		for (way = 0; way < 2; way++)
			if (recent_stacks[i].way[way])
				recent_stacks[i].way[way] ^= 1;
}

/* The same inner frames below others, in the same places. */
static void test_replaced(void **unused)
{
	volatile unsigned i;

	(void)unused;
	start(8);
	for (i = 0; i < 4 * LEAVES; i++) {
		leaves[i % LEAVES](replace_far);
		if (i >= 2 * LEAVES)
			mislead();
	}
	assert_true(self->report->barriers_met > 0);
	/* Addresses that share a place in a table are followed instead. */
	if (replaced * 4 < replacements * 3)
		fail_msg("%u of %u were joined", replaced, replacements);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_follow),
		cmocka_unit_test(test_frame_pointers),
		cmocka_unit_test(test_barrier),
		cmocka_unit_test(test_given_up),
		cmocka_unit_test(test_redrawn),
		cmocka_unit_test(test_wanted),
		cmocka_unit_test(test_recent),
		cmocka_unit_test(test_alike),
		cmocka_unit_test(test_told_apart),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
