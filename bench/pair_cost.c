/*
 * pair_cost.c: the cost of one malloc and one free, as the program sees it.
 * Prints one row as JSON. LD_PRELOAD adds a profiler.
 *
 *	bench-pairs THREADS PAIRS [WARM_UP]
 *
 * Each thread keeps 64 live blocks of 24, 72, 200 and 1024 bytes; a pair frees
 * one and allocates another in its place, from a stack of 24 to 33 frames:
 *
 *	clone3, start_thread, pair_thread	 3
 *	pair_f0 … pair_f7, again and again	17
 *	pair_loop				 1
 *	pair_f0 … pair_f7, entered for one pair	 2 … 11
 *	pair_exchange, the caller of malloc	 1
 *
 * Depth, size, slot and the first of the inner functions of each pair are drawn
 * once, before the clock starts, and the same for every run and thread. The
 * process reads both clocks itself, around the loop alone. If WARM_UP is given,
 * smaller than usual, it also prints addresses on stderr for
 * bench/bench_stores.py: the word that each pair stores to first, a place on
 * the first thread's stack, and the mappings.
 *
 * I1  The threads share nothing in the loop but the allocator (and whatever a
 *     profiler has them share).
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <valgrind/callgrind.h>

#define PAIR_SLOTS 64
#define PAIR_DRAWN 4096		/* pairs drawn; then they come again */
#define PAIR_OUTER 17
#define PAIR_INNER 2
#define PAIR_DEPTHS 10
#define PAIR_THREADS_MAX 64
#define PAIR_WARM_UP 20000

struct pair {
	uint16_t size;
	uint8_t slot, inner, first;
};

struct pair_work {
	void (*bottom)(struct pair_work *work);
	const struct pair *pair;
	void *live[PAIR_SLOTS];
	uint64_t count;
	uint64_t sum;
	uint64_t wall_ns, cpu_ns;
	void *stack;
};

typedef void pair_function(struct pair_work *work, unsigned left);
static pair_function *const pair_functions[8];

static struct pair pair_drawn[PAIR_DRAWN];
static pthread_barrier_t pair_barrier;
static uint64_t pair_warm_up = PAIR_WARM_UP;

/* One of the functions on the way to malloc. Frames are of many sizes, as
 * programs have them. What a function does after its call keeps it on the
 * stack and apart from the others. */
#define PAIR_FUNCTION(N, PAD)                                               \
	static __attribute__((noipa)) void pair_f##N(struct pair_work *work, \
						     unsigned left)         \
	{                                                                   \
		volatile char pad[PAD];                                     \
                                                                            \
		pad[0] = N;                                                 \
		if (left == 1)                                              \
			work->bottom(work);                                 \
		else                                                        \
			pair_functions[(N + 1) & 7](work, left - 1);        \
		work->sum += N + 1 + (uint64_t)pad[0];                      \
	}

PAIR_FUNCTION(0, 16)
PAIR_FUNCTION(1, 112)
PAIR_FUNCTION(2, 48)
PAIR_FUNCTION(3, 208)
PAIR_FUNCTION(4, 32)
PAIR_FUNCTION(5, 320)
PAIR_FUNCTION(6, 80)
PAIR_FUNCTION(7, 144)

static pair_function *const pair_functions[8] = {
	pair_f0, pair_f1, pair_f2, pair_f3,
	pair_f4, pair_f5, pair_f6, pair_f7,
};

static void pair_draw(void)
{
	static const uint16_t sizes[4] = { 24, 72, 200, 1024 };
	uint64_t random = 1;
	size_t i;

	for (i = 0; i < PAIR_DRAWN; i++) {
		random = random * UINT64_C(6364136223846793005) +
			 UINT64_C(1442695040888963407);
		pair_drawn[i].size = sizes[random >> 62];
		pair_drawn[i].slot = (random >> 50) % PAIR_SLOTS;
		pair_drawn[i].first = random >> 40 & 3;
		pair_drawn[i].inner =
			PAIR_INNER + (random >> 32 & 0xff) % PAIR_DEPTHS;
	}
}

static void pair_exchange(struct pair_work *work)
{
	const struct pair *pair = work->pair;
	char *block;

	free(work->live[pair->slot]);
	block = malloc(pair->size);
	if (!block)
		abort();
	*block = 1;
	work->live[pair->slot] = block;
}

static void pair_run(struct pair_work *work, uint64_t count)
{
	uint64_t i;

	for (i = 0; i < count; i++) {
		work->pair = &pair_drawn[i % PAIR_DRAWN];
		pair_functions[work->pair->first](work, work->pair->inner);
	}
}

static uint64_t pair_clock(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* At the bottom of the outer functions: warm up, wait for the other threads,
 * and take the time of `count` pairs. */
static void pair_loop(struct pair_work *work)
{
	work->bottom = pair_exchange;
	pair_run(work, pair_warm_up);
	pthread_barrier_wait(&pair_barrier);
	work->cpu_ns = pair_clock(CLOCK_THREAD_CPUTIME_ID);
	work->wall_ns = pair_clock(CLOCK_MONOTONIC);
	CALLGRIND_TOGGLE_COLLECT;
	pair_run(work, work->count);
	CALLGRIND_TOGGLE_COLLECT;
	work->wall_ns = pair_clock(CLOCK_MONOTONIC) - work->wall_ns;
	work->cpu_ns = pair_clock(CLOCK_THREAD_CPUTIME_ID) - work->cpu_ns;
}

static void *pair_thread(void *arg)
{
	struct pair_work *work = arg;
	unsigned i;

	work->stack = __builtin_frame_address(0);
	work->bottom = pair_loop;
	pair_f0(work, PAIR_OUTER);
	for (i = 0; i < PAIR_SLOTS; i++)
		free(work->live[i]);
	return work;
}

static void pair_tell_places(const struct pair_work *work)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];

	fprintf(stderr, "pair %p\nstack %p\n", (const void *)&work->pair,
		work->stack);
	while (maps && fgets(line, sizeof(line), maps))
		fputs(line, stderr);
	if (maps)
		fclose(maps);
}

int main(int argc, char **argv)
{
	static struct pair_work work[PAIR_THREADS_MAX];
	pthread_t thread[PAIR_THREADS_MAX];
	double wall = 0, cpu = 0;
	unsigned threads, i;
	uint64_t pairs;

	threads = argc >= 3 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
	pairs = argc >= 3 ? strtoull(argv[2], NULL, 10) : 0;
	if (argc > 3)
		pair_warm_up = strtoull(argv[3], NULL, 10);
	if (threads == 0 || threads > PAIR_THREADS_MAX || pairs == 0) {
		fprintf(stderr, "usage: bench-pairs THREADS PAIRS [WARM_UP]\n");
		return 2;
	}
	pair_draw();
	pthread_barrier_init(&pair_barrier, NULL, threads);
	for (i = 0; i < threads; i++) {
		work[i].count = pairs;
		if (pthread_create(&thread[i], NULL, pair_thread, &work[i])) {
			fprintf(stderr, "bench: no thread\n");
			return 1;
		}
	}
	for (i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
		wall += (double)work[i].wall_ns;
		cpu += (double)work[i].cpu_ns;
	}
	if (argc > 3)
		pair_tell_places(&work[0]);
	wall /= (double)threads * (double)pairs;
	cpu /= (double)threads * (double)pairs;
	printf("{\"threads\":%u,\"pairs\":%" PRIu64 ",\"ns\":%.2f,"
	       "\"cpu_ns\":%.2f}\n", threads, pairs, wall, cpu);
	return 0;
}
