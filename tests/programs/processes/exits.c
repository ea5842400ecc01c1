// FLAGS: -pthread -Wno-infinite-recursion
/*
 * exits.c WAY: allocates with four threads, reports, and exits in the named
 * way. The trace must have everything counted before.
 */
#include <pthread.h>
#include <signal.h>

#include "tgt.h"

#define THREADS 4
#define BLOCKS 3000

static pthread_barrier_t done;

static void *work(void *argument)
{
	for (int i = 0; i < BLOCKS; i++) {
		void *p = tgt_malloc(100 + i % 50);

		if (i % 3)
			tgt_free(p, 100 + i % 50);
	}
	pthread_barrier_wait(&done);
	if (argument)
		for (;;)
			pause();
	return NULL;
}

static void end_by_main_thread_exit(void)
{
	/* The thread that outlives main ends the process. */
	pthread_exit(NULL);
}

/* Long after main another thread still allocates, counts, and ends it. */
static void *go_on(void *argument)
{
	(void)argument;
	for (int i = 0; i < 100; i++) {
		tgt_free(tgt_malloc(100), 100);
		usleep(5000);
	}
	tgt_report();
	exit(7);
}

static void end_main_early(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, go_on, NULL) == 0)
		pthread_exit(NULL);
}

static void end_by_fault(void)
{
	*(volatile int *)8 = 1;
}

/* Runs out of stack while it allocates. */
static void overflow(int depth)
{
	volatile char room[1000];

	room[0] = depth;
	if (depth % 100 == 0)
		tgt_sink = malloc(16);
	overflow(depth + 1);
	room[1] = room[0];
}

static void end(const char *way)
{
	if (!strcmp(way, "exit"))
		exit(3);
	if (!strcmp(way, "_exit"))
		_exit(4);
	if (!strcmp(way, "quick_exit"))
		quick_exit(5);
	if (!strcmp(way, "abort"))
		abort();
	if (!strcmp(way, "segv"))
		end_by_fault();
	if (!strcmp(way, "overflow"))
		overflow(0);
	if (!strcmp(way, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(way, "term"))
		raise(SIGTERM);
	if (!strcmp(way, "pthread_exit"))
		end_by_main_thread_exit();
	if (!strcmp(way, "outlive"))
		end_main_early();
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "return";
	/* Threads that still live at the end, but for pthread_exit. */
	int stay = strcmp(way, "pthread_exit") && strcmp(way, "return");
	pthread_t thread[THREADS];

	pthread_barrier_init(&done, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, work, stay ? &done : NULL);
	pthread_barrier_wait(&done);
	tgt_report();
	end(way);
	return 6;
}
