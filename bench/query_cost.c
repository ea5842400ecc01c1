/*
 * query_cost.c: the time of queries of an index. Prints JSON.
 *
 *	bench-queries make FILE ROWS	a store of so many rows (store_rows.c)
 *	bench-queries ask FILE N [TEXT]	the median of N times, for each question,
 *					or those with this text in their names
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/sort.h"
#include "cli/store/store_cursor.h"
#include "cli/store/store_sweep.h"
#include "store_rows.h"

#define GROUPS 100
#define STEPS 500
#define TOP 20
#define SEED 4711
#define REPEATS_MAX 99

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Processor time of all threads. */
static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void fail(const char *what, int error)
{
	fprintf(stderr, "bench-queries: %s: %s\n", what, strerror(error));
	exit(1);
}

static void print_memory(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	printf("\"rss_kb\": %ld", usage.ru_maxrss);
}

/* ---- making ---- */

static int make(const char *path, uint64_t rows)
{
	const struct store_key key = { .prefix_bytes = rows };
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct store_rows_made made;
	struct store_writer *writer;
	uint64_t begin = now_ns();
	int error;

	if (fd < 0)
		fail(path, errno);
	writer = store_writer_new(fd, 1);
	made = store_rows_make(writer, rows, SEED);
	store_writer_fact(writer, "end", made.end);
	error = store_writer_finish(writer, &key);
	if (error != 0)
		fail(path, -error);
	printf("{\"rows\": %" PRIu64 ", \"live\": %" PRIu64 ", \"wall_ns\": %"
	       PRIu64 ", ", made.rows, made.live, now_ns() - begin);
	print_memory();
	printf("}\n");
	store_writer_free(writer);
	close(fd);
	return 0;
}

/* ---- questions ---- */

struct asked {
	struct store *store;
	struct store_scan scan;
	uint64_t end;
	uint64_t selected;	/* the answer, for who reads the table */
};

/* By node, that some thousand are GROUPS. */
static uint32_t few[STORE_ROWS_NODES];

static int ask_count(struct asked *a)
{
	uint64_t bytes;

	return store_scan_count(a->store, &a->scan, &a->selected, &bytes);
}

static int ask_cursor(struct asked *a)
{
	struct store_cursor *cursor = store_cursor_new(a->store, &a->scan,
						       STORE_BIT(STORE_SIZE));
	const struct store_batch *batch;
	uint64_t bytes = 0;
	int result;

	a->selected = 0;
	while ((result = store_cursor_next(cursor, &batch)) > 0) {
		a->selected += batch->count;
		for (size_t i = 0; i < batch->count; i++)
			bytes += batch->column[STORE_SIZE][i];
	}
	store_cursor_free(cursor);
	return bytes == 0 ? -EINVAL : result;
}

static int ask_group(struct asked *a)
{
	const struct store_grouping by_node = {
		.groups = STORE_ROWS_NODES, .column = STORE_NODE,
	};
	const struct store_group_options options = {
		.sums = STORE_SUM_FREES | STORE_SUM_LIVE | STORE_SUM_TEMPORARY |
			STORE_SUM_LIFETIME | STORE_SUM_FIRST_LAST,
	};
	struct store_sums *sums = calloc(STORE_ROWS_NODES, sizeof(*sums));
	int error = store_group(a->store, &a->scan, &by_node, &options, sums);

	a->selected = 0;
	for (size_t i = 0; i < STORE_ROWS_NODES; i++)
		a->selected += sums[i].blocks;
	free(sums);
	return error;
}

static int ask_timeline_of(struct asked *a, bool maxima)
{
	static uint64_t begins[STEPS];
	static struct store_step list[STEPS];
	const struct store_axis axis = {
		.begins = begins, .steps = STEPS, .maxima = maxima,
	};
	uint64_t first, last;
	int error;

	store_bounds(a->store, STORE_BEGIN, &first, &last);
	for (uint64_t i = 0; i < STEPS; i++)
		begins[i] = first + (a->end - first) * i / STEPS;
	error = store_timeline(a->store, &a->scan, NULL, NULL, &axis, list);
	a->selected = 0;
	for (size_t i = 0; i < STEPS; i++)
		a->selected += list[i].allocations;
	return error;
}

static int ask_timeline(struct asked *a)
{
	return ask_timeline_of(a, false);
}

static int ask_maxima(struct asked *a)
{
	return ask_timeline_of(a, true);
}

static int ask_peaks(struct asked *a)
{
	const struct store_grouping groups = {
		.groups = GROUPS, .column = STORE_NODE, .map = few,
		.map_size = STORE_ROWS_NODES,
	};
	struct store_peak whole, peaks[GROUPS];
	int error = store_peaks(a->store, &a->scan, &groups, NULL, &whole,
				peaks);

	a->selected = whole.blocks;
	return error;
}

static int ask_order_of(struct asked *a, enum store_column column)
{
	uint64_t rows[TOP];

	return store_order(a->store, &a->scan, column, true, 0, TOP, rows,
			   &a->selected);
}

static int ask_largest(struct asked *a)
{
	return ask_order_of(a, STORE_SIZE);
}

static int ask_newest(struct asked *a)
{
	return ask_order_of(a, STORE_BEGIN);
}

