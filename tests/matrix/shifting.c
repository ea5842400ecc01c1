/*
 * shifting.c: one function that calls itself from one place, with frames of
 * sizes left to chance, and leaves now by returning, now by a jump. So the
 * slots of new frames often fall where other frames had theirs, with the same
 * return address, while between them lies memory that nobody has written
 * since: what once was put into a slot there still looks as if it stood.
 */
#include <alloca.h>
#include <setjmp.h>

#include "deep.h"

#define LEVELS 48
#define STEPS 40000
#define UNIT 16
#define SIZES 14

static jmp_buf at_level[LEVELS];
static unsigned seed = 3;
static uint64_t steps, jumps, wrong;

static unsigned any(void)
{
	seed = seed * 1103515245u + 12345u;
	return seed >> 16;
}

static void allocate(int level)
{
	size_t size = 16 + (size_t)level;

	tgt_free(tgt_malloc(size), size);
}

static long shift(int level)
{
	volatile unsigned rounds = 2 + any() % 3;
	volatile int here = level;
	/* left as it is */
	char *space = alloca(UNIT * (1 + any() % SIZES));

	__asm__ volatile("" :: "r"(space) : "memory");
	setjmp(at_level[level]);
	while (rounds-- > 0 && steps++ < STEPS) {
		if (any() % 3 == 0)
			allocate(here);
		if (here + 1 < LEVELS)
			wrong += shift(here + 1) != here + 1;
		else
			allocate(here);
		if (here > 6 && any() % 4 == 0) {
			jumps++;
			longjmp(at_level[here - 1 - (int)(any() % 6)], 1);
		}
	}
	if (any() % 2)
		allocate(here);
	return here;
}

int main(void)
{
	wrong += shift(0) != 0;
	while (steps < STEPS)
		wrong += shift(0) != 0;
	tgt_print("jumps", jumps);
	tgt_print("wrong", wrong);
	tgt_report();
	return wrong != 0;
}
