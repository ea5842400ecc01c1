/*
 * trace_gen.c: write a valid trace of any size without recording anything,
 * to measure the reader and to test it on more events than a program would
 * make in reasonable time.
 *
 * usage: trace_gen FILE EVENTS [RINGS [CONTEXTS [LIVE [SEED]]]]
 *
 * Every ring allocates blocks of its own and frees old ones, so that about LIVE
 * blocks stay live. Contexts are drawn with a strong preference for few of
 * them, as in programs. Rings take turns by time slices; the stamps of all
 * rings together ascend, and a SYNC chunk follows every turn. Prints the
 * expected results of `gnomon report --json`, as "key value" lines.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/trace/write/compose.h"

#define TRACE_ID UINT64_C(0x676e6f6d6f6e3031)
#define EVENTS_PER_CHUNK 8192
#define TICKS_PER_EVENT 2
#define DEPTH 24

struct ring {
	uint64_t position;
	uint64_t *addresses;	/* a queue: the oldest is freed first */
	uint64_t *sizes;
	uint64_t head, count;
};

struct generator {
	FILE *out;
	uint64_t sequence;
	uint64_t state;		/* of the random numbers */
	uint64_t stamp;
	uint64_t allocations, frees, total_bytes, live_bytes, live_blocks;
	uint64_t capacity;	/* of a ring's queue */
	uint32_t contexts;
};

/* xorshift64* (Vigna). */
static uint64_t draw(struct generator *g)
{
	g->state ^= g->state >> 12;
	g->state ^= g->state << 25;
	g->state ^= g->state >> 27;
	return g->state * UINT64_C(0x2545f4914f6cdd1d);
}

static void put(struct generator *g, struct chunk *chunk,
		struct buffer *payload)
{
	struct buffer bytes = { 0 };

	chunk->sequence = g->sequence++;
	compose_chunk(&bytes, chunk, TRACE_ID, payload);
	if (fwrite(bytes.data, 1, bytes.size, g->out) != bytes.size) {
		perror("trace_gen");
		exit(1);
	}
	buffer_free(&bytes);
	buffer_free(payload);
}

static void put_info(struct generator *g)
{
	struct chunk chunk = { .type = GT_INFO };
	struct buffer payload = { 0 };

	compose_line(&payload, "arch", "x86_64");
	compose_line(&payload, "pid", "1");
	compose_line(&payload, "exe", "/generated");
	compose_line(&payload, "command", "generated");
	compose_line(&payload, "tick_shift", "6");
	compose_line(&payload, "window_ticks", "72");
	compose_line(&payload, "start_monotonic_ns", "0");
	put(g, &chunk, &payload);
}

static void put_sync(struct generator *g)
{
	struct chunk chunk = { .type = GT_SYNC };
	struct trace_sync sync = { g->stamp, g->stamp, g->stamp * 25,
				   g->stamp * 25, 0 };
	struct buffer payload = { 0 };

	compose_sync(&payload, &sync);
	put(g, &chunk, &payload);
}

static void put_threads(struct generator *g, unsigned rings)
{
	struct chunk chunk = { .type = GT_THREAD };
	struct buffer payload = { 0 };

	for (unsigned i = 0; i < rings; i++) {
		struct trace_thread thread = {
			GT_THREAD_START, i, 100 + i,
			i == 0 ? GT_THREAD_MAIN : 0, 1, "gen", 3, 0 };

		compose_thread(&payload, &thread);
	}
	put(g, &chunk, &payload);
}

/* A tree in which every context is DEPTH frames deep at most. */
static void put_nodes(struct generator *g)
{
	struct trace_node *nodes = grow_zeroed(g->contexts, sizeof(*nodes));
	struct chunk chunk = { .type = GT_CONTEXT };
	struct buffer payload = { 0 };

	for (uint32_t i = 0; i < g->contexts; i++) {
		nodes[i].id = GT_STOP_COUNT + i;
		nodes[i].parent = i % DEPTH == 0 ? GT_STOP_BOTTOM :
			nodes[i].id - 1 - (uint32_t)(draw(g) % (i % DEPTH));
		nodes[i].address = 0x400000 + (draw(g) & 0xfffff0);
	}
	compose_nodes(&payload, nodes, g->contexts, 1);
	put(g, &chunk, &payload);
	free(nodes);
}

static void make_event(struct generator *g, struct ring *ring,
		       struct trace_event *event, unsigned index)
{
	uint64_t at;

