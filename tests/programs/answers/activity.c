/*
 * activity.c: prints which threads and sizes are recorded. tgt_* functions
 * allocate the recorded blocks; the other blocks are only counted.
 */
// FLAGS: -lgnomon-stub -Wl,-rpath,$ORIGIN/.. -pthread
#include "tgt.h"

#include <gnomon/gnomon.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#define BLOCKS 300

static uint64_t rest_blocks, rest_bytes;
static int wrong, phase, reached;

static void expect(const char *what, long got, long wanted)
{
	if (got == wanted)
		return;
	wrong = 1;
	tgt_write(what);
	tgt_write(": wrong\n");
}

/* Not recorded, for its thread or its size; what is freed is of no matter. */
static void unseen(size_t size)
{
	void *p[BLOCKS];
	int i;

	for (i = 0; i < BLOCKS; i++) {
		p[i] = i % 3 ? malloc(size) : calloc(1, size);
		TGT_ADD(rest_blocks, 1);
		TGT_ADD(rest_bytes, size);
	}
	for (i = 0; i < BLOCKS; i++) {
		if (i % 5) {
			free(p[i]);
			continue;
		}
		tgt_sink = realloc(p[i], size + 1);
		TGT_ADD(rest_blocks, 1);
		TGT_ADD(rest_bytes, size + 1);
	}
}

static void seen(size_t size)
{
	void *p[BLOCKS];
	int i;

	for (i = 0; i < BLOCKS; i++)
		p[i] = tgt_malloc(size);
	for (i = 0; i < BLOCKS; i++)
		if (i % 5)
			tgt_free(p[i], size);
		else
			tgt_realloc(p[i], size, size + 1);
}

static void *new_thread(void *unused)
{
	expect("a new thread is active", gnomon_active(GNOMON_THREAD), 0);
	unseen(40);
	expect("activate itself", gnomon_activate(GNOMON_THREAD), 0);
	expect("active itself", gnomon_active(GNOMON_THREAD), 1);
	seen(60);
	return unused;
}

static void wait_for(int *word, int value)
{
	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value)
		sched_yield();
}

/* One that runs: at each phase it first notices what has changed, with blocks
 * that are not counted by anybody. */
static void *running(void *unused)
{
	int i;

	for (i = 1; i <= 3; i++) {
		wait_for(&phase, i);
		free(malloc(1));
		free(malloc(1));
		expect("a running thread", gnomon_active(GNOMON_THREAD),
		       i != 2);
		if (i == 2)
			unseen(70);
		else
			seen(70);
		__atomic_store_n(&reached, i, __ATOMIC_RELEASE);
	}
	return unused;
}

static void on_signal(int number)
{
	expect("from a handler", number == SIGUSR1 ?
					 gnomon_deactivate(GNOMON_THREAD) :
					 gnomon_activate(GNOMON_THREAD), 0);
}

static void all_threads(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, running, NULL);
	__atomic_store_n(&phase, 1, __ATOMIC_RELEASE);
	wait_for(&reached, 1);
	gnomon_deactivate(GNOMON_ALL);
	unseen(90);
	__atomic_store_n(&phase, 2, __ATOMIC_RELEASE);
	wait_for(&reached, 2);
	gnomon_activate(GNOMON_ALL);
	seen(90);
	__atomic_store_n(&phase, 3, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
}

static void sizes(void)
{
	expect("limit", gnomon_limit_sizes(100, 200), 0);
	unseen(50);
	seen(150);
	unseen(300);
	expect("limit", gnomon_limit_sizes(0, 100), 0);
	seen(80);
	unseen(101);
	expect("limit", gnomon_limit_sizes(0, 0), 0);
	seen(1000);
	expect("limits", gnomon_limit_sizes(2, 1), -22);
}

int main(void)
{
	pthread_t thread;

	gnomon_deactivate(GNOMON_THREAD);
	unseen(10);
	gnomon_activate(GNOMON_THREAD);
	seen(20);
	gnomon_deactivate(GNOMON_NEW);
	pthread_create(&thread, NULL, new_thread, NULL);
	pthread_join(thread, NULL);
	gnomon_activate(GNOMON_NEW);
	seen(30);
	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, on_signal);
	raise(SIGUSR1);
	unseen(11);
	raise(SIGUSR2);
	seen(12);
	all_threads();
	sizes();
	tgt_report();
	tgt_print("rest_blocks", rest_blocks);
	tgt_print("rest_bytes", rest_bytes);
	return wrong;
}
