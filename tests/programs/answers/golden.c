// FLAGS: -pthread
/*
 * golden.c WAY: does the same each time, for traces that are kept
 * (tests/tools/record-traces). WAY is "calm"; "killed", calm with SIGKILL for
 * an end; "flood", so many events that a small ring overflows; "parent", which
 * has a child, and prints the counts of both; or "damage": a byte
 * is written behind a block, where it harms nobody.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "tgt.h"

#define KEPT 60
#define FLOOD 40000

static void *kept[KEPT];

static size_t size_of(int i)
{
	return 16 + (size_t)(i * 37 % 500);
}

static __attribute__((noinline)) void keep(int from, int to)
{
	for (int i = from; i < to; i++)
		kept[i] = tgt_malloc(size_of(i));
}

static __attribute__((noinline)) void let_go(int from, int to)
{
	for (int i = from; i < to; i++)
		tgt_free(kept[i], size_of(i));
}

/* A buffer that grows, and one that is zeroed. */
static __attribute__((noinline)) void grow(void)
{
	void *buffer = NULL;
	size_t size = 0;

	for (int i = 1; i <= 10; i++) {
		buffer = tgt_realloc(buffer, size, i * 100);
		size = i * 100;
	}
	tgt_free(buffer, size);
	tgt_free(tgt_calloc(7, 300), 2100);
}

static __attribute__((noinline)) void churn(int times)
{
	for (int i = 0; i < times; i++)
		tgt_free(tgt_malloc(size_of(i)), size_of(i));
}

static void *work(void *unused)
{
	grow();
	churn(40);
	let_go(0, KEPT / 4);
	return unused;
}

/* Threads one after the other: what each does is its own, and so is the
 * order. */
static void thread(void)
{
	pthread_t id;

	if (pthread_create(&id, NULL, work, NULL) != 0)
		abort();
	pthread_join(id, NULL);
}

static void calm(void)
{
	keep(0, KEPT);
	grow();
	thread();
	keep(0, KEPT / 4);
	thread();
	let_go(KEPT / 2, KEPT * 3 / 4);
}

static void parent(void)
{
	pid_t child;

	keep(0, KEPT / 2);
	child = fork();
	if (child == 0) {
		memset(&tgt_counts, 0, sizeof(tgt_counts));
		churn(50);
		keep(KEPT / 2, KEPT);
		tgt_write("child\n");
		tgt_report();
		_exit(0);
	}
	waitpid(child, NULL, 0);
	grow();
	tgt_write("parent\n");
}

static void damage(void)
{
	volatile char *block = tgt_malloc(20);

	block[20] = 1;
	tgt_free((void *)block, 20);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	if (strcmp(way, "calm") == 0 || strcmp(way, "killed") == 0)
		calm();
	else if (strcmp(way, "flood") == 0)
		churn(FLOOD);
	else if (strcmp(way, "parent") == 0)
		parent();
	else if (strcmp(way, "damage") == 0)
		damage();
	else
		return 2;
	tgt_report();
	if (strcmp(way, "killed") == 0)
		raise(SIGKILL);
	return 0;
}
