/*
 * replay_player.c: performs a program's allocator calls, as `gnomon export
 * --format replay` wrote them (cli/export/replay_stream.h), with the allocator
 * of this process, and prints their cost:
 *
 *	replay FILE
 *	LD_PRELOAD=libjemalloc.so.2 replay --json FILE
 *	zstd -dc FILE.zst | replay -
 *
 * Operations run in their recorded order. With --threads each is done by the
 * player thread of the recorded one, one at a time: a baton passes from thread
 * to thread. So the allocator places blocks for this thread, and they are freed
 * by the thread that freed them. Contention between threads is not measured.
 * Passing the baton costs time, so the output has its count.
 *
 * The player writes a byte to each page of a block (--touch), as otherwise none
 * of it would be resident. Its own memory is mapped, not allocated, and is
 * subtracted.
 *
 *  R1  Whatever the stream contains, memory is only touched inside of live
 *      blocks, and live bytes stay below the limit.
 *  R2  One thread at a time has the baton, and owns all state.
 *  R3  The stream is hostile: a violation of I1 … I3 of replay_stream.h ends
 *      the replay with a message, and exit status 1.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "bench/replay_input.h"
#include "bench/replay_resident.h"
#include "cli/export/replay_stream.h"

#define SLOTS_MAX (UINT64_C(1) << 32)
#define SLOTS_FIRST 4096
#define THREADS_MAX 1024	/* of --threads: stacks are memory, too */
#define SAMPLE_EVERY 4096	/* operations between looks at what is
				 * resident: each is a system call */
#define TOUCH_STEP 4096		/* the smallest page there is */

enum touch { TOUCH_NONE, TOUCH_PAGES, TOUCH_ALL };

struct slot {
	void *block;		/* NULL: empty */
	uint64_t size;
};

static struct {
	enum touch touch;
	bool check_only, json, threads, pace;
	uint64_t limit;		/* of live bytes */
	const char *path;
} options = { .touch = TOUCH_PAGES };

static struct {
	struct slot *list;
	uint64_t count, capacity;
} slots;

static struct {
	uint64_t totals[REPLAY_TOTALS];
	uint64_t operations, lost, handed_over;
	uint64_t recorded_ns;	/* sum of TIMEs */
	uint64_t elapsed_ns;
	uint64_t begun_ns;
	uint64_t base;		/* resident bytes before anything */
	uint64_t resident_most, resident_end;	/* above that */
	double resident_sum, live_sum;	/* over samples */
} run;

static struct {
	sem_t go[THREADS_MAX];	/* the baton */
	pthread_t ids[THREADS_MAX];
	uint64_t count;
	uint64_t current;
	sem_t done;
} threads;

/* ---- memory ---- */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* What is there but for us. */
static uint64_t above_base(uint64_t resident)
{
	uint64_t own = run.base + slots.count * sizeof(struct slot);

	return resident > own ? resident - own : 0;
}

static void take_sample(void)
{
	uint64_t resident = above_base(resident_bytes());

	if (resident > run.resident_most)
		run.resident_most = resident;
	run.resident_sum += (double)resident;
	run.live_sum += (double)run.totals[REPLAY_LIVE_BYTES];
}

static void take_last_sample(void)
{
	uint64_t most = above_base(resident_peak());

	take_sample();
	run.resident_end = above_base(resident_bytes());
	if (most > run.resident_most)
		run.resident_most = most;
}

/* R1. `from`: what was written to before. */
static void touch(void *block, uint64_t from, uint64_t size)
{
	volatile uint8_t *bytes = block;

	if (options.touch == TOUCH_NONE || from >= size)
		return;
	if (options.touch == TOUCH_ALL) {
		memset((uint8_t *)block + from, 0x5a, size - from);
		return;
	}
	for (uint64_t i = from; i < size; i += TOUCH_STEP)
		bytes[i] = 0x5a;
	bytes[size - 1] = 0x5a;
}

/* ---- slots ---- */

