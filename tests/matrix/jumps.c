/*
 * jumps.c: longjmp in all its forms over 0 to 150 frames that were captured
 * from, again and again, out of and into frames at all depths, and then back
 * stack below and becomes the locals of the next ones to go there.
 */
#include <setjmp.h>
#include <signal.h>

#include "deep.h"

enum { PLAIN, UNDERSCORE, SIGNAL, SIGNAL_MASK, BUILTIN, FORMS };

static jmp_buf plain;
static sigjmp_buf with_signals;
static void *builtin[5];
static int form;
static uint64_t jumps, wrong;

static long leave(void *argument)
{
	(void)argument;
	jumps++;
	switch (form) {
	case PLAIN:
		longjmp(plain, 7);
	case UNDERSCORE:
		_longjmp(plain, 7);
	case SIGNAL:
	case SIGNAL_MASK:
		siglongjmp(with_signals, 7);
	default:
		__builtin_longjmp(builtin, 1);
	}
	return 0;
}

static void descend(int depth)
{
	if (depth % 2)
		deep_wide(depth, leave, NULL);
	else
		deep(depth, leave, NULL);
	wrong++;
}

/* A function of its own: __builtin_setjmp and setjmp do not mix. */
static void from_builtin(int depth)
{
	volatile int count = 0;

	if (__builtin_setjmp(builtin) == 0) {
		count++;
		descend(depth);
	}
	wrong += count != 1;
}

static void jump(int depth)
{
	volatile int count = 0;
	int answer;

	if (form == BUILTIN) {
		from_builtin(depth);
		return;
	}
	if (form == PLAIN)
		answer = setjmp(plain);
	else if (form == UNDERSCORE)
		answer = _setjmp(plain);
	else
		answer = sigsetjmp(with_signals, form == SIGNAL_MASK);
	if (answer == 0) {
		count++;
		tgt_free(tgt_malloc(30), 30);
		descend(depth);
	}
	tgt_free(tgt_malloc(31), 31);
	wrong += answer != 7 || count != 1;
}

/* The bottom of an outer descent: several jumps that end in its frame. */
static long jump_here(void *argument)
{
	int base = *(int *)argument;

	for (int i = 0; i < 6; i++) {
		form = (base + i) % FORMS;
		jump((base * 7 + i * 13) % 60);
	}
	return deep(3, deep_nothing, NULL);
}

/* From each level there are jumps to its own frame, which is then returned
 * through. */
static long ladder(int depth)
{
	sigjmp_buf here;
	void *block = tgt_malloc(40 + depth % 20);
	volatile long answer = 0;

	if (sigsetjmp(here, 0) == 0) {
		answer = depth ? ladder(depth - 1) + 1 : 0;
		memcpy(with_signals, here, sizeof(here));
		form = SIGNAL;
		descend(depth % 37);
	}
	tgt_free(block, 40 + depth % 20);
	return answer;
}

static long many_in_a_row(void)
{
	for (int i = 0; i < 2000; i++) {
		form = i % FORMS;
		jump(i % 9);
	}
	return 0;
}

int main(void)
{
	for (int depth = 0; depth <= 150; depth += 3) {
		for (form = 0; form < FORMS; form++)
			jump(depth);
		wrong += deep_wide(depth, jump_here, &depth) != depth + 3;
	}
	tgt_print("ladder", ladder(120));
	many_in_a_row();
	tgt_print("jumps", jumps);
	tgt_print("wrong", wrong);
	tgt_report();
	return wrong != 0;
}
