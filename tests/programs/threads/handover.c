// FLAGS: -pthread
/*
 * handover.c [ROUNDS]: a thread that was alone for a while, so that it may use
 * a stamp twice (preload/ring/ring.h), exchanges blocks with one that wakes up:
 * one makes each block, the other frees it, and its address is reused at once.
 * Both run in lock step, so the order of all events is known: at most one large
 * block is live at any time.
 */
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "tgt.h"

#define LARGE 60000		/* too large for a cache of the C library's */
#define SMALL 40
#define EXCHANGES 10000		/* in a round */
#define ALONE_NS 15000000	/* longer than the recorder sleeps */

static struct {
	void *block;
	_Atomic unsigned turn;	/* whose it is: 0, 1 */
} table;
static int round_count = 12;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void alone(void)
{
	uint64_t end = now_ns() + ALONE_NS;

	while (now_ns() < end)
		for (int i = 0; i < 100; i++)
			tgt_free(tgt_malloc(SMALL), SMALL);
}

/* Frees the other's block, makes one for it. The last in a round is left to
 * be freed by the next one's first. */
static void exchange(unsigned self)
{
	for (int i = 0; i < EXCHANGES; i++) {
		while (table.turn != self)
			sched_yield();
		if (table.block)
			tgt_free(table.block, LARGE);
		table.block = tgt_malloc(LARGE);
		table.turn = !self;
	}
}

/* The one whose turn it is begins, alone at first: in one round this one, in
 * the next the other. */
static void *rounds(void *argument)
{
	unsigned self = argument != NULL;

	for (int i = 0; i < round_count; i++) {
		if (i % 2 == (int)self) {
			while (table.turn != self)
				sched_yield();
			alone();
		}
		exchange(self);
		/* it comes back once more: the other one begins */
		if (i % 2 == (int)self) {
			while (table.turn != self)
				sched_yield();
			table.turn = !self;
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t other;

	if (argc > 1)
		round_count = atoi(argv[1]);
	pthread_create(&other, NULL, rounds, &table);
	rounds(NULL);
	pthread_join(other, NULL);
	tgt_report();
	tgt_print("large", LARGE);
	return 0;
}
