// FLAGS: -pthread
/*
 * leaving.c WAY: exits other than the main thread's own return: by another
 * thread, without the main thread, through handlers that allocate and start
 * threads, while others still allocate. It prints its counts as late as the way
 * allows.
 */
#include <pthread.h>
#include <signal.h>

#include "tgt.h"

#define SIZE 120
#define LONG_ROUNDS 150
#define ROUND_US 3000

static const char *way;

static void use(int blocks)
{
	for (int i = 0; i < blocks; i++) {
		void *p = tgt_malloc(SIZE);

		if (i % 3)
			tgt_free(p, SIZE);
	}
}

static void *use_some(void *unused)
{
	use(50);
	return unused;
}

static void with_a_thread(void)
{
	pthread_t thread;

	use(20);
	if (pthread_create(&thread, NULL, use_some, NULL))
		abort();
	pthread_join(thread, NULL);
	use(20);
}

static void on_exit_handler(int status, void *unused)
{
	(void)unused;
	tgt_print("on_exit_status", status);
	with_a_thread();
}

static void *end_here(void *unused)
{
	use(100);
	if (!strcmp(way, "thread_exit"))
		exit(11);
	tgt_report();
	if (!strcmp(way, "thread__exit"))
		_exit(12);
	if (!strcmp(way, "thread_abort"))
		abort();
	if (!strcmp(way, "thread_fault"))
		*(volatile int *)8 = 1;
	return unused;
}

/* Longer than the recorder's looks are apart. */
static void *outlive(void *unused)
{
	for (int i = 0; i < LONG_ROUNDS; i++) {
		use(10);
		usleep(ROUND_US);
	}
	tgt_report();
	return unused;
}

/* Not counted: nobody knows how far it gets. */
static void *never_stop(void *unused)
{
	for (;;)
		free(realloc(malloc(33), 66));
	return unused;
}

static void start(void *(*function)(void *), int detached)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, NULL))
		abort();
	if (detached)
		pthread_detach(thread);
}

int main(int argc, char **argv)
{
	way = argc > 1 ? argv[1] : "";
	use(100);
	if (!strncmp(way, "thread_", 7)) {
		atexit(tgt_report);
		on_exit(on_exit_handler, NULL);
		start(end_here, 1);
		for (;;)
			pause();
	}
	if (!strcmp(way, "outlive")) {
		start(outlive, 1);
		pthread_exit(NULL);
	}
	if (!strcmp(way, "busy")) {
		for (int i = 0; i < 3; i++)
			start(never_stop, i & 1);
		usleep(50 * ROUND_US);
		use(1000);
		tgt_report();
		return 13;
	}
	/* "handlers", "quick": the first in is the last to run */
	atexit(tgt_report);
	atexit(with_a_thread);
	on_exit(on_exit_handler, NULL);
	at_quick_exit(tgt_report);
	at_quick_exit(with_a_thread);
	if (!strcmp(way, "quick"))
		quick_exit(14);
	exit(15);
}