static void grow_slots(void)
{
	uint64_t capacity = slots.capacity ? slots.capacity * 2 : SLOTS_FIRST;
	void *list;

	if (slots.capacity == 0)
		list = mmap(NULL, capacity * sizeof(struct slot),
			    PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	else
		list = mremap(slots.list, slots.capacity * sizeof(struct slot),
			      capacity * sizeof(struct slot), MREMAP_MAYMOVE);
	if (list == MAP_FAILED)
		input_fail("no memory for %" PRIu64 " slots: %s", capacity,
		     strerror(errno));
	slots.list = list;
	slots.capacity = capacity;
}

static struct slot *live_slot(const char *what)
{
	uint64_t number = input_number();

	if (number >= slots.count || slots.list[number].block == NULL)
		input_fail("%s of slot %" PRIu64 ", in which there is no block",
		     what, number);
	return &slots.list[number];
}

static struct slot *empty_slot(void)
{
	uint64_t number = input_number();

	if (number > slots.count || number >= SLOTS_MAX)
		input_fail("slot %" PRIu64 " is beyond the next new one, %" PRIu64,
		     number, slots.count);
	if (number == slots.capacity)
		grow_slots();
	if (number == slots.count)
		slots.count++;
	else if (slots.list[number].block != NULL)
		input_fail("slot %" PRIu64 " has a block already", number);
	return &slots.list[number];
}

/* ---- operations ---- */

static uint64_t next_size(uint64_t old)
{
	uint64_t size = input_number();
	uint64_t live = run.totals[REPLAY_LIVE_BYTES] - old;

	if (!options.check_only && options.touch != TOUCH_NONE &&
	    (size > options.limit || live > options.limit - size))
		input_fail("%" PRIu64 " bytes more would be %" PRIu64 " live, over "
		     "the limit of %" PRIu64 ": --limit BYTES, or --touch "
		     "none", size, live, options.limit);
	return size;
}

static void count_alloc(struct slot *slot, void *block, uint64_t size)
{
	uint64_t *totals = run.totals;

	if (block == NULL)
		input_fail("no memory for a block of %" PRIu64 " bytes", size);
	if (size > UINT64_MAX - totals[REPLAY_TOTAL_BYTES])
		input_fail("the sizes add up to more than 64 bits");
	slot->block = block;
	slot->size = size;
	totals[REPLAY_ALLOCATIONS]++;
	totals[REPLAY_TOTAL_BYTES] += size;
	totals[REPLAY_LIVE_BLOCKS]++;
	totals[REPLAY_LIVE_BYTES] += size;
	if (totals[REPLAY_LIVE_BYTES] > totals[REPLAY_PEAK_BYTES])
		totals[REPLAY_PEAK_BYTES] = totals[REPLAY_LIVE_BYTES];
}

static void count_end(const struct slot *slot)
{
	run.totals[REPLAY_LIVE_BLOCKS]--;
	run.totals[REPLAY_LIVE_BYTES] -= slot->size;
}

/* Stands for a block where none is made. */
static void *const no_block = &slots;

static void do_alloc(void)
{
	struct slot *slot = empty_slot();
	uint64_t size = next_size(0);
	void *block = no_block;

	if (!options.check_only) {
		/* Of 0 bytes an allocator may give none. */
		block = malloc(size);
		if (block == NULL && size == 0)
			block = malloc(1);
		if (block != NULL)
			touch(block, 0, size);
	}
	count_alloc(slot, block, size);
}

static void do_realloc(void)
{
	struct slot *slot = live_slot("realloc");
	uint64_t size = next_size(slot->size);
	void *block = no_block;

	if (!options.check_only) {
		/* 0 would be a free. */
		block = realloc(slot->block, size ? size : 1);
		if (block != NULL)
			touch(block, slot->size, size);
	}
	count_end(slot);
	run.totals[REPLAY_FREES]++;
	run.totals[REPLAY_REALLOCS]++;
	count_alloc(slot, block, size);
}

static void do_free(bool lost)
{
	struct slot *slot = live_slot("free");

	if (!options.check_only)
		free(slot->block);
	count_end(slot);
	slot->block = NULL;
	if (lost)
		run.lost++;
	else
		run.totals[REPLAY_FREES]++;
}

static void do_time(void)
{
	uint64_t step = input_number(), due;
	struct timespec until;

	if (step > UINT64_MAX / 4 - run.recorded_ns)
		input_fail("a time is beyond all clocks");
	run.recorded_ns += step;
	if (!options.pace || options.check_only)
		return;
	due = run.begun_ns + run.recorded_ns;
	until.tv_sec = (time_t)(due / 1000000000);
	until.tv_nsec = (long)(due % 1000000000);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static void do_end(void)
{
	static const char *const names[REPLAY_TOTALS] = {
		"allocations", "frees", "reallocs", "bytes in total",
		"live blocks", "live bytes", "bytes at the peak", "slots",
		"threads",
	};

	run.totals[REPLAY_SLOTS] = slots.count;
	run.totals[REPLAY_THREADS] = run.totals[REPLAY_ALLOCATIONS] == 0 ? 0 :
		threads.count;
	for (int i = 0; i < REPLAY_TOTALS; i++) {
		uint64_t said = input_number();

		if (said != run.totals[i])
			input_fail("the stream says %" PRIu64 " %s, its operations "
			     "were %" PRIu64, said, names[i], run.totals[i]);
	}
	if (!input_at_end())
		input_fail("something follows the end");
}

/* ---- threads ---- */

static void *run_thread(void *argument);

static void start_thread(uint64_t number)
{
	int error;

	if (number >= THREADS_MAX)
		input_fail("has more than %d threads: replay it without --threads",
		     THREADS_MAX);
	sem_init(&threads.go[number], 0, 0);
	error = pthread_create(&threads.ids[number], NULL, run_thread,
			       &threads.go[number]);
	if (error != 0)
		input_fail("thread %" PRIu64 " cannot be started: %s", number,
		     strerror(error));
}

/* True: the baton is another thread's now. */
static bool do_thread(void)
{
	uint64_t number = input_number();

	if (number > threads.count || number >= SLOTS_MAX)
		input_fail("thread %" PRIu64 " is beyond the next new one, %" PRIu64,
		     number, threads.count);
	if (number == threads.count) {
		threads.count++;
		if (options.threads)
			start_thread(number);
	}
	if (number == threads.current)
		return false;
	threads.current = number;
	run.handed_over++;
	return options.threads;
}

enum step { STEP_ON, STEP_HAND_OVER, STEP_END };

static enum step perform(void)
{
	uint8_t operation = input_byte();

	switch (operation) {
	case REPLAY_ALLOC:
		do_alloc();
		break;
	case REPLAY_FREE:
	case REPLAY_LOST:
		do_free(operation == REPLAY_LOST);
		break;
	case REPLAY_REALLOC:
		do_realloc();
		break;
	case REPLAY_THREAD:
		return do_thread() ? STEP_HAND_OVER : STEP_ON;
	case REPLAY_TIME:
		do_time();
		return STEP_ON;
	case REPLAY_END:
		return STEP_END;
	default:
		input_fail("operation %u is not known: the stream is damaged",
		     operation);
	}
	if (++run.operations % SAMPLE_EVERY == 0 && !options.check_only)
		take_sample();
	return STEP_ON;
}

static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore) != 0)
		;	/* a signal */
}

