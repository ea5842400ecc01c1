// CC: musl-gcc
// FLAGS: -pthread -D_GNU_SOURCE -ldl
/*
 * musl_life.c PATH WAY: phases of a musl process: "threads" (a thousand, with
 * thread-specific data freed at their ends), "fork" (children that allocate and
 * report), "load" (a library is loaded and unloaded; musl keeps it), "small"
 * (threads on the smallest stacks), "leave" (the main thread ends first),
 * "exit" (handlers that allocate).
 */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <sys/wait.h>

#include "tgt.h"

#define THREADS 1000
#define AT_ONCE 200
#define SMALL 8192
#define CHILDREN 5

static pthread_key_t key;

/* Called again while there is something left. */
static void at_thread_end(void *value)
{
	uintptr_t left = (uintptr_t)value;

	tgt_free(tgt_malloc(90), 90);
	if (left > 1)
		pthread_setspecific(key, (void *)(left - 1));
}

static void *work(void *unused)
{
	pthread_setspecific(key, (void *)2);
	for (int i = 0; i < 10; i++)
		tgt_free(tgt_malloc(20 + i), 20 + i);
	tgt_malloc(8);
	return unused;
}

static void run(int count, size_t stack)
{
	pthread_t thread[AT_ONCE];
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	if (stack && pthread_attr_setstacksize(&attributes, stack))
		abort();
	for (int i = 0; i < count; i++)
		if (pthread_create(&thread[i], &attributes, work, NULL))
			abort();
	for (int i = 0; i < count; i++)
		pthread_join(thread[i], NULL);
}

/* A child's numbers are its own: it prints them where it is told to. */
static void child(int number)
{
	memset(&tgt_counts, 0, sizeof(tgt_counts));
	run(3, 0);
	for (int i = 0; i <= number; i++)
		tgt_malloc(33);
	tgt_print("child", number);
	tgt_report();
	_exit(0);
}

static void forks(void)
{
	run(5, 0);
	for (int i = 0; i < CHILDREN; i++) {
		if (fork() == 0)
			child(i);
		wait(NULL);
	}
	tgt_print("parent", 0);
}

static void *outlive(void *unused)
{
	for (int i = 0; i < 100; i++) {
		tgt_malloc(12);
		usleep(4000);
	}
	tgt_report();
	return unused;
}

int main(int argc, char **argv)
{
	const char *way = argc > 2 ? argv[2] : "";
	pthread_t thread;

	pthread_key_create(&key, at_thread_end);
	if (!strcmp(way, "leave")) {
		pthread_create(&thread, NULL, outlive, NULL);
		pthread_exit(NULL);
	}
	if (!strcmp(way, "exit"))
		atexit(tgt_report);
	if (!strcmp(way, "threads"))
		for (int i = 0; i < THREADS; i += AT_ONCE)
			run(AT_ONCE, 0);
	if (!strcmp(way, "small"))
		run(AT_ONCE, argc > 3 ? atoi(argv[3]) : SMALL);
	if (!strcmp(way, "fork"))
		forks();
	for (int i = 0; i < 20 && !strcmp(way, "load"); i++) {
		void *library = dlopen(argv[1], RTLD_NOW);

		if (!library || dlclose(library))
			abort();
	}
	run(2, 0);
	if (!strcmp(way, "exit"))
		exit(21);
	tgt_report();
	return 0;
}
