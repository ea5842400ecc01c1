/*
 * rows_dump.c [--grow|--parts|--into|--there] TRACE…: makes the index of each
 * trace anew and prints its rows in their order, a line each, for comparing
 * with a model in Python (tests/tools/brute_model.py):
 *
 *	row BIRTH END BEGIN STAMP HOW ADDRESS SIZE TID FREER CHAIN PLACE BETWEEN
 *		FLAGS FRAMES
 *	facts UNPAIRED REPAIRED FOREIGN EVENTS LAST
 *
 * BIRTH and END are numbers of edges, BEGIN and STAMP stamps; for live blocks
 * END and STAMP are "-". FREER is the tid of the freeing thread, or "-", FRAMES
 * the addresses of the stack, the innermost first.
 *
 * With --there it prints the rows of the existing TRACE.idx.
 *
 * With --grow it makes the index of the trace at each of its SYNCs in turn,
 * each by extending the previous one: the rows must be the same.
 *
 * With --parts likewise, but each from the partial index that the previous one
 * left when it was killed. A last line says how often there was one:
 *
 *	parts COUNT
 *
 * With --into it makes the index in TRACE.made and TRACE.part, and continues a
 * killed one.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/model/core/contexts.h"
#include "cli/model/core/threads.h"
#include "cli/model/model.h"
#include "cli/model/index/index_build.h"
#include "cli/model/index/index_facts.h"
#include "cli/store/store_cursor.h"
#include "cli/trace/decode/scan.h"
#include "cli/trace/format/trace_format.h"

static unsigned rotation_used;

static void fail(const char *trace, const char *what)
{
	fprintf(stderr, "rows_dump: %s: %s\n", trace, what);
	exit(2);
}

static int new_file(void)
{
	char path[] = "/tmp/gnomon-rows-XXXXXX";
	int fd = mkstemp(path);

	unlink(path);
	return fd;
}

/* Out of an older one, which is closed. */
static struct store *make(const char *trace, struct store *older)
{
	struct index_build build = {
		.trace = trace, .fd = new_file(), .older = older,
	};
	struct store *store;

	if (index_build(&build) != 0 ||
	    store_open(build.fd, trace, NULL, &store) != STORE_GOOD)
		fail(trace, "no store can be made");
	store_close(older);
	return store;
}

static struct store *make_at_once(const char *trace)
{
	return make(trace, NULL);
}

/* ---- of a trace that grows ---- */

struct growing {
	int fd;			/* with parts: the store's */
	char prefix[4096], part[4096];
	struct store *store;	/* without: the last one */
};

/* The first bytes of the trace. */
static void write_prefix(const char *trace, const char *prefix, uint64_t bytes)
{
	int from = open(trace, O_RDONLY);
	int to = open(prefix, O_WRONLY | O_TRUNC | O_CREAT, 0600);
	char *buffer = malloc(bytes);

	if (from < 0 || to < 0 ||
	    pread(from, buffer, bytes, 0) != (ssize_t)bytes ||
	    write(to, buffer, bytes) != (ssize_t)bytes)
		fail(prefix, "cannot be written");
	free(buffer);
	close(from);
	close(to);
}

/* As it was at each of its SYNCs, and at its end. */
static void grow(struct growing *g, const char *trace,
		 void (*make_next)(struct growing *g))
{
	struct chunk chunk;
	struct scan scan;

	snprintf(g->prefix, sizeof(g->prefix), "%s.prefix", trace);
	snprintf(g->part, sizeof(g->part), "%s.part", trace);
	if (scan_open(&scan, open(trace, O_RDONLY)) != SCAN_OPEN_OK)
		fail(trace, "cannot be read");
	while (scan_next(&scan, &chunk)) {
		if (chunk.type != GT_SYNC)
			continue;
		write_prefix(trace, g->prefix, chunk.offset + GT_CHUNK_SIZE +
			     chunk.stored);
		make_next(g);
	}
	write_prefix(trace, g->prefix, scan.good_end);
	make_next(g);
	scan_close(&scan);
	unlink(g->prefix);
}

static void make_longer(struct growing *g)
{
	g->store = make(g->prefix, g->store);
}

static struct store *make_growing(const char *trace)
{
	struct growing g = { .store = NULL };

	grow(&g, trace, make_longer);
	return g.store;
}

/* ---- by makers that are killed ---- */

/* The next one. */
static void make_part(struct growing *g)
{
	struct index_build build = {
		.trace = g->prefix, .fd = g->fd, .part = g->part,
		.part_every = 1,
	};
	int left = open(g->part, O_RDONLY);
	struct store *part = NULL;

	if (left >= 0 && store_open(left, g->part, NULL, &part) != STORE_GOOD)
		fail(g->part, "no store");
	build.goes_on = part != NULL;
	build.older = part;
	rotation_used += build.goes_on;
	/* without a part, what is there is of no use */
	if (part == NULL && ftruncate(g->fd, 0) != 0)
		fail(g->prefix, "its store cannot be emptied");
	if (index_build(&build) != 0 || build.older != part)
		fail(g->prefix, "no store can be made of a part");
	store_close(part);
}