/* With the baton (R2), until it goes on to another thread. */
static enum step perform_all(void)
{
	enum step step;

	do
		step = perform();
	while (step == STEP_ON);
	return step;
}

static void *run_thread(void *argument)
{
	for (;;) {
		wait_for(argument);
		if (perform_all() == STEP_END)
			break;
		sem_post(&threads.go[threads.current]);
	}
	sem_post(&threads.done);
	return NULL;	/* others wait for ever: the process ends */
}

static void perform_stream(void)
{
	threads.count = 1;
	run.begun_ns = now_ns();
	if (options.threads) {
		sem_init(&threads.done, 0, 0);
		start_thread(0);
		sem_post(&threads.go[0]);
		wait_for(&threads.done);
	} else {
		perform_all();
	}
	run.elapsed_ns = now_ns() - run.begun_ns;
}

/* ---- what came out ---- */

static double ratio(double a, double b)
{
	return b > 0 ? a / b : 0;
}

static void print_json(void)
{
	const uint64_t *totals = run.totals;

	printf("{\"allocations\": %" PRIu64 ", \"frees\": %" PRIu64
	       ", \"reallocs\": %" PRIu64 ", \"lost\": %" PRIu64
	       ", \"total_bytes\": %" PRIu64 ", \"live_blocks\": %" PRIu64
	       ", \"live_bytes\": %" PRIu64 ", \"peak_bytes\": %" PRIu64
	       ", \"threads\": %" PRIu64 ", \"handed_over\": %" PRIu64
	       ", \"recorded_ns\": %" PRIu64,
	       totals[REPLAY_ALLOCATIONS], totals[REPLAY_FREES],
	       totals[REPLAY_REALLOCS], run.lost, totals[REPLAY_TOTAL_BYTES],
	       totals[REPLAY_LIVE_BLOCKS], totals[REPLAY_LIVE_BYTES],
	       totals[REPLAY_PEAK_BYTES], totals[REPLAY_THREADS],
	       run.handed_over, run.recorded_ns);
	if (!options.check_only)
		printf(", \"elapsed_ns\": %" PRIu64 ", \"resident_peak_bytes\":"
		       " %" PRIu64 ", \"resident_end_bytes\": %" PRIu64
		       ", \"resident_by_live\": %.4f", run.elapsed_ns,
		       run.resident_most, run.resident_end,
		       ratio(run.resident_sum, run.live_sum));
	puts("}");
}

