/*
 * tables.c: known values for every table of a report: blocks of known
 * functions, sizes, threads, times. With an argument it forks first, and both
 * processes do the same.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>

#include "tgt.h"

#define LARGE 5000
#define SMALL 48
#define ODD 777
#define PAUSE_MS 30

static void *kept[64];
static int kept_count;

static void pause_ms(long ms)
{
	const struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

/* Three that stay: live, the largest blocks. */
__attribute__((noinline)) static void keep_large(void)
{
	for (int i = 0; i < 3; i++)
		kept[kept_count++] = tgt_malloc(LARGE + (size_t)i);
}

/* A hundred that go at once: count, temporary. */
__attribute__((noinline)) static void churn_small(void)
{
	for (int i = 0; i < 100; i++)
		tgt_free(tgt_malloc(SMALL), SMALL);
}

/* One at each level, freed on the way back. */
__attribute__((noinline)) static void descend(int level)
{
	void *p;

	if (level == 0)
		return;
	p = tgt_malloc(200);
	descend(level - 1);
	tgt_free(p, 200);
}

/* Two that live for a while: lifetime. */
__attribute__((noinline)) static void hold(void)
{
	void *a = tgt_malloc(9000), *b = tgt_malloc(9000);

	pause_ms(PAUSE_MS);
	tgt_free(a, 9000);
	tgt_free(b, 9000);
}

static void *work(void *unused)
{
	(void)unused;
	pthread_setname_np(pthread_self(), "worker");
	for (int i = 0; i < 10; i++)
		kept[kept_count++] = tgt_malloc(ODD);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	(void)argv;
	if (argc > 1 && fork() != 0)
		wait(NULL);
	keep_large();
	churn_small();
	descend(30);
	hold();
	if (pthread_create(&thread, NULL, work, NULL) != 0)
		abort();
	pthread_join(thread, NULL);
	tgt_report();
	tgt_print("large_bytes", 3 * LARGE + 3);
	tgt_print("pause_ns", PAUSE_MS * 1000000ull);
	return 0;
}
