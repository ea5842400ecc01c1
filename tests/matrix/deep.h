/*
 * deep.h: how the matrix's targets get deep: a recursion that allocates at
 * every level on its way in and on its way out, so that captures happen at
 * all depths and whatever they leave in the stack is met by every return.
 *
 * Any thread, any stack.
 */
#ifndef GNOMON_TESTS_DEEP_H
#define GNOMON_TESTS_DEEP_H

#include "tgt.h"

#define DEEP_SIZE(depth) (16 + (size_t)(depth) % 50)

/* What runs at the bottom; its answer goes up, one added at each level. */
typedef long (*deep_bottom)(void *argument);

TGT_FUNCTION long deep(int depth, deep_bottom bottom, void *argument)
{
	void *block = tgt_malloc(DEEP_SIZE(depth));
	long answer;

	if (depth == 0)
		answer = bottom(argument);
	else
		answer = deep(depth - 1, bottom, argument) + 1;
	tgt_free(tgt_malloc(9), 9);
	tgt_free(block, DEEP_SIZE(depth));
	return answer;
}

/* The same with frames of another size, so that slots fall elsewhere and what
 * deep() left behind lies among the locals here. */
TGT_FUNCTION long deep_wide(int depth, deep_bottom bottom, void *argument)
{
	volatile char space[136];
	void *block = tgt_malloc(DEEP_SIZE(depth));
	long answer;

	space[depth % 136] = (char)depth;
	if (depth == 0)
		answer = bottom(argument);
	else if (depth % 3)
		answer = deep_wide(depth - 1, bottom, argument) + 1;
	else
		answer = deep(depth - 1, bottom, argument) + 1;
	tgt_free(tgt_malloc(11), 11);
	tgt_free(block, DEEP_SIZE(depth));
	return answer + (space[depth % 136] != (char)depth);
}

/* A bottom that only allocates. */
TGT_FUNCTION long deep_nothing(void *argument)
{
	(void)argument;
	tgt_free(tgt_malloc(13), 13);
	return 0;
}

#endif
