/*
 * ledger_table.c: the block table's arrays beside its blocks: measures by
 * context, threads by ring.
 *
 * I1: entry 0 of `figures` is never used: 0 means none.
 * I2: an entry of `threads` belongs to a ring, or its thread has ended and has
 *     blocks, or it is unused; entry 0 is no thread.
 *
 * The writer only.
 */
#include "cli/recorder/books/ledger_table.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "unwind/claim.h"

/* Fractions of the memory budget. */
#define LEDGER_FIGURES_PART 16
#define LEDGER_NUMBERS_PART 8

/* ---- figures ---- */

/* Contexts have different rounding offsets, so that their rounded numbers have
 * the right sum: some are rounded up, others down. */
static void ledger_figure_begin(struct ledger_figure *figure,
				uint32_t context)
{
	uint16_t lead = ledger_figure_lead(context);

	*figure = (struct ledger_figure){
		.context = context,
		.rest_blocks = lead, .rest_freed = lead,
	};
}

uint32_t ledger_figure_number(struct ledger *ledger, uint32_t context)
{
	uint32_t *number;

	if (context >= ledger->nodes_max)
		context = GT_STOP_OTHER;
	if (!grown_reach(&ledger->numbers,
			 (context + UINT64_C(1)) * sizeof(*number)))
		return 0;
	number = (uint32_t *)ledger->numbers.at + context;
	CLAIM_FULL(*number <= ledger->figure_count);
	if (likely(*number))
		return *number;
	if (!grown_reach(&ledger->figures, (ledger->figure_count +
					    UINT64_C(2)) *
					   sizeof(struct ledger_figure)))
		return 0;
	*number = ++ledger->figure_count;
	CLAIM_FULL((*number + UINT64_C(1)) * sizeof(struct ledger_figure) <=
		   ledger->figures.ready);
	ledger_figure_begin(ledger_figure_at(ledger, *number), context);
	return *number;
}

struct ledger_figure *ledger_figure_of(const struct ledger *ledger,
				       uint32_t context)
{
	const uint32_t *numbers = (const uint32_t *)ledger->numbers.at;

	if ((context + UINT64_C(1)) * sizeof(*numbers) >
		    ledger->numbers.ready || !numbers[context])
		return NULL;
	return ledger_figure_at(ledger, numbers[context]);
}

/* ---- threads ---- */

static struct ledger_thread *ledger_thread_entry(const struct ledger *ledger,
						 uint32_t i)
{
	return (struct ledger_thread *)ledger->threads.at + i;
}

struct ledger_thread *ledger_thread_at(const struct ledger *ledger,
				       uint32_t ring)
{
	return ledger_thread_entry(
		ledger, (ring + UINT64_C(1)) * sizeof(struct ledger_ring) <=
				ledger->rings.ready ?
			ledger_ring_at(ledger, ring)->thread : 0);
}

bool ledger_reach_ring(struct ledger *ledger, uint32_t ring)
{
	return grown_reach(&ledger->rings, (ring + UINT64_C(1)) *
						   sizeof(struct ledger_ring));
}

/* 0: no memory. */
static uint32_t ledger_thread_take(struct ledger *ledger)
{
	uint32_t i = ledger->threads_unused;

	CLAIM_FULL(i < ledger->thread_count);
	if (i) {
		ledger->threads_unused = ledger_thread_entry(ledger, i)->next;
		return i;
	}
	i = ledger->thread_count;
	if (!grown_reach(&ledger->threads, (i + UINT64_C(1)) *
						   sizeof(struct ledger_thread)))
		return 0;
	ledger->thread_count++;
	return i;
}

static void ledger_thread_give(struct ledger *ledger,
			       struct ledger_thread *thread)
{
	if (!thread->gone || thread->blocks)
		return;
	CLAIM_FULL(thread != ledger_thread_entry(ledger, 0));	/* I2 */
	*thread = (struct ledger_thread){ .next = ledger->threads_unused };
	ledger->threads_unused =
		(uint32_t)(thread - ledger_thread_entry(ledger, 0));
}

void ledger_thread_drop(struct ledger *ledger, struct ledger_thread *thread)
{
	assert(thread->blocks > 0);
	thread->blocks--;
	if (unlikely(thread->gone))
		ledger_thread_give(ledger, thread);
}

