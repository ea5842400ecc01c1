// FLAGS: -lgnomon-stub -Wl,-rpath,$ORIGIN/.. -pthread
/*
 * renewed_threads.c THREADS ROUNDS: threads exchange blocks, as in exchange.c,
 * and now and then one of them clears the recording while it holds the lock, so
 * the right counts since then are known. A block from before the clear counts
 * no free, and its realloc is an allocation.
 */
#include <pthread.h>
#include <stdbool.h>

#include <gnomon/gnomon.h>

#include "tgt.h"

#define SLOTS 2048
#define THREADS_MAX 16
#define CLEARS 5

static struct {
	void *at;
	size_t size;
	unsigned born;		/* after so many clears */
} slots[SLOTS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static unsigned long rounds, turns, clear_at;
static unsigned clears;
static int threads;
static struct gnomon_summary now;

static void renew(void)
{
	if (turns++ != clear_at || clears == CLEARS)
		return;
	if (gnomon_clear() != 0 && gnomon_loaded())
		abort();
	clears++;
	clear_at += 1 + rounds * threads / (CLEARS + 1);
	memset(&tgt_counts, 0, sizeof(tgt_counts));
}

static void ended(unsigned slot)
{
	if (slots[slot].born != clears)
		return;
	tgt_counts.frees++;
	tgt_counts.freed_bytes += slots[slot].size;
}

static void turn(unsigned slot, size_t size, unsigned long round)
{
	void *old = slots[slot].at;

	if (old)
		ended(slot);
	if (old && round % 3 != 0) {
		free(old);
		slots[slot].at = NULL;
		return;
	}
	/* by some bytes: it stays in place as a rule */
	if (old && round % 2 == 0)
		size = slots[slot].size + 1;
	slots[slot].at = realloc(old, size);
	tgt_made(slots[slot].at, size);
	slots[slot].size = size;
	slots[slot].born = clears;
}

static void *work(void *argument)
{
	unsigned seed = (unsigned)(uintptr_t)argument;
	unsigned long i;

	free(malloc(100));
	pthread_barrier_wait(&barrier);
	for (i = 0; i < rounds; i++) {
		seed = seed * 1664525u + 1013904223u;
		pthread_mutex_lock(&lock);
		renew();
		turn((seed >> 8) % SLOTS, 1 + (seed >> 20) % 300, i);
		pthread_mutex_unlock(&lock);
	}
	pthread_barrier_wait(&barrier);
	return NULL;
}

/* What the recorder says while all is as it was counted. */
static void say_now(void)
{
	if (gnomon_summarize(GNOMON_ALL, &now) != 0)
		return;
	tgt_print("now_allocations", now.allocations);
	tgt_print("now_live", now.live_blocks);
	tgt_print("now_bytes", now.live_bytes);
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS_MAX];
	int i;

	threads = argc > 1 ? atoi(argv[1]) : 4;
	rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 20000;
	threads = threads < THREADS_MAX ? threads : THREADS_MAX;
	clear_at = rounds / 2 + (unsigned)getpid() % 1000;
	pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1);
	for (i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, work,
			       (void *)(uintptr_t)(7 * i + 1));
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	for (i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	say_now();
	tgt_report();
	return 0;
}
