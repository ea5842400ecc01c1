/*
 * block_table_rows.c: the block table's arrays beside its blocks: measures by
 * context, threads by ring.
 *
 * I1: entry 0 of `figures` is never used: 0 means none.
 * I2: an entry of `threads` belongs to a ring, or its thread has ended and has
 *     blocks, or it is unused; entry 0 is no thread.
 *
 * The recorder only.
 */
#include "cli/recorder/live_blocks/block_table_rows.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "unwind/base/assertion.h"

/* Fractions of the memory budget. */
#define BLOCK_TABLE_FIGURES_PART 16
#define BLOCK_TABLE_NUMBERS_PART 8

/* ---- figures ---- */

/* Contexts have different rounding offsets, so that their rounded numbers have
 * the right sum: some are rounded up, others down. */
static void block_table_figure_begin(struct block_table_figure *figure,
				     uint32_t context)
{
	uint16_t lead = block_table_figure_lead(context);

	*figure = (struct block_table_figure){
		.context = context,
		.rest_blocks = lead, .rest_freed = lead,
	};
}

uint32_t block_table_figure_number(struct block_table *table, uint32_t context)
{
	uint32_t *number;

	if (context >= table->nodes_max)
		context = GT_STOP_OTHER;
	if (!vector_reach(&table->numbers,
			  (context + UINT64_C(1)) * sizeof(*number)))
		return 0;
	number = (uint32_t *)table->numbers.at + context;
	DEBUG_ASSERT(*number <= table->figure_count);
	if (likely(*number))
		return *number;
	if (!vector_reach(&table->figures, (table->figure_count +
					    UINT64_C(2)) *
					   sizeof(struct block_table_figure)))
		return 0;
	*number = ++table->figure_count;
	DEBUG_ASSERT((*number + UINT64_C(1)) *
			     sizeof(struct block_table_figure) <=
		     table->figures.ready);
	block_table_figure_begin(block_table_figure_at(table, *number),
				 context);
	return *number;
}

struct block_table_figure *
block_table_figure_of(const struct block_table *table, uint32_t context)
{
	const uint32_t *numbers = (const uint32_t *)table->numbers.at;

	if ((context + UINT64_C(1)) * sizeof(*numbers) >
		    table->numbers.ready || !numbers[context])
		return NULL;
	return block_table_figure_at(table, numbers[context]);
}

/* ---- threads ---- */

static struct block_table_thread *
block_table_thread_entry(const struct block_table *table, uint32_t i)
{
	return (struct block_table_thread *)table->threads.at + i;
}

struct block_table_thread *
block_table_thread_at(const struct block_table *table, uint32_t ring)
{
	return block_table_thread_entry(
		table, (ring + UINT64_C(1)) * sizeof(struct block_table_ring) <=
				table->rings.ready ?
			block_table_ring_at(table, ring)->thread : 0);
}

bool block_table_reach_ring(struct block_table *table, uint32_t ring)
{
	return vector_reach(&table->rings,
			    (ring + UINT64_C(1)) *
				    sizeof(struct block_table_ring));
}

/* 0: no memory. */
static uint32_t block_table_thread_take(struct block_table *table)
{
	uint32_t i = table->threads_unused;

	DEBUG_ASSERT(i < table->thread_count);
	if (i) {
		table->threads_unused =
			block_table_thread_entry(table, i)->next;
		return i;
	}
	i = table->thread_count;
	if (!vector_reach(&table->threads,
			  (i + UINT64_C(1)) *
				  sizeof(struct block_table_thread)))
		return 0;
	table->thread_count++;
	return i;
}

static void block_table_thread_give(struct block_table *table,
				    struct block_table_thread *thread)
{
	if (!thread->gone || thread->blocks)
		return;
	DEBUG_ASSERT(thread != block_table_thread_entry(table, 0));	/* I2 */
	*thread = (struct block_table_thread){ .next = table->threads_unused };
	table->threads_unused =
		(uint32_t)(thread - block_table_thread_entry(table, 0));
}

void block_table_thread_drop(struct block_table *table,
			     struct block_table_thread *thread)
{
	assert(thread->blocks > 0);
	thread->blocks--;
	if (unlikely(thread->gone))
		block_table_thread_give(table, thread);
}