void ledger_thread_new(struct ledger *ledger, uint32_t ring, uint32_t serial)
{
	struct ledger_ring *of;
	uint32_t before;

	if (!ledger_reach_ring(ledger, ring) ||
	    !edges_reach(&ledger->edges, ring))
		return;
	edges_lane_ends(&ledger->edges, ring, 0);
	of = ledger_ring_at(ledger, ring);
	before = of->thread;
	*of = (struct ledger_ring){ .owner = ring };
	if (before) {
		ledger_thread_entry(ledger, before)->gone = true;
		ledger_thread_give(ledger,
				   ledger_thread_entry(ledger, before));
	}
	of->thread = ledger_thread_take(ledger);
	if (of->thread)
		*ledger_thread_entry(ledger, of->thread) =
			(struct ledger_thread){ .serial = serial,
						.ring = ring };
	CLAIM_FULL(of->thread < ledger->thread_count);
}

#ifdef GNOMON_CLAIMS
/* How many entries belong to rings; UINT32_MAX: an entry is not its ring's. */
static uint32_t ledger_threads_of_rings(const struct ledger *ledger)
{
	uint32_t rings = ledger->rings.ready / sizeof(struct ledger_ring);
	uint32_t i, at, n = 0;

	for (i = 0; i < rings; i++) {
		const struct ledger_thread *thread;

		at = ledger_ring_at(ledger, i)->thread;
		thread = ledger_thread_entry(ledger, at);
		if (at >= ledger->thread_count ||
		    (at && (thread->ring != i || thread->gone)))
			return UINT32_MAX;
		n += at != 0;
	}
	return n;
}

/* I2 holds, and the blocks of all threads are the live blocks. */
static bool ledger_threads_are_valid(const struct ledger *ledger)
{
	uint32_t i, gone = 0, unused = 0;
	uint64_t blocks = 0;

	for (i = 0; i < ledger->thread_count; i++) {
		gone += ledger_thread_entry(ledger, i)->gone;
		blocks += ledger_thread_entry(ledger, i)->blocks;
	}
	for (i = ledger->threads_unused; i; unused++) {
		const struct ledger_thread *thread =
			ledger_thread_entry(ledger, i);

		if (i >= ledger->thread_count ||
		    unused > ledger->thread_count || thread->serial ||
		    thread->blocks)
			return false;
		i = thread->next;
	}
	return blocks == ledger->edges.blocks.count &&
	       UINT64_C(1) + gone + unused + ledger_threads_of_rings(ledger) ==
		       ledger->thread_count;
}

bool ledger_is_valid(const struct ledger *ledger)
{
	const struct block *block;
	uint32_t number = 0;

	while ((block = blocks_next(&ledger->edges.blocks, &number)) != NULL)
		if (!block->cost || block->cost > ledger->figure_count ||
		    block->thread >= ledger->thread_count)
			return false;
	return ledger_threads_are_valid(ledger);
}
#endif

/* ---- init, clear, forget ---- */

int ledger_tables(struct ledger *ledger, uint64_t bytes, uint32_t nodes_max)
{
	ledger->nodes_max = nodes_max;
	ledger->figures.most = bytes / LEDGER_FIGURES_PART;
	ledger->numbers.most = base_min(nodes_max * UINT64_C(4),
					bytes / LEDGER_NUMBERS_PART);
	ledger->rings.most = GL_RINGS_MAX * sizeof(struct ledger_ring);
	/* a block needs one at most, and so does a ring */
	ledger->threads.most = (GL_RINGS_MAX + ledger->edges.blocks.most) *
			       sizeof(struct ledger_thread);
	ledger->slots.most = (ledger->edges.blocks.most + UINT64_C(1)) *
			     sizeof(uint32_t);
	ledger->thread_count = 1;
	return grown_reach(&ledger->threads, sizeof(struct ledger_thread)) ?
		       0 : -ENOMEM;
}

void ledger_clear(struct ledger *ledger, uint64_t tick)
{
	uint32_t i;

	for (i = 1; i <= ledger->figure_count; i++) {
		struct ledger_figure *figure = ledger_figure_at(ledger, i);

		ledger_figure_begin(figure, figure->context);
	}
	memset(&ledger->all, 0, sizeof(ledger->all));
	memset(ledger->classes, 0, sizeof(ledger->classes));
	memset(ledger->lives, 0, sizeof(ledger->lives));
	ledger->unpaired = ledger->refused = 0;
	for (i = 0; i < ledger->thread_count; i++)
		memset(&ledger_thread_entry(ledger, i)->sum, 0,
		       sizeof(struct ledger_sum));
	ledger->view = tick;
}

void ledger_forget(struct ledger *ledger, uint64_t tick)
{
	uint32_t i;

	ledger_clear(ledger, tick);
	edges_forget(&ledger->edges);
	for (i = 0; i < ledger->thread_count; i++) {
		struct ledger_thread *thread = ledger_thread_entry(ledger, i);

		thread->blocks = 0;
		ledger_thread_give(ledger, thread);
	}
	ledger->edges.gap = true;
	CLAIM_FULL(ledger_is_valid(ledger));
}
