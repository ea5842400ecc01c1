/*
 * api_recording.c: a program that controls its own recording: allocations while
 * it is off, or before a clear, do not count. The functions' names say which
 * API call each tests.
 */
// FLAGS: -lgnomon-stub -Wl,-rpath,$ORIGIN/.. -pthread
#include "tgt.h"

#include <errno.h>
#include <gnomon/gnomon.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#define BLOCKS 1000

static void *kept[BLOCKS];
static int wrong;

static void expect(const char *what, long got, long wanted)
{
	if (got == wanted)
		return;
	wrong = 1;
	tgt_write(what);
	tgt_write(": wrong\n");
	tgt_print("got", (uint64_t)got);
	tgt_print("wanted", (uint64_t)wanted);
}

/* Not counted. */
static void make_unseen(void)
{
	int i;

	for (i = 0; i < BLOCKS; i++)
		kept[i] = malloc(100);
}

static void free_unseen(void)
{
	int i;

	for (i = 0; i < BLOCKS; i++)
		free(kept[i]);
}

static void *churn(void *stop)
{
	/* always, so that it is in the midst of it at each change */
	while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED))
		free(malloc(33));
	return NULL;
}

/* In the last recording, what is counted: tgt_*. */
static void counted(void)
{
	int i;

	for (i = 0; i < BLOCKS; i++)
		kept[i] = tgt_malloc(50 + i);
	for (i = 0; i < BLOCKS; i += 3)
		tgt_free(kept[i], 50 + i);
}

static void on_signal(int number)
{
	(void)number;
	expect("active in a handler", gnomon_active(GNOMON_THREAD), 1);
	expect("marker in a handler", gnomon_marker("handler"), 0);
}

static void child(int off)
{
	expect("loaded in a child", gnomon_loaded(), 1);
	expect("enabled in a child", gnomon_enabled(), !off);
	expect("child disables", gnomon_disable(), 0);
	expect("disabled in a child", gnomon_enabled(), 0);
	_exit(wrong);
}

int main(void)
{
	int stop = 0, status, off = getenv("API_OFF") != NULL;
	pthread_t thread;
	pid_t pid;

	if (!gnomon_loaded()) {
		expect("stub", gnomon_enable(), GNOMON_STUB);
		expect("stub's clear", gnomon_clear(), GNOMON_STUB);
		expect("stub is enabled", gnomon_enabled(), 0);
		return wrong;
	}
	expect("enabled at first", gnomon_enabled(), !off);
	pthread_create(&thread, NULL, churn, &stop);
	make_unseen();
	expect("disable", gnomon_disable(), 0);
	expect("disable twice", gnomon_disable(), 0);
	expect("enabled", gnomon_enabled(), 0);
	expect("active", gnomon_active(GNOMON_THREAD), 0);
	free_unseen();
	make_unseen();
	expect("enable", gnomon_enable(), 0);
	expect("enable twice", gnomon_enable(), 0);
	expect("enabled again", gnomon_enabled(), 1);
	expect("active again", gnomon_active(GNOMON_THREAD), 1);
	free_unseen();
	make_unseen();
	expect("clear", gnomon_clear(), 0);
	free_unseen();
	counted();
	expect("marker", gnomon_marker("counted"), 0);
	expect("no name", gnomon_marker(""), -EINVAL);
	expect("snapshot", gnomon_snapshot("full"), 0);
	expect("every", gnomon_snapshot_every(20000000), 0);
	expect("too often", gnomon_snapshot_every(1), -EINVAL);
	expect("not every", gnomon_snapshot_every(0), 0);
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	pid = fork();
	if (!pid)
		child(off);
	waitpid(pid, &status, 0);
	expect("child", status, 0);
	stop = 1;
	pthread_join(thread, NULL);
	expect("sync", gnomon_sync(), 0);
	tgt_report();
	return wrong;
}
