// FLAGS: -lpthread
/*
 * arena_locks.c WHAT: glibc's arenas, and threads that may or may not query
 * them.
 *
 *   free      makes blocks and frees each second one; then makes and frees
 *             one now and then for half a second. Prints what mallinfo2 says
 *             before and after that
 *   threads   the same, but the blocks are of four threads, which end
 *   handler   only a signal's handler allocates, while the program computes
 *   inside    a timer's signal interrupts malloc_trim, which holds a lock;
 *             the handler takes and returns a block for which the C library
 *             needs none. What it interrupts must not be entered again
 *   leave     the same, and the handler ends the program
 */
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/time.h>
#include <time.h>

#include "tgt.h"

#define THREADS 4
#define BLOCKS 1000
#define BLOCK 3000		/* too large for a thread's own cache */
#define PERIOD_US 100
#define LARGE 40000

static void *blocks[THREADS][BLOCKS];
static void *kept;
static volatile unsigned handled;
static unsigned leave_at;

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static void *work(void *arg)
{
	void **mine = arg;

	for (int i = 0; i < BLOCKS; i++)
		mine[i] = tgt_malloc(BLOCK);
	for (int i = 0; i < BLOCKS; i += 2)
		tgt_free(mine[i], BLOCK);
	return NULL;
}

static void print_arenas(const char *when)
{
	struct mallinfo2 info = mallinfo2();

	printf("%s %zu %zu %zu\n", when, info.arena, info.fordblks,
	       info.hblkhd);
}

static void free_half(bool threads)
{
	struct timespec pause = { 0, 2000000 };
	pthread_t thread[THREADS];
	double end;

	setvbuf(stdout, NULL, _IONBF, 0);
	for (int i = 0; i < THREADS; i++)
		if (!threads)
			work(blocks[i]);
		else if (pthread_create(&thread[i], NULL, work, blocks[i]))
			abort();
	for (int i = 0; threads && i < THREADS; i++)
		pthread_join(thread[i], NULL);
	print_arenas("before");
	for (end = seconds() + 0.5; seconds() < end;) {
		tgt_free(tgt_malloc(100), 100);
		nanosleep(&pause, NULL);
	}
	print_arenas("after");
}

static void handler(int number)
{
	(void)number;
	free(kept);
	kept = malloc(24);
	if (++handled == leave_at)
		exit(3);
}

static void ticking(void)
{
	struct itimerval timer = { { 0, PERIOD_US }, { 0, PERIOD_US } };

	kept = malloc(24);
	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &timer, NULL);
}

static void quiet(void)
{
	struct itimerval none = { { 0, 0 }, { 0, 0 } };

	setitimer(ITIMER_REAL, &none, NULL);
}

static void compute(void)
{
	double end = seconds() + 0.5;
	volatile unsigned sum = 0;

	ticking();
	while (seconds() < end)
		sum += 1;
	quiet();
}

static void interrupted(void)
{
	double end = seconds() + 1;
	unsigned seed = 1;
	void *p[16] = { NULL };

	/* with one thread malloc takes no lock, but malloc_trim does */
	ticking();
	while (seconds() < end)
		for (int i = 0; i < 100; i++) {
			seed = seed * 1103515245u + 12345u;
			free(p[seed >> 8 & 15]);
			p[seed >> 8 & 15] = malloc(LARGE + (seed >> 16));
			malloc_trim(0);
		}
	quiet();
	printf("handled %s\n", handled > 100 ? "many" : "few");
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	if (!strcmp(what, "free") || !strcmp(what, "threads"))
		free_half(!strcmp(what, "threads"));
	else if (!strcmp(what, "handler"))
		compute();
	else if (!strcmp(what, "leave"))
		leave_at = 500;
	if (!strcmp(what, "inside") || leave_at)
		interrupted();
	return 0;
}
