/*
 * test_walk_sane.c: what is believed without a table: frame pointers, by the
 * words around them, and whether they may be those of functions further out.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/unwind_embed.h"
#include "unwind/rules/prologue.h"
#include "unwind/walk.h"
#include "unwind/walk_sane.h"

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

static bool hides(uintptr_t pc)
{
	return walk_fp_may_hide(&reader, pc, AT(SP), AT(FP));
}

static void own_frames_hide_nobody(void **unused)
{
	uintptr_t pc = called();

	(void)unused;
	assert_int_equal(hides(pc), ARCH_LINK_REGISTER);
}

/* Somebody was called who keeps no frame pointer. */
static void frames_between_may_be_hidden(void **unused)
{
	uintptr_t pc = called();

	(void)unused;
	stack[FP - 1] = called();
	assert_true(hides(pc));
	stack[FP - 1] = 0;
	stack[SP] = called();
	assert_true(hides(pc));
	stack[SP] = 0;
	stack[SP - 1] = called();
	assert_int_equal(hides(pc), ARCH_LINK_REGISTER);
}

/* It is a matter of the code, at which anything may lie in the frame later; but
 * only as long as the code is the same. */
static void what_was_seen_once_is_so(void **unused)
{
	uintptr_t pc = called(), other = called();

	(void)unused;
	assert_int_equal(hides(pc), ARCH_LINK_REGISTER);
	stack[FP - 1] = called();
	assert_int_equal(hides(pc), ARCH_LINK_REGISTER);
	assert_true(hides(other));
	walk_flush();
	assert_true(hides(pc));
}

static void large_frames_are_not_looked_through(void **unused)
{
	uintptr_t pc = called(), sp = AT(WORDS - 1) - 128 * ARCH_WORD;

	(void)unused;
	assert_int_equal(walk_fp_may_hide(&reader, pc, sp, AT(WORDS - 1)),
			 ARCH_LINK_REGISTER);
	walk_flush();
	assert_true(walk_fp_may_hide(&reader, pc, sp - ARCH_WORD,
				     AT(WORDS - 1)));
}

/* Nobody knows what lies there. */
static void what_cannot_be_read_may_hide(void **unused)
{
	uintptr_t pc = called();

	(void)unused;
	reader = (struct stack_reader){ .lo = 0, .hi = 0 };
	assert_true(walk_fp_may_hide(&reader, pc, 8 * ARCH_WORD,
				     16 * ARCH_WORD));
}

static void frame_pointers_prove_themselves(void **unused)
{
	uintptr_t cfa = 0;

	(void)unused;
	assert_true(walk_fp_sane(&reader, AT(SP), AT(FP), &cfa));
	assert_int_equal(cfa, AT(FP + 2));
	assert_false(walk_fp_sane(&reader, AT(FP + 1), AT(FP), &cfa));
	assert_false(walk_fp_sane(&reader, AT(SP), AT(FP) + 1, &cfa));
	assert_false(walk_fp_sane(&reader, AT(FP) - (2u << 20), AT(FP), &cfa));
	stack[FP + 1]++;
	assert_false(walk_fp_sane(&reader, AT(SP), AT(FP), &cfa));
}

static void code_proves_itself(void **unused)
{
	uintptr_t cfa = AT(FP) / ARCH_STACK_ALIGN * ARCH_STACK_ALIGN;

	(void)unused;
	assert_true(walk_code_sane(cfa, called()));
	assert_false(walk_code_sane(cfa, called() + 1));
	assert_false(walk_code_sane(cfa, 1));
	assert_false(walk_code_sane(cfa + 1, called()));
}

static uintptr_t handler_ra;

static void on_signal(int number)
{
	(void)number;
	handler_ra = (uintptr_t)__builtin_return_address(0);
}

/* Nobody has called from where handlers return to. */
static void guesses_lead_to_where_frames_return(void **unused)
{
	(void)unused;
	assert_true(walk_return_sane(called()));
	assert_false(walk_return_sane(called() + 1));
	assert_false(walk_return_sane((uintptr_t)called));
	assert_false(walk_return_sane(0));
	assert_false(walk_return_sane(AT(SP)));
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	assert_false(walk_is_return_address(handler_ra));
	assert_true(walk_return_sane(handler_ra));
}

static int begin(void **unused)
{
	(void)unused;
	return embed_init(CAPTURE_AUTO, false);
}

#define SANE(test) cmocka_unit_test_setup(test, make_frame)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SANE(own_frames_hide_nobody),
		SANE(frames_between_may_be_hidden),
		SANE(what_was_seen_once_is_so),
		SANE(large_frames_are_not_looked_through),
		SANE(what_cannot_be_read_may_hide),
		SANE(frame_pointers_prove_themselves),
		SANE(code_proves_itself),
		SANE(guesses_lead_to_where_frames_return),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