void block_table_thread_new(struct block_table *table, uint32_t ring,
			    uint32_t serial)
{
	struct block_table_ring *of;
	uint32_t before;

	if (!block_table_reach_ring(table, ring) ||
	    !edges_reach(&table->edges, ring))
		return;
	edges_lane_ends(&table->edges, ring, 0);
	of = block_table_ring_at(table, ring);
	before = of->thread;
	*of = (struct block_table_ring){ .owner = ring };
	if (before) {
		block_table_thread_entry(table, before)->gone = true;
		block_table_thread_give(
			table, block_table_thread_entry(table, before));
	}
	of->thread = block_table_thread_take(table);
	if (of->thread)
		*block_table_thread_entry(table, of->thread) =
			(struct block_table_thread){ .serial = serial,
						.ring = ring };
	DEBUG_ASSERT(of->thread < table->thread_count);
}

#ifdef GNOMON_DEBUG_ASSERTS
/* How many entries belong to rings; UINT32_MAX: an entry is not its ring's. */
static uint32_t block_table_threads_of_rings(const struct block_table *table)
{
	uint32_t rings = table->rings.ready / sizeof(struct block_table_ring);
	uint32_t i, at, n = 0;

	for (i = 0; i < rings; i++) {
		const struct block_table_thread *thread;

		at = block_table_ring_at(table, i)->thread;
		thread = block_table_thread_entry(table, at);
		if (at >= table->thread_count ||
		    (at && (thread->ring != i || thread->gone)))
			return UINT32_MAX;
		n += at != 0;
	}
	return n;
}

/* I2 holds, and the blocks of all threads are the live blocks. */
static bool block_table_threads_are_valid(const struct block_table *table)
{
	uint32_t i, gone = 0, unused = 0;
	uint64_t blocks = 0;

	for (i = 0; i < table->thread_count; i++) {
		gone += block_table_thread_entry(table, i)->gone;
		blocks += block_table_thread_entry(table, i)->blocks;
	}
	for (i = table->threads_unused; i; unused++) {
		const struct block_table_thread *thread =
			block_table_thread_entry(table, i);

		if (i >= table->thread_count ||
		    unused > table->thread_count || thread->serial ||
		    thread->blocks)
			return false;
		i = thread->next;
	}
	return blocks == table->edges.blocks.count &&
	       UINT64_C(1) + gone + unused +
			       block_table_threads_of_rings(table) ==
		       table->thread_count;
}

bool block_table_is_valid(const struct block_table *table)
{
	const struct block *block;
	uint32_t number = 0;

	while ((block = blocks_next(&table->edges.blocks, &number)) != NULL)
		if (!block->cost || block->cost > table->figure_count ||
		    block->thread >= table->thread_count)
			return false;
	return block_table_threads_are_valid(table);
}
#endif

/* ---- init, clear, forget ---- */

int block_table_arrays(struct block_table *table, uint64_t bytes,
		       uint32_t nodes_max)
{
	table->nodes_max = nodes_max;
	table->figures.max = bytes / BLOCK_TABLE_FIGURES_PART;
	table->numbers.max = base_min(nodes_max * UINT64_C(4),
				      bytes / BLOCK_TABLE_NUMBERS_PART);
	table->rings.max = GL_RINGS_MAX * sizeof(struct block_table_ring);
	/* a block needs one at most, and so does a ring */
	table->threads.max = (GL_RINGS_MAX + table->edges.blocks.max) *
			       sizeof(struct block_table_thread);
	table->slots.max = (table->edges.blocks.max + UINT64_C(1)) *
			     sizeof(uint32_t);
	table->thread_count = 1;
	return vector_reach(&table->threads, sizeof(struct block_table_thread))
		       ? 0
		       : -ENOMEM;
}

void block_table_clear(struct block_table *table, uint64_t tick)
{
	uint32_t i;

	for (i = 1; i <= table->figure_count; i++) {
		struct block_table_figure *figure =
			block_table_figure_at(table, i);

		block_table_figure_begin(figure, figure->context);
	}
	memset(&table->all, 0, sizeof(table->all));
	memset(table->classes, 0, sizeof(table->classes));
	memset(table->lives, 0, sizeof(table->lives));
	table->unpaired = table->refused = 0;
	for (i = 0; i < table->thread_count; i++)
		memset(&block_table_thread_entry(table, i)->sum, 0,
		       sizeof(struct block_table_sum));
	table->view = tick;
}

void block_table_forget(struct block_table *table, uint64_t tick)
{
	uint32_t i;

	block_table_clear(table, tick);
	edges_forget(&table->edges);
	for (i = 0; i < table->thread_count; i++) {
		struct block_table_thread *thread =
			block_table_thread_entry(table, i);

		thread->blocks = 0;
		block_table_thread_give(table, thread);
	}
	table->edges.gap = true;
	DEBUG_ASSERT(block_table_is_valid(table));
}