static void print_text(void)
{
	const uint64_t *totals = run.totals;
	double calls = (double)(totals[REPLAY_ALLOCATIONS] +
				totals[REPLAY_FREES] -
				totals[REPLAY_REALLOCS]);

	printf("operations     %" PRIu64 " allocations, %" PRIu64 " frees, %"
	       PRIu64 " of both by realloc, %" PRIu64 " threads\n"
	       "bytes          %" PRIu64 " in total, %" PRIu64 " at the peak, %"
	       PRIu64 " in %" PRIu64 " blocks at the end\n",
	       totals[REPLAY_ALLOCATIONS], totals[REPLAY_FREES],
	       totals[REPLAY_REALLOCS], totals[REPLAY_THREADS],
	       totals[REPLAY_TOTAL_BYTES], totals[REPLAY_PEAK_BYTES],
	       totals[REPLAY_LIVE_BYTES], totals[REPLAY_LIVE_BLOCKS]);
	if (options.check_only)
		return;
	printf("time           %.3f ms, %.1f ns a call%s\n",
	       (double)run.elapsed_ns / 1e6,
	       ratio((double)run.elapsed_ns, calls),
	       options.pace ? ", waiting included" : "");
	if (options.threads)
		printf("               %" PRIu64 " times handed over to another "
		       "thread\n", run.handed_over);
	printf("resident       %" PRIu64 " bytes at most, %" PRIu64
	       " at the end\n"
	       "fragmentation  %.2f resident bytes for each live one at the "
	       "peak, %.2f on average\n", run.resident_most, run.resident_end,
	       ratio((double)run.resident_most,
		     (double)totals[REPLAY_PEAK_BYTES]),
	       ratio(run.resident_sum, run.live_sum));
}

/* ---- options ---- */

static const char usage[] =
"usage: replay [OPTION]... FILE|-\n"
"Perform the operations of `gnomon export --format replay` with the allocator\n"
"of this process (LD_PRELOAD=...), and say what they cost.\n"
"  --check        only check the stream and count; nothing is allocated\n"
"  --json         the figures as JSON\n"
"  --limit BYTES  of live bytes (three quarters of the machine's memory)\n"
"  --pace         not faster than it was recorded\n"
"  --threads      each by a thread of its own, in the recorded order\n"
"  --touch WHAT   what is written to: none, pages (default), all\n"
"exit status: 0 all was performed, 1 the stream is not whole, 2 wrong use\n";

static void __attribute__((noreturn)) wrong_use(void)
{
	fputs(usage, stderr);
	exit(EXIT_USE);
}

static enum touch touch_of(const char *word)
{
	static const char *const words[] = { "none", "pages", "all" };

	for (int i = 0; i < 3; i++)
		if (strcmp(word, words[i]) == 0)
			return (enum touch)i;
	wrong_use();
}

static uint64_t bytes_of(const char *text)
{
	char *end;
	uint64_t bytes;

	errno = 0;
	bytes = strtoull(text, &end, 10);
	if (errno != 0 || end == text || *end != 0 || text[0] == '-')
		wrong_use();
	return bytes;
}

static void take_options(int argc, char **argv)
{
	enum { CHECK = 1, JSON, LIMIT, PACE, THREADS, TOUCH, HELP };
	static const struct option longs[] = {
		{ "check", no_argument, NULL, CHECK },
		{ "json", no_argument, NULL, JSON },
		{ "limit", required_argument, NULL, LIMIT },
		{ "pace", no_argument, NULL, PACE },
		{ "threads", no_argument, NULL, THREADS },
		{ "touch", required_argument, NULL, TOUCH },
		{ "help", no_argument, NULL, HELP },
		{ 0 }
	};
	int id;

	while ((id = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		options.check_only |= id == CHECK;
		options.json |= id == JSON;
		options.pace |= id == PACE;
		options.threads |= id == THREADS;
		if (id == LIMIT)
			options.limit = bytes_of(optarg);
		if (id == TOUCH)
			options.touch = touch_of(optarg);
		if (id == HELP) {
			fputs(usage, stdout);
			exit(0);
		}
		if (id == '?')
			wrong_use();
	}
	if (optind != argc - 1)
		wrong_use();
	options.path = argv[optind];
}

int main(int argc, char **argv)
{
	void *volatile first;

	options.limit = (uint64_t)sysconf(_SC_PHYS_PAGES) / 4 * 3 *
		(uint64_t)sysconf(_SC_PAGESIZE);
	take_options(argc, argv);
	input_open(options.path);
	first = malloc(1);	/* the allocator wakes up */
	free(first);
	input_head();
	run.base = resident_bytes();
	resident_forget_peak();
	perform_stream();
	if (!options.check_only)
		take_last_sample();
	do_end();
	if (options.json)
		print_json();
	else
		print_text();
	fflush(stdout);
	_exit(0);	/* blocks that are live, threads that wait: let be */
}
