/*
 * lang_deep.c: a deep stack of two functions in turn, each of which allocates
 * on the way down and on the way up, for tools that look at it from outside.
 * What is done at its bottom is the argument: "stop" (nothing: for a break
 * point on bottom), "wait" (says so, until standard input ends), "spin" (uses
 * the processor, without a system call).
 */
#include "tgt.h"

#define DEPTH 60
#define SPINS 150000000u

static volatile unsigned spun;

__attribute__((noinline)) void bottom(const char *what)
{
	char c;

	if (!strcmp(what, "wait")) {
		tgt_write("ready\n");
		if (read(STDIN_FILENO, &c, 1) < 0)
			abort();
	} else if (!strcmp(what, "spin")) {
		while (spun < SPINS)
			spun++;
	}
}

static int odd(int depth, const char *what);

static __attribute__((noinline)) int even(int depth, const char *what)
{
	void *block = tgt_malloc(depth + 1);
	int below = 0;

	if (depth == DEPTH)
		bottom(what);
	else
		below = odd(depth + 1, what);
	tgt_free(block, depth + 1);
	tgt_free(tgt_malloc(33), 33);
	return below + 1;
}

static __attribute__((noinline)) int odd(int depth, const char *what)
{
	void *block = tgt_malloc(depth + 1);
	int below = even(depth + 1, what);

	tgt_free(block, depth + 1);
	return below + 1;
}

int main(int argc, char **argv)
{
	/* The second time the stack is one that was met before. */
	int frames = even(2, "") + even(0, argc > 1 ? argv[1] : "");

	tgt_print("frames", frames);
	tgt_report();
	return 0;
}
