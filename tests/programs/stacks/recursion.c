/*
 * recursion.c DEPTH: allocates at the innermost of DEPTH frames, every 1000
 * frames on the way down, and again on the way back. The stack must reach main
 * with all frames counted.
 */
#include "tgt.h"

static int full_depth;

static __attribute__((noinline)) void recurse(int depth)
{
	if (depth == 0) {
		tgt_malloc(77777);
		return;
	}
	if (depth % 1000 == 0)
		tgt_malloc(1000);
	recurse(depth - 1);
	if (depth % 1000 == 0)
		tgt_malloc(2000);
}

int main(int argc, char **argv)
{
	full_depth = argc > 1 ? atoi(argv[1]) : 10000;
	recurse(full_depth);
	tgt_report();
	/* recurse() is active once for each number from full_depth to 0. */
	tgt_print("bottom_recurse_frames", full_depth + 1);
	return 0;
}