	g->stamp += 1 + draw(g) % (2 * TICKS_PER_EVENT);
	event->stamp = g->stamp;
	event->context = 0;
	event->size = 0;
	if (ring->count == g->capacity ||
	    (ring->count > g->capacity / 2 && draw(g) & 1)) {
		/* Mostly young blocks are freed. */
		at = draw(g) % (draw(g) % 8 ? 16 : ring->count);
		at = (ring->head + ring->count - 1 - at % ring->count) %
			g->capacity;
		event->kind = GT_FREE;
		event->address = ring->addresses[at];
		g->live_bytes -= ring->sizes[at];
		g->live_blocks--;
		g->frees++;
		ring->count--;
		ring->addresses[at] = ring->addresses[(ring->head +
			ring->count) % g->capacity];
		ring->sizes[at] = ring->sizes[(ring->head + ring->count) %
					      g->capacity];
		return;
	}
	at = (ring->head + ring->count++) % g->capacity;
	event->kind = GT_ALLOC;
	event->size = 16 + draw(g) % 200;
	event->context = GT_STOP_COUNT + (uint32_t)
		(draw(g) % (1 + draw(g) % g->contexts));
	event->address = UINT64_C(0x7f0000000000) +
		((uint64_t)index << 36) + ((g->allocations * 48) &
					   UINT64_C(0xffffffff0));
	ring->addresses[at] = event->address;
	ring->sizes[at] = event->size;
	g->allocations++;
	g->total_bytes += event->size;
	g->live_bytes += event->size;
	g->live_blocks++;
}

static void put_events(struct generator *g, struct ring *ring,
		       unsigned index, uint64_t count)
{
	static struct trace_event events[EVENTS_PER_CHUNK];
	struct chunk chunk = { .type = GT_EVENTS, .ring = index };
	struct buffer payload = { 0 };

	chunk.first = ring->position;
	for (uint64_t i = 0; i < count; i++) {
		make_event(g, ring, &events[i], index);
		ring->position += records_ring_bytes(&events[i], false);
	}
	chunk.last = ring->position;
	compose_events(&payload, events, count, 1);
	put(g, &chunk, &payload);
}

static void put_end(struct generator *g)
{
	struct chunk chunk = { .type = GT_END };
	struct buffer payload = { 0 };

	compose_line(&payload, "reason", "exit");
	compose_line(&payload, "exit_code", "0");
	put(g, &chunk, &payload);
}

static uint64_t number(int argc, char **argv, int i, uint64_t fallback)
{
	return argc > i ? strtoull(argv[i], NULL, 10) : fallback;
}

int main(int argc, char **argv)
{
	uint64_t events = number(argc, argv, 2, 0);
	unsigned rings = (unsigned)number(argc, argv, 3, 1);
	uint64_t live = number(argc, argv, 5, 100000);
	struct generator g = { .stamp = 1000 };
	struct buffer header = { 0 };
	struct ring *ring;

	if (argc < 3 || rings == 0) {
		fprintf(stderr, "usage: trace_gen FILE EVENTS [RINGS "
			"[CONTEXTS [LIVE [SEED]]]]\n");
		return 2;
	}
	g.contexts = (uint32_t)number(argc, argv, 4, 5000);
	g.state = number(argc, argv, 6, 1) * 2 + 1;
	g.capacity = live / rings + 32;
	g.out = fopen(argv[1], "w");
	ring = grow_zeroed(rings, sizeof(*ring));
	if (g.out == NULL) {
		perror(argv[1]);
		return 1;
	}
	compose_header(&header, TRACE_ID);
	fwrite(header.data, 1, header.size, g.out);
	put_info(&g);
	put_sync(&g);
	put_threads(&g, rings);
	put_nodes(&g);
	for (unsigned i = 0; i < rings; i++) {
		ring[i].addresses = grow_zeroed(g.capacity, 8);
		ring[i].sizes = grow_zeroed(g.capacity, 8);
	}
	while (events > 0)
		for (unsigned i = 0; i < rings && events > 0; i++) {
			uint64_t n = EVENTS_PER_CHUNK / (rings > 1 ? 16 : 1);

			n = events < n ? events : n;
			put_events(&g, &ring[i], i, n);
			put_sync(&g);
			events -= n;
		}
	put_end(&g);
	printf("allocations %" PRIu64 "\nfrees %" PRIu64 "\ntotal_bytes %"
	       PRIu64 "\nlive_bytes %" PRIu64 "\nlive_blocks %" PRIu64 "\n",
	       g.allocations, g.frees, g.total_bytes, g.live_bytes,
	       g.live_blocks);
	return fclose(g.out) != 0;
}
