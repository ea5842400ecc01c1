/*
 * test_walk_plausible.c: checks of frame pointers and return addresses without a
 * table, and whether a frame pointer may be that of a function further out.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/test_unwinder.h"
#include "unwind/rules/prologue.h"
#include "unwind/walk.h"
#include "unwind/walk_plausible.h"

#define WORDS 512
#define AT(word) ((uintptr_t)&stack[word])
#define SP 16
#define FP 24			/* words, from the stack's beginning */

static uintptr_t stack[WORDS] __attribute__((aligned(64)));
static struct stack_reader reader;

/* An address that a call is before. */
static __attribute__((noinline)) uintptr_t called(void)
{
	__asm__ volatile("" ::: "memory");
	return (uintptr_t)__builtin_return_address(0);
}

/* A frame between SP and FP of plain words, whose caller is `called`. */
static int make_frame(void **unused)
{
	unsigned i;

	(void)unused;
	walk_flush();
	for (i = 0; i < WORDS; i++)
		stack[i] = i;
	stack[FP] = AT(FP + 8);
	stack[FP + 1] = called();
	reader = (struct stack_reader){ .lo = AT(0), .hi = AT(WORDS) };
	return 0;
}

static bool may_skip(uintptr_t pc)
{
	return walk_fp_may_skip_frames(&reader, pc, AT(SP), AT(FP));
}

static void own_frame_skips_nothing(void **unused)
{
	uintptr_t pc = called();

	(void)unused;
	assert_int_equal(may_skip(pc), ARCH_LINK_REGISTER);
}

/* A function further in was called that keeps no frame pointer. */
static void return_address_between_may_be_skipped(void **unused)
{
	uintptr_t pc = called();

	(void)unused;
	stack[FP - 1] = called();
	assert_true(may_skip(pc));
	stack[FP - 1] = 0;
	stack[SP] = called();
	assert_true(may_skip(pc));
	stack[SP] = 0;
	stack[SP - 1] = called();
	assert_int_equal(may_skip(pc), ARCH_LINK_REGISTER);
}

/* The answer is about the code at pc, whatever lies in later frames; but
 * only as long as the code is the same. */
static void negative_answer_is_cached_until_flush(void **unused)
{
	uintptr_t pc = called(), other = called();

	(void)unused;
	assert_int_equal(may_skip(pc), ARCH_LINK_REGISTER);
	stack[FP - 1] = called();
	assert_int_equal(may_skip(pc), ARCH_LINK_REGISTER);
	assert_true(may_skip(other));
	walk_flush();
	assert_true(may_skip(pc));
}

static void large_frames_are_not_searched(void **unused)
{
	uintptr_t pc = called(), sp = AT(WORDS - 1) - 128 * ARCH_WORD;

	(void)unused;
	assert_int_equal(walk_fp_may_skip_frames(&reader, pc, sp,
						 AT(WORDS - 1)),
			 ARCH_LINK_REGISTER);
	walk_flush();
	assert_true(walk_fp_may_skip_frames(&reader, pc, sp - ARCH_WORD,
					    AT(WORDS - 1)));
}

/* Nobody knows what lies there. */
static void unreadable_frame_may_skip(void **unused)
{
	uintptr_t pc = called();

	(void)unused;
	reader = (struct stack_reader){ .lo = 0, .hi = 0 };
	assert_true(walk_fp_may_skip_frames(&reader, pc, 8 * ARCH_WORD,
					    16 * ARCH_WORD));
}

static void fp_is_checked(void **unused)
{
	uintptr_t cfa = 0;

	(void)unused;
	assert_true(walk_fp_is_plausible(&reader, AT(SP), AT(FP), &cfa));
	assert_int_equal(cfa, AT(FP + 2));
	assert_false(walk_fp_is_plausible(&reader, AT(FP + 1), AT(FP), &cfa));
	assert_false(walk_fp_is_plausible(&reader, AT(SP), AT(FP) + 1, &cfa));
	assert_false(walk_fp_is_plausible(&reader, AT(FP) - (2u << 20), AT(FP),
					  &cfa));
	stack[FP + 1]++;
	assert_false(walk_fp_is_plausible(&reader, AT(SP), AT(FP), &cfa));
}

static void cfa_and_return_are_checked(void **unused)
{
	uintptr_t cfa = AT(FP) / ARCH_STACK_ALIGN * ARCH_STACK_ALIGN;

	(void)unused;
	assert_true(walk_code_is_plausible(cfa, called()));
	assert_false(walk_code_is_plausible(cfa, called() + 1));
	assert_false(walk_code_is_plausible(cfa, 1));
	assert_false(walk_code_is_plausible(cfa + 1, called()));
}

static uintptr_t handler_ra;

static void on_signal(int number)
{
	(void)number;
	handler_ra = (uintptr_t)__builtin_return_address(0);
}

/* No call precedes the code that handlers return to. */
static void return_follows_call_or_is_signal_return(void **unused)
{
	(void)unused;
	assert_true(walk_return_is_plausible(called()));
	assert_false(walk_return_is_plausible(called() + 1));
	assert_false(walk_return_is_plausible((uintptr_t)called));
	assert_false(walk_return_is_plausible(0));
	assert_false(walk_return_is_plausible(AT(SP)));
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	assert_false(walk_is_return_address(handler_ra));
	assert_true(walk_return_is_plausible(handler_ra));
}

static int begin(void **unused)
{
	(void)unused;
	return test_unwinder_init(CAPTURE_AUTO, 0);
}

#define MAKE_FRAME(test) cmocka_unit_test_setup(test, make_frame)

int main(void)
{
	const struct CMUnitTest tests[] = {
		MAKE_FRAME(own_frame_skips_nothing),
		MAKE_FRAME(return_address_between_may_be_skipped),
		MAKE_FRAME(negative_answer_is_cached_until_flush),
		MAKE_FRAME(large_frames_are_not_searched),
		MAKE_FRAME(unreadable_frame_may_skip),
		MAKE_FRAME(fp_is_checked),
		MAKE_FRAME(cfa_and_return_are_checked),
		MAKE_FRAME(return_follows_call_or_is_signal_return),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