/* Predicates that questions are asked with. */
enum { ALL, LARGE, RARE, THIRD, ALIVE, PREDICATES };
static const struct store_range large = { 256, UINT64_MAX };
static const struct store_range rare = { 4096, UINT64_MAX };
static const struct store_range third = { 0, 60 };
static const struct store_term terms[] = {
	[LARGE] = { .column = STORE_SIZE, .ranges = &large, .range_count = 1 },
	[RARE] = { .column = STORE_SIZE, .ranges = &rare, .range_count = 1 },
	[THIRD] = { .column = STORE_NODE, .ranges = &third, .range_count = 1 },
	[ALIVE] = { .column = STORE_SIZE, .ranges = &large, .range_count = 1 },
};

static const struct question {
	const char *name;
	int (*ask)(struct asked *asked);
	unsigned predicate;
} questions[] = {
	{ "count and sum, size >= 256", ask_count, LARGE },
	{ "count and sum, size >= 4096", ask_count, RARE },
	{ "count and sum, all", ask_count, ALL },
	{ "rows one by one, size >= 4096", ask_cursor, RARE },
	{ "rows one by one, some nodes", ask_cursor, THIRD },
	{ "sums by node, size >= 256", ask_group, LARGE },
	{ "sums by node, size >= 256, alive at half", ask_group, ALIVE },
	{ "sums by node, all", ask_group, ALL },
	{ "timeline, size >= 256", ask_timeline, LARGE },
	{ "timeline, all", ask_timeline, ALL },
	{ "timeline with maxima, size >= 4096", ask_maxima, RARE },
	{ "timeline with maxima, all", ask_maxima, ALL },
	{ "peaks of 100 groups, size >= 256", ask_peaks, LARGE },
	{ "peaks of 100 groups, all", ask_peaks, ALL },
	{ "20 largest", ask_largest, ALL },
	{ "20 newest", ask_newest, ALL },
};

static int by_time(const void *a, const void *b)
{
	return sort_up(*(const uint64_t *)a, *(const uint64_t *)b);
}

static void request_args(struct asked *asked, const struct question *q,
			 unsigned repeats)
{
	uint64_t times[REPEATS_MAX], cpu[REPEATS_MAX], half;

	half = (UINT64_C(1) << 40) + (asked->end - (UINT64_C(1) << 40)) / 2;
	asked->scan = (struct store_scan){ .now = asked->end };
	if (q->predicate != ALL) {
		asked->scan.terms = &terms[q->predicate];
		asked->scan.term_count = 1;
	}
	if (q->predicate == ALIVE) {
		asked->scan.alive[0].stamps = &half;
		asked->scan.alive[0].count = 1;
	}
	for (unsigned i = 0; i < repeats; i++) {
		uint64_t begin = now_ns(), cpu_begin = cpu_ns();
		int error = q->ask(asked);

		if (error != 0)
			fail(q->name, -error);
		times[i] = now_ns() - begin;
		cpu[i] = cpu_ns() - cpu_begin;
	}
	SORT(times, repeats, by_time);
	SORT(cpu, repeats, by_time);
	printf("{\"query\": \"%s\", \"wall_ns\": %" PRIu64 ", \"cpu_ns\": %"
	       PRIu64 ", \"answer\": %" PRIu64 "}", q->name,
	       times[repeats / 2], cpu[repeats / 2], asked->selected);
}

static int ask(const char *path, unsigned repeats, const char *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct asked asked = { 0 };
	size_t count = sizeof(questions) / sizeof(*questions);
	const char *separator = "";

	if (fd < 0)
		fail(path, errno);
	if (store_open(fd, path, NULL, &asked.store) != STORE_GOOD ||
	    !store_fact(asked.store, "end", &asked.end))
		fail(path, EINVAL);
	for (uint32_t i = 0; i < STORE_ROWS_NODES; i++)
		few[i] = i % GROUPS;
	printf("{\"rows\": %" PRIu64 ", \"live\": %" PRIu64 ", \"bytes\": %"
	       PRIu64 ", \"columns\": [", store_rows(asked.store),
	       store_live_rows(asked.store), store_bytes(asked.store));
	for (unsigned i = 0; i < STORE_STORED; i++)
		printf("%s%" PRIu64, i == 0 ? "" : ", ",
		       store_column_bytes(asked.store, i));
	printf("], \"queries\": [");
	for (size_t i = 0; i < count; i++) {
		if (strstr(questions[i].name, text) == NULL)
			continue;
		printf("%s", separator);
		request_args(&asked, &questions[i], repeats);
		separator = ",\n ";
	}
	printf("], ");
	print_memory();
	printf("}\n");
	store_close(asked.store);
	return 0;
}

int main(int argc, char **argv)
{
	char *end;
	uint64_t number = argc == 4 || argc == 5 ?
		strtoull(argv[3], &end, 10) : 0;

	if (number > 0 && argc == 4 && *end == 0 &&
	    strcmp(argv[1], "make") == 0)
		return make(argv[2], number);
	if (number > 0 && number <= REPEATS_MAX && *end == 0 &&
	    strcmp(argv[1], "ask") == 0)
		return ask(argv[2], (unsigned)number,
			   argc == 5 ? argv[4] : "");
	fprintf(stderr, "usage: bench-queries make FILE ROWS | "
		"ask FILE N [TEXT]\n");
	return 2;
}
