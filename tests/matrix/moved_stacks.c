/*
 * moved_stacks.c: slices of the stack copied away, and back under other outer
 * frames than they were taken from, at the same addresses: as a scheduler of
 * green threads does that keeps them all on one stack. What was put into a
 * slice says nothing of what lies outward of it now. With and without
 * allocations between the switches, and slices are resumed many times, by
 * turns.
 */
#include <alloca.h>
#include <setjmp.h>

#include "deep.h"

#define SLICES 12
#define TURNS 600
#define COPY_MAX (64 << 10)

struct slice {
	jmp_buf inside;
	char *low, *copy;
	size_t size;
	int depth, finished;
};

static struct slice slices[SLICES];
static struct slice *current;
static jmp_buf outside;
static char *base;		/* slices end here */
static uint64_t switches, finished, wrong;

static __attribute__((noinline)) void copy_back(struct slice *slice)
{
	memcpy(slice->low, slice->copy, slice->size);
	longjmp(slice->inside, 1);
}

static __attribute__((noinline)) void save(struct slice *slice)
{
	char here;

	slice->low = (char *)((uintptr_t)(&here - 512) & ~(uintptr_t)15);
	slice->size = base - slice->low;
	if (slice->size > COPY_MAX)
		abort();
	memcpy(slice->copy, slice->low, slice->size);
}

/* From a frame below all of the slice, or it would copy over itself. */
static __attribute__((noinline)) void resume(struct slice *slice)
{
	char here, *space;

	if (&here > slice->low - 1024) {
		space = alloca(&here - slice->low + 2048);
		*(volatile char *)space = 1;
	}
	copy_back(slice);
}

/* To the scheduler; comes back when it is this slice's turn. */
static void yield(void)
{
	switches++;
	if (setjmp(current->inside) == 0) {
		save(current);
		longjmp(outside, 1);
	}
}

/* Yields at some levels; there are allocations after and before it, or not. */
static long way(int depth)
{
	long answer;

	if (depth % 3)
		tgt_free(tgt_malloc(10 + depth), 10 + depth);
	if (depth % 4 == 2)
		yield();
	tgt_free(tgt_malloc(12 + depth), 12 + depth);
	answer = depth ? way(depth - 1) + 1 : 0;
	if (depth % 5 == 2)
		yield();
	tgt_free(tgt_malloc(14 + depth), 14 + depth);
	return answer;
}

/* The outermost frame of a slice. It never returns. */
static void run(void)
{
	base = __builtin_dwarf_cfa();	/* where its frame ends */
	for (int i = 0; i < 8; i++)
		wrong += way(current->depth) != current->depth;
	current->finished = 1;
	finished++;
	yield();
}

static __attribute__((noinline)) void schedule(void)
{
	if (setjmp(outside) == 0) {
		if (current->size == 0)
			run();
		else
			resume(current);
	}
}

/* Outer frames: the same code several times over, so that they lie at the
 * same addresses and differ in nothing but who returns to whom. */
#define OUTER(name, next)						\
	static __attribute__((noinline)) long name(int depth, int noise)	\
	{								\
		long answer;						\
									\
		if (noise == 2)						\
			tgt_free(tgt_malloc(20), 20);			\
		if (depth == 0) {					\
			schedule();					\
			answer = 0;					\
		} else {						\
			answer = next(depth - 1, noise) + 1;		\
		}							\
		if (noise)						\
			tgt_free(tgt_malloc(21), 21);			\
		return answer;						\
	}
static long outer_a(int depth, int noise);
OUTER(outer_c, outer_a)
OUTER(outer_b, outer_c)
OUTER(outer_a, outer_b)
static long outer_d(int depth, int noise);
OUTER(outer_e, outer_d)
OUTER(outer_d, outer_e)

int main(void)
{
	static long (*const outer[])(int, int) = { outer_a, outer_b, outer_c,
						   outer_d, outer_e };
	unsigned seed = 7;

	for (int i = 0; i < SLICES; i++) {
		slices[i].copy = tgt_malloc(COPY_MAX);
		slices[i].depth = 3 + i * 7 % 60;
	}
	for (int turn = 0; turn < TURNS; turn++) {
		seed = seed * 1103515245u + 12345u;
		current = &slices[(seed >> 16) % SLICES];
		if (current->finished)
			continue;
		wrong += outer[(seed >> 20) % 5](20, seed >> 24 & 3) != 20;
	}
	for (int i = 0; i < SLICES; i++)
		tgt_free(slices[i].copy, COPY_MAX);
	tgt_print("switches", switches);
	tgt_print("finished", finished);
	tgt_print("wrong", wrong);
	tgt_report();
	return wrong != 0;
}
