// FLAGS: -lbump -fexceptions -mno-red-zone -fomit-frame-pointer -D_GNU_SOURCE
/*
 * stepped.c HOW: the processor's trap flag interrupts the program after every
 * single instruction, also in a profiler's hooks, its walks, and in whatever
 * it put in the place of a return address. HOW:
 *   walk      the handler walks the stack with the C runtime's unwinder, which
 *             must reach main from anywhere
 *   allocate  the handler allocates and frees, some frames deep
 *   jump      it does so, and now and then leaves by siglongjmp
 *
 * Over the allocator of libbump.so, which may be interrupted anywhere. How
 * many instructions there are is not part of the result.
 */
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>
#include <unwind.h>

#include "deep.h"

#define TRAP_FLAG 0x100
#define STEPS 6000
#define STEPS_MAX 30000	/* where a profiler makes many of them */
#define PHASES 2

enum how { WALK, ALLOCATE, JUMP };

static enum how how;
static volatile uint64_t steps, walks, walked_to_main, jumps, wrong;
static unsigned seed = 1;
static sigjmp_buf outside;

static unsigned any(void)
{
	seed = seed * 1103515245u + 12345u;
	return seed >> 16;
}

int main(int argc, char **argv);

static _Unwind_Reason_Code to_main(struct _Unwind_Context *context, void *met)
{
	if (_Unwind_FindEnclosingFunction((void *)_Unwind_GetIP(context)) ==
	    (void *)main)
		*(int *)met = 1;
	return _URC_NO_REASON;
}

static void handler(int number, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	int met_main = 0;

	(void)number;
	(void)info;
	steps++;
	if (steps > STEPS_MAX)
		uc->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
	if (how == WALK) {
		if (any() % 4)
			return;
		_Unwind_Backtrace(to_main, &met_main);
		walks++;
		walked_to_main += met_main;
		return;
	}
	if (any() % 6 == 0)
		deep(any() % 3, deep_nothing, NULL);
	if (how == JUMP && any() % 500 == 0) {
		jumps++;
		siglongjmp(outside, 1);
	}
}

/* The unwinder must know of the word on the stack too. */
#define CHANGE_FLAGS(instruction, value)				\
	__asm__ volatile("pushfq\n\t"					\
			 ".cfi_adjust_cfa_offset 8\n\t"			\
			 instruction " %0, (%%rsp)\n\t"		\
			 "popfq\n\t"					\
			 ".cfi_adjust_cfa_offset -8"			\
			 :: "i"(value) : "memory", "cc")

static void trap(void)
{
	CHANGE_FLAGS("orl", TRAP_FLAG);
}

static void untrap(void)
{
	CHANGE_FLAGS("andl", ~TRAP_FLAG);
}

/* Returns through everything, again and again, under the trap flag. */
static void under_trap(void)
{
	while (steps < STEPS) {
		int depth = (int)(any() % 12);

		wrong += deep(depth, deep_nothing, NULL) != depth;
		wrong += deep_wide(depth, deep_nothing, NULL) != depth;
	}
}

static long phase(void *argument)
{
	(void)argument;
	sigsetjmp(outside, 1);
	if (steps >= STEPS)
		return 0;
	trap();
	under_trap();
	untrap();
	return 0;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = handler,
				    .sa_flags = SA_SIGINFO };

	if (argc > 1 && !strcmp(argv[1], "allocate"))
		how = ALLOCATE;
	if (argc > 1 && !strcmp(argv[1], "jump"))
		how = JUMP;
	sigaction(SIGTRAP, &action, NULL);
	for (int i = 0; i < PHASES; i++) {
		steps = 0;
		wrong += deep(i * 30, phase, NULL) != i * 30;
	}
	wrong += walks != walked_to_main;
	tgt_print("jumped", jumps > 0);
	tgt_print("lost_on_the_way", walks - walked_to_main);
	tgt_print("wrong", wrong);
	return wrong != 0;
}
