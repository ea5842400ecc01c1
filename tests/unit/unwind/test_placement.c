// FLAGS: -fno-omit-frame-pointer
/* test_placement.c: where barriers come to stand, and where not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test_unwinder.h"
#include "unwind/barrier.h"
#include "unwind/placement.h"
#include "unwind/shadow.h"

#define INNER 16	/* frames that are never touched */

static struct capture_thread *self;
static uintptr_t outer_end;	/* of the stack that the test looks at */

/* Frames outward of the caller's caller whose slot holds a stub; *first: the
 * number of the innermost of them. By frame pointers: the test has them. */
static __attribute__((noinline)) unsigned count_stubs(unsigned *first)
{
	const uintptr_t *fp = __builtin_frame_address(0);
	unsigned n = 0, i;

	*first = 0;
	for (i = 0; (uintptr_t)fp < outer_end; i++) {
		if (barrier_in_stubs(fp[1])) {
			if (n++ == 0)
				*first = i;
		}
		if (fp[0] <= (uintptr_t)fp)
			break;
		fp = (const uintptr_t *)fp[0];
	}
	return n;
}

struct plan {
	int captures;
	unsigned stubs, first;
	void (*inside)(void);
};

static __attribute__((noinline)) int descend(int depth, struct plan *plan)
{
	int i;

	if (depth > 0)
		return descend(depth - 1, plan) + 1;
	for (i = 0; i < plan->captures; i++)
		test_unwinder_hook(self);
	if (plan->inside)
		plan->inside();
	plan->stubs = count_stubs(&plan->first);
	return 0;
}

static void start(enum capture_mode mode, uint32_t near)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	assert_int_equal(test_unwinder_init_near(mode, near), 0);
	self = capture_thread_new(true, NULL);
	assert_non_null(self);
	outer_end = here;
}

static void test_deep_stack(void **unused)
{
	struct plan plan = { .captures = 3 };

	(void)unused;
	start(CAPTURE_AUTO, 0);
	assert_int_equal(descend(300, &plan), 300);
	assert_true(plan.stubs >= 2);	/* one near, some far */
	assert_true(plan.first >= INNER);
	assert_true(self->report->barriers_placed >= plan.stubs);
	assert_int_equal(self->mode, GT_MODE_BARRIERS);
	/* Again, through other frames: nothing is left over. */
	assert_int_equal(descend(310, &plan), 310);
	assert_true(plan.stubs >= 2 && plan.first >= INNER);
}

static void test_shallow_stack(void **unused)
{
	struct plan plan = { .captures = 50 };

	(void)unused;
	start(CAPTURE_AUTO, 0);
	descend(5, &plan);
	assert_int_equal(plan.stubs, 0);
	assert_int_equal(self->report->barriers_placed, 0);
}

static void stay(void)
{
	uint64_t until = arch_cycles() + 200000;

	while (arch_cycles() < until)
		;
}

/* The first one stands for a while. The others are lost at once, again and
 * again, and each time put in the same place: it moves outward, until none is
 * put any more. */
static void test_lost_in_the_same_place(void **unused)
{
	struct plan plan = { .captures = 1, .inside = stay };
	uint64_t placed;
	int i;

	(void)unused;
	start(CAPTURE_AUTO, 0);
	descend(34, &plan);
	plan.inside = NULL;
	for (i = 0; i < 100; i++)
		descend(34, &plan);
	placed = self->report->barriers_placed;
	for (i = 0; i < 100; i++)
		descend(34, &plan);
	assert_true(placed > 0);
	assert_true(self->report->barriers_placed < placed + 10);
}

static void test_near(void **unused)
{
	struct plan plan = { .captures = 3 };

	(void)unused;
	start(CAPTURE_AUTO, 3);
	descend(12, &plan);
	assert_true(plan.stubs >= 1);
	assert_true(plan.first < INNER);
}

static void test_other_modes(void **unused)
{
	struct plan plan = { .captures = 3 };

	(void)unused;
	start(CAPTURE_VALIDATE, 0);
	descend(300, &plan);
	assert_int_equal(plan.stubs, 0);
	assert_int_equal(self->mode, GT_MODE_VALIDATE);
	assert_int_equal(self->report->why, GT_WHY_ASKED);
	start(CAPTURE_OFF, 3);
	descend(300, &plan);
	assert_int_equal(plan.stubs, 0);
	assert_int_equal(self->mode, GT_MODE_OFF);
}

/* Barriers are not wanted any more: the next capture takes them away. */
static void turn_off(void)
{
	unsigned first;

	assert_true(count_stubs(&first) >= 2);
	placement_forbid(self, GT_WHY_RUNTIME);
	test_unwinder_hook(self);
}

static void test_taken_away(void **unused)
{
	struct plan plan = { .captures = 3, .inside = turn_off };

	(void)unused;
	start(CAPTURE_AUTO, 0);
	assert_int_equal(descend(300, &plan), 300);
	assert_int_equal(plan.stubs, 0);
	assert_int_equal(self->report->why, GT_WHY_RUNTIME);
	assert_int_equal(self->mode, GT_MODE_VALIDATE);
}

/* A child that shares the stack: nothing is placed for its parent. */
static void in_vfork(void)
{
	volatile int status = 0;
	int pid = vfork();

	if (pid == 0) {
		test_unwinder_hook(self);
		_exit(self->report->barriers_placed != 0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, (int *)&status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_vfork(void **unused)
{
	struct plan plan = { .captures = 0, .inside = in_vfork };

	(void)unused;
	start(CAPTURE_AUTO, 0);
	descend(300, &plan);
	assert_int_equal(plan.stubs, 0);
}

static void after_jump(void)
{
	uint32_t standing = self->barrier_count;

	assert_true(standing >= 2);
	capture_stack_replaced(self);
	test_unwinder_hook(self);
	assert_false(self->moved);
	assert_int_equal(self->barrier_count, standing);
}

/* The outermost return address is changed for the time of a capture. */
static void after_exchange(void)
{
	uintptr_t *outermost = (uintptr_t *)self->frames[1].slot;
	uintptr_t was = *outermost;

	capture_stack_replaced(self);
	*outermost = 0;
	test_unwinder_hook(self);
	*outermost = was;
}

/* A jump costs a comparison, no walk; an exchanged stack, all of it. */
static void test_moved(void **unused)
{
	struct plan plan = { .captures = 3, .inside = after_jump };

	(void)unused;
	start(CAPTURE_AUTO, 0);
	descend(300, &plan);
	assert_int_equal(self->report->counts.tier_full, 1);
	plan.inside = after_exchange;
	start(CAPTURE_AUTO, 0);
	descend(300, &plan);
	assert_int_equal(self->report->counts.tier_full, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deep_stack),
		cmocka_unit_test(test_shallow_stack),
		cmocka_unit_test(test_lost_in_the_same_place),
		cmocka_unit_test(test_near),
		cmocka_unit_test(test_other_modes),
		cmocka_unit_test(test_taken_away),
		cmocka_unit_test(test_vfork),
		cmocka_unit_test(test_moved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
