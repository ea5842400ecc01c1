/*
 * copied_stacks.c: continuations as some run-time systems make them: the
 * slice of the stack between here and an outer frame is copied away, the
 * outer frame jumped to, the slice later copied back and jumped into, more
 * than once, each time to return outward through its frames. Meanwhile other
 * calls have used that memory. Slices are taken at many depths, also from
 * within frames that themselves came back from a copy.
 */
#include <alloca.h>
#include <setjmp.h>

#include "deep.h"

#define SLICES 24
#define TIMES 4

struct slice {
	jmp_buf inside;
	char *low, *copy;
	size_t size;
	long answers[TIMES];
	int resumed;
};

static struct slice slices[SLICES];
static jmp_buf outside;
static char *base;		/* slices end here */
static struct slice *current;
static uint64_t taken, resumed, wrong;

static __attribute__((noinline)) void copy_back(struct slice *slice)
{
	memcpy(slice->low, slice->copy, slice->size);
	longjmp(slice->inside, 1);
}

static __attribute__((noinline)) void save(struct slice *slice)
{
	char here;

	/* as far in as this function's callee could have stored anything */
	slice->low = (char *)((uintptr_t)(&here - 512) & ~(uintptr_t)15);
	slice->size = base - slice->low;
	if (!slice->copy)
		slice->copy = tgt_malloc(64 << 10);
	if (slice->size > 64 << 10)
		abort();
	taken++;
	memcpy(slice->copy, slice->low, slice->size);
}

/* Returns twice and oftener: once for each time that it is resumed. */
static long take(void *argument)
{
	struct slice *slice = argument;

	if (setjmp(slice->inside) == 0) {
		save(slice);
		longjmp(outside, 1);
	}
	tgt_free(tgt_malloc(61), 61);
	return 1000 + current->resumed;
}

/* From a frame below all of the slice, or it would copy over itself. */
static __attribute__((noinline)) void resume(struct slice *slice)
{
	char here, *space;

	if (&here > slice->low - 1024) {
		space = alloca(&here - slice->low + 2048);
		*(volatile char *)space = 1;
	}
	current = slice;
	resumed++;
	copy_back(slice);
}

/* Frames that may be returned through more than once: none keeps a block. */
static long way(int depth, deep_bottom bottom, void *argument)
{
	long answer;

	tgt_free(tgt_malloc(10 + depth), 10 + depth);
	if (depth == 0)
		answer = bottom(argument);
	else
		answer = way(depth - 1, bottom, argument) + 1;
	tgt_free(tgt_malloc(11), 11);
	return answer;
}

static long way_wide(int depth, deep_bottom bottom, void *argument)
{
	volatile long space[1 + depth % 9];
	long answer;

	space[0] = depth;
	tgt_free(tgt_malloc(12 + depth), 12 + depth);
	if (depth == 0)
		answer = bottom(argument);
	else
		answer = way_wide(depth - 1, bottom, argument) + 1;
	tgt_free(tgt_malloc(13), 13);
	return answer + (space[0] != depth);
}

/* Twice on the way: the second slice holds frames that have already come
 * back from the first. */
static long take_twice(void *argument)
{
	struct slice *first = argument;
	long answer = way(9, take, first);

	answer += way_wide(7, take, first + 1);
	return answer;
}

/* The outermost frame of a slice. */
static long run(struct slice *slice, int depth, int how)
{
	base = __builtin_dwarf_cfa();	/* where its frame ends */
	if (how == 0)
		return way(depth, take, slice);
	if (how == 1)
		return way_wide(depth, take, slice);
	return way(depth, take_twice, slice);
}

/* Outer frame of a slice: takes it, then lets it run to its end TIMES times,
 * with other work in between. */
static __attribute__((noinline)) void drive(struct slice *slice, int depth,
					    int how)
{
	volatile int steps = 0;
	volatile long answer;

	if (setjmp(outside) == 0) {
		answer = run(slice, depth, how);
		/* a resumed one came back to its end, here */
		current->answers[current->resumed++ % TIMES] += answer;
	}
	deep_wide(depth + steps, deep_nothing, NULL);
	if (steps++ < TIMES)
		resume(slice + (how == 2 && steps % 2 == 0));
}

static long at_depth(void *argument)
{
	int number = *(int *)argument;

	drive(&slices[number], number * 19 % 90, number % 2);
	return 0;
}

static long twice_at_depth(void *argument)
{
	int number = *(int *)argument;

	drive(&slices[number], number * 19 % 90, 2);
	return 0;
}

int main(void)
{
	int number;

	for (number = 0; number < SLICES / 2; number++)
		wrong += deep(number * 5, at_depth, &number) != number * 5;
	for (; number < SLICES; number += 2)
		wrong += deep(number, twice_at_depth, &number) != number;
	for (number = 0; number < SLICES; number++)
		for (int i = 0; i < TIMES; i++)
			tgt_print("answer", slices[number].answers[i]);
	for (number = 0; number < SLICES; number++)
		if (slices[number].copy)
			tgt_free(slices[number].copy, 64 << 10);
	tgt_print("taken", taken);
	tgt_print("resumed", resumed);
	tgt_print("wrong", wrong);
	tgt_report();
	return wrong != 0;
}
