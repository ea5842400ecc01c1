// FLAGS: -lbump
/*
 * alarm_throws.cc: a fast timer interrupts a program that throws, so also the
 * unwinder of the C++ run-time and the profiler; the handler itself throws and
 * catches across frames that allocate, then returns into the middle of it all.
 *
 * Over the allocator of libbump.so, which may be interrupted anywhere.
 */
#include <signal.h>
#include <sys/time.h>

#include "deep.h"

#define SIGNALS 300
#define PERIOD_US 80

static uint64_t made, gone, guards_made, guards_gone, wrong;
static volatile unsigned handled;

struct failure {
	int depth;
	explicit failure(int d) : depth(d) { TGT_ADD(made, 1); }
	failure(const failure &o) : depth(o.depth) { TGT_ADD(made, 1); }
	~failure() { TGT_ADD(gone, 1); }
};

struct guard {
	void *block = tgt_malloc(25);
	guard() { TGT_ADD(guards_made, 1); }
	~guard()
	{
		tgt_free(block, 25);
		TGT_ADD(guards_gone, 1);
	}
};

static int descend(int depth, int bottom)
{
	guard local;

	if (depth == bottom)
		throw failure(depth);
	return descend(depth + 1, bottom) + 1;
}

static void across(int frames)
{
	int at = -1;

	try {
		descend(0, frames);
	} catch (const failure &f) {
		guard in_handler;
		at = f.depth;
	}
	if (at != frames)
		TGT_ADD(wrong, 1);
}

static void arm(void)
{
	struct itimerval timer = { { 0, 0 }, { 0, PERIOD_US } };

	setitimer(ITIMER_REAL, &timer, nullptr);
}

static void handler(int)
{
	unsigned n = handled++;

	across(n % 30);
	deep(n % 9, deep_nothing, nullptr);
	arm();
}

static long work(void *)
{
	for (int i = 0; i < 20; i++)
		across(i * 7 % 40);
	return 0;
}

int main()
{
	long rounds = 0;

	signal(SIGALRM, handler);
	arm();
	while (handled < SIGNALS) {
		long depth = rounds++ * 11 % 60;

		wrong += deep((int)depth, work, nullptr) != depth;
	}
	signal(SIGALRM, SIG_IGN);
	tgt_print("exceptions_alive", made - gone);
	tgt_print("guards_alive", guards_made - guards_gone);
	tgt_print("blocks_alive", tgt_counts.allocations - tgt_counts.frees);
	tgt_print("wrong", wrong);
	return wrong || made != gone || guards_made != guards_gone;
}
