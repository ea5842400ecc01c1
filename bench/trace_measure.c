/*
 * trace_measure.c: `bench-measure TRACE`: the distributions of a real trace, as
 * text for bench/models (see trace_model.h).
 *
 * Contexts are distinguished by (parent, address) as in reports, but not by
 * module. A block whose free in another thread has a stamp just before its
 * allocation is left out: there are a few in a million.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench/trace_model.h"
#include "cli/base/grow.h"
#include "cli/base/table.h"
#include "cli/base/terminal/log.h"
#include "cli/model/core/blocks.h"
#include "cli/model/core/contexts.h"
#include "cli/trace/read/reader.h"

struct past {			/* of a context */
	uint64_t last;		/* number of its last allocation, from 1 */
	uint64_t size;
};

struct measure {
	struct trace_model model;
	struct images images;
	struct contexts contexts;
	struct blocks blocks;
	struct past *past;	/* by cost */
	size_t past_count;
	uint8_t *met;		/* by node: in a context met already */
	size_t met_count;
	struct table addresses;
	uint64_t stamp;
	uint64_t allocations;
	uint64_t begun;		/* address of the last REALLOC_BEGIN */
	uint64_t *first;	/* numbers of the contexts' first allocations */
	size_t first_count, first_capacity;
};

static void *widen(void *list, size_t *count, size_t wanted, size_t size)
{
	size_t more = wanted * 2 + 64;

	if (wanted < *count)
		return list;
	list = grow_resize(list, more, size);
	for (size_t i = *count * size; i < more * size; i++)
		((uint8_t *)list)[i] = 0;
	*count = more;
	return list;
}

/* A context that had not allocated before. */
static void meet(struct measure *m, uint32_t node)
{
	uint64_t depth = 0, fresh = 0;

	m->met = widen(m->met, &m->met_count, m->contexts.node_count, 1);
	for (; node >= CONTEXT_ROOTS; node = m->contexts.nodes[node].parent) {
		depth++;
		fresh += !m->met[node];
		m->met[node] = 1;
	}
	spread_add(&m->model.spread[MODEL_DEPTH], depth);
	spread_add(&m->model.spread[MODEL_FRESH], fresh);
	GROW(m->first, m->first_count, m->first_capacity);
	m->first[m->first_count++] = m->allocations;
}

static void end_block(struct measure *m, uint64_t address)
{
	struct block *block = blocks_find(&m->blocks, address);

	if (block == NULL)
		return;
	spread_add(&m->model.spread[MODEL_LIFETIME],
		   m->allocations - block->sequence);
	blocks_remove(&m->blocks, block);
}

static void begin_block(struct measure *m, const struct trace_event *event)
{
	uint32_t cost = contexts_cost(&m->contexts, event->context);
	struct block *block;
	struct past *past;
	int is_new;

	m->past = widen(m->past, &m->past_count, cost, sizeof(*m->past));
	past = &m->past[cost];
	m->allocations++;
	if (past->last == 0)
		meet(m, m->contexts.costs[cost].node);
	else
		spread_add(&m->model.spread[MODEL_RECENT],
			   m->allocations - past->last);
	if (past->last != 0 && past->size == event->size)
		m->model.number[MODEL_SAME_SIZE]++;
	else
		spread_add(&m->model.spread[MODEL_SIZE], event->size);
	past->last = m->allocations;
	past->size = event->size;
	block = blocks_add(&m->blocks, event->address, &is_new);
	block->sequence = m->allocations;
}

static void take_events(void *owner, uint32_t lane,
			const struct trace_event *events, size_t count)
{
	struct measure *m = owner;

	(void)lane;
	for (size_t i = 0; i < count; i++) {
		const struct trace_event *event = &events[i];

		if (event->kind == GT_EXTRA)
			continue;
		m->model.number[MODEL_EVENTS]++;
		if (m->stamp != 0)
			spread_add(&m->model.spread[MODEL_TICKS],
				   event->stamp - m->stamp);
		m->stamp = event->stamp;
		if (event->kind == GT_FREE)
			end_block(m, event->address);
		if (event->kind == GT_REALLOC_BEGIN)
			m->begun = event->address;
		if (event->kind == GT_REALLOC_DONE) {
			end_block(m, m->begun);
			m->model.number[MODEL_REALLOCS]++;
			m->model.number[MODEL_IN_PLACE] +=
				event->address == m->begun;
		}
		if (event->kind == GT_ALLOC ||
		    event->kind == GT_REALLOC_DONE)
			begin_block(m, event);
	}
}

static void take_node(void *owner, const struct trace_node *node)
{
	struct measure *m = owner;

	if (table_get(&m->addresses, node->address) == TABLE_NONE)
		table_set(&m->addresses, node->address, 0);
	contexts_define(&m->contexts, &m->images, node);
}

static uint32_t take_lane(void *owner, uint32_t ring, bool *nested)
{
	(void)owner;
	(void)ring;
	*nested = false;
	return 0;
}

static void no_line(void *owner, unsigned type, const char *key,
		    const char *value)
{
	(void)owner;
	(void)type;
	(void)key;
	(void)value;
}

static void no_thread(void *owner, const struct trace_thread *thread)
{
	(void)owner;
	(void)thread;
}

static void no_capture(void *owner, const struct trace_capture *capture)
{
	(void)owner;
	(void)capture;
}

static void no_image(void *owner, const struct trace_image *image)
{
	(void)owner;
	(void)image;
}

static void no_sync(void *owner, const struct trace_sync *sync)
{
	(void)owner;
	(void)sync;
}

static void finish(struct measure *m)
{
	uint64_t *number = m->model.number;

	number[MODEL_ALLOCATIONS] = m->allocations;
	number[MODEL_CONTEXTS] = m->first_count;
	number[MODEL_ADDRESSES] = m->addresses.used;
	number[MODEL_FOREVER] = m->blocks.count;
	for (size_t i = 0; i < m->first_count; i++)
		number[MODEL_CONTEXTS_HALF] +=
			m->first[i] <= m->allocations / 2;
}

int main(int argc, char **argv)
{
	static struct measure m;
	const struct reader_sink sink = {
		.owner = &m,
		.line = no_line,
		.thread = no_thread,
		.capture = no_capture,
		.image = no_image,
		.node = take_node,
		.sync = no_sync,
		.lane = take_lane,
		.events = take_events,
	};
	struct reader_report report;
	int status;

	if (argc != 2) {
		fputs("usage: bench-measure TRACE >MODEL\n", stderr);
		return EXIT_NOTHING;
	}
	images_init(&m.images);
	contexts_init(&m.contexts);
	blocks_init(&m.blocks);
	status = reader_run(argv[1], &sink, &report, NULL);
	if (status == EXIT_NOTHING)
		return status;
	finish(&m);
	trace_model_print(&m.model, stdout);
	contexts_free(&m.contexts);
	blocks_free(&m.blocks);
	images_free(&m.images);
	table_free(&m.addresses);
	free(m.past);
	free(m.met);
	free(m.first);
	return status;
}
