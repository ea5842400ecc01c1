/*
 * lang_deep.c: a deep stack of two functions in turn, each of which allocates
 * on the way down and on the way up, for tools that look at it from outside.
 * What is done at its bottom is the argument: "stop" (nothing: for a break
 * point on bottom), "wait" (says so, until standard input ends), "spin" (uses
 * the processor for SPIN_US, without a system call).
 */
#include <signal.h>
#include <sys/time.h>

#include "tgt.h"

#define DEPTH 60
#define SPIN_US 400000

static volatile sig_atomic_t spun;

static void enough(int number)
{
	(void)number;
	spun = 1;
}

/* In processor time, which passes as fast on any machine. */
static void begin_to_spin(void)
{
	struct itimerval time = { .it_value.tv_usec = SPIN_US };

	if (signal(SIGVTALRM, enough) == SIG_ERR ||
	    setitimer(ITIMER_VIRTUAL, &time, NULL))
		abort();
}

__attribute__((noinline)) void bottom(const char *what)
{
	char c;

	if (!strcmp(what, "wait")) {
		tgt_write("ready\n");
		if (read(STDIN_FILENO, &c, 1) < 0)
			abort();
	} else if (!strcmp(what, "spin")) {
		begin_to_spin();
		while (!spun)
			;
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