static struct store *make_in_parts(const char *trace)
{
	struct growing g = { .fd = new_file() };

	grow(&g, trace, make_part);
	if (store_open(g.fd, trace, NULL, &g.store) != STORE_GOOD)
		fail(trace, "no store was made");
	unlink(g.part);
	return g.store;
}

static struct store *make_into(const char *trace)
{
	struct growing g = { .store = NULL };
	char made[4096];

	snprintf(g.prefix, sizeof(g.prefix), "%s", trace);
	snprintf(g.part, sizeof(g.part), "%s.part", trace);
	snprintf(made, sizeof(made), "%s.made", trace);
	g.fd = open(made, O_RDWR | O_CREAT, 0600);
	make_part(&g);
	if (store_open(g.fd, made, NULL, &g.store) != STORE_GOOD)
		fail(trace, "no store was made");
	return g.store;
}

static struct store *open_there(const char *trace)
{
	struct store *store;
	char path[4096];

	snprintf(path, sizeof(path), "%s.idx", trace);
	if (store_open(open(path, O_RDONLY), path, NULL, &store) != STORE_GOOD)
		fail(path, "no store");
	return store;
}

/* ---- printing ---- */

static void print_or(uint64_t value, uint64_t none)
{
	if (value == none)
		printf(" -");
	else
		printf(" %" PRIu64, value);
}

static void print_row(const struct model *model,
		      const uint64_t *const *value, size_t i)
{
	static const char *const hows[] = { "live", "freed", "moved", "lost" };
	const struct contexts *contexts = model_contexts(model);
	uint64_t freer = value[STORE_END_THREAD][i];

	printf("row %" PRIu64, value[STORE_ALLOC_EDGE][i]);
	print_or(value[STORE_END_EDGE][i], STORE_NEVER);
	printf(" %" PRIu64, value[STORE_BEGIN][i]);
	print_or(value[STORE_END][i], STORE_NEVER);
	printf(" %s %" PRIu64 " %" PRIu64 " %u", hows[value[STORE_HOW][i]],
	       value[STORE_ADDRESS][i], value[STORE_SIZE][i],
	       model_thread(model, (uint32_t)value[STORE_THREAD][i])->tid);
	print_or(freer == STORE_NONE ? freer :
		 model_thread(model, (uint32_t)freer)->tid, STORE_NONE);
	printf(" %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
	       value[STORE_CHAIN][i], value[STORE_PLACE][i],
	       value[STORE_BETWEEN][i], value[STORE_FLAGS][i]);
	for (uint32_t node = (uint32_t)value[STORE_NODE][i];
	     node >= CONTEXT_ROOTS; node = contexts->nodes[node].parent)
		printf(" %" PRIu64, contexts->nodes[node].address);
	printf("\n");
}

static void print_rows(const struct model *model, struct store *store)
{
	const struct store_scan all = { .now = 0 };
	struct store_cursor *cursor = store_cursor_new(
		store, &all, STORE_BIT(STORE_STORED) - 1);
	const struct store_batch *batch;

	while (store_cursor_next(cursor, &batch) == 1)
		for (size_t i = 0; i < batch->count; i++)
			print_row(model, batch->column, i);
	store_cursor_free(cursor);
}

static void print_facts(struct store *store)
{
	struct index_stretch sum = { 0 };
	struct index_facts facts;

	index_facts_read(store, &facts);
	for (size_t i = 0; i < facts.stretch_count; i++) {
		sum.unpaired += facts.stretches[i].unpaired;
		sum.repaired += facts.stretches[i].repaired;
		sum.foreign += facts.stretches[i].foreign;
	}
	printf("facts %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
	       " %" PRIu64 "\n", sum.unpaired, sum.repaired, sum.foreign,
	       facts.events, facts.last_stamp);
	index_facts_free(&facts);
}

static const struct way {
	const char *name;
	struct store *(*make)(const char *trace);
} ways[] = {
	{ "--grow", make_growing },
	{ "--parts", make_in_parts },
	{ "--into", make_into },
	{ "--there", open_there },
	{ "", make_at_once },
};

#define WAYS (sizeof(ways) / sizeof(ways[0]))

int main(int argc, char **argv)
{
	size_t way = 0;

	while (way + 1 < WAYS && (argc < 2 ||
				  strcmp(argv[1], ways[way].name) != 0))
		way++;
	for (int i = way + 1 < WAYS ? 2 : 1; i < argc; i++) {
		struct store *store = ways[way].make(argv[i]);
		/* of the whole, by who knows nothing of its blocks: it has to
		 * know the same nodes and threads by these numbers */
		struct model *model = model_new(NULL, NULL);

		model_read_outline(model, argv[i]);
		print_rows(model, store);
		print_facts(store);
		model_free(model);
		store_close(store);
	}
	if (ways[way].make == make_in_parts)
		printf("parts %u\n", rotation_used);
	return 0;
}
