/*
 * model_apply.c: dispatches the events of a trace: events about blocks go to
 * edges.h, whose allocations and ends go to account.h; all others go to the
 * parts of the model that keep them.
 *
 *  I1  totals.live_* are the sums of all costs' live_*, and of all blocks that
 *      were not left out.
 *
 * Called by the reader's thread.
 */
#include "cli/base/grow.h"
#include "cli/model/account.h"
#include "cli/model/model_state.h"
#include "cli/model/view.h"
#include "unwind/base/assertion.h"

#define LOOK_AHEAD 24		/* events before use at which the bucket is
				 * prefetched, */
#define LOOK_AT_BLOCK 16	/* the block, */
#define LOOK_AT_COST 8		/* and the measures of the context */

/* ---- edges ---- */

static inline void alloc(void *owner, struct block *block, uint32_t lane,
			 uint32_t context, uint32_t chain)
{
	struct model *model = owner;
	struct thread *thread = &model->threads.list[lane >> 1];

	DEBUG_ASSERT(lane >> 1 < model->threads.count);
	block->sequence = ++thread->allocations & BLOCK_SEQUENCE;
	block->thread = lane >> 1;
	account_alloc(model, block, context, chain);
}

static inline __attribute__((always_inline)) uint32_t
end(void *owner, struct block *block, uint64_t stamp, uint32_t by,
    enum edge_end how)
{
	return account_end(owner, block, stamp, by, how);
}

static void chain_lost(void *owner, uint32_t chain, uint64_t stamp)
{
	account_chain_lost(owner, chain, stamp);
}

static void odd(void *owner, enum edge_odd what, uint64_t stamp)
{
	struct model *model = owner;

	if (what == EDGE_REPAIRED)
		model->totals.repaired++;
	else if (what == EDGE_UNKNOWN)
		view_free_unknown(model, stamp);
	else if (stamp >= model->controls.view)
		model->totals.unpaired++;
}

static void refused(void *owner, uint32_t lane)
{
	const struct model *model = owner;

	(void)lane;
	grow_failed(model->edges.blocks.used * sizeof(struct block));
}

static const struct edges_sink sink = {
	.alloc = alloc,
	.end = end,
	.chain_lost = chain_lost,
	.odd = odd,
	.refused = refused,
};

void model_edges(struct model *model)
{
	if (!edges_init(&model->edges, &sink, model, 0))
		grow_failed(sizeof(model->edges));
}

/* ---- chains with missing blocks ---- */

/* The event that an EXTRA was about. */
static void model_chained(struct model *model, uint32_t lane,
			  const struct trace_event *gap,
			  const struct trace_event *event)
{
	edges_advance(&model->edges, event->stamp);
	if (event->stamp >= model->alarm && !account_alarm(model, event))
		return;
	if (model->with_maps)
		maps_event(&model->maps, event);
	if (gap->what == GT_EXTRA_CHAIN_RESUMES && event->kind == GT_ALLOC &&
	    event->address != 0) {
		edges_resume(&model->edges, lane, event,
			     account_chain_resumes(model, gap, event));
		return;
	}
	if (gap->what == GT_EXTRA_CHAIN_LEAVES &&
	    event->kind == GT_REALLOC_FREED)
		account_chain_leaves(model, gap);
	edges_take(&model->edges, lane, event);
	model->leaving = 0;
}

/* Takes an EXTRA about a chain together with the next event. Returns how many
 * events were taken. */
static size_t model_chain(struct model *model, uint32_t lane,
			  const struct trace_event *events, size_t count)
{
	if (events->what == GT_EXTRA_CHAIN_ENDS)
		account_chain_ends(model, events);
	else if (count == 1)
		chains_note(&model->chains, lane, events);
	if (events->what == GT_EXTRA_CHAIN_ENDS || count == 1 ||
	    events[1].kind == GT_EXTRA)
		return 1;
	model_chained(model, lane, events, &events[1]);
	return 2;
}

/* Takes the first event if an EXTRA waits for it. Returns how many events were
 * taken. */
static size_t model_noted(struct model *model, uint32_t lane,
			  const struct trace_event *events)
{
	struct chain_note note;

	if (!chains_take_note(&model->chains, lane, &note) ||
	    events->kind == GT_EXTRA)
		return 0;
	model_chained(model, lane, &note.event, events);
	return 1;
}

/* ---- events ---- */

/* Events that are not about a block, except EXTRAs about chains: for these
 * returns true, and the caller calls model_chain. */
static bool model_extra(struct model *model, uint32_t lane,
			const struct trace_event *event)
{
	DEBUG_ASSERT(lane >> 1 < model->threads.count);
	threads_extra(&model->threads, lane >> 1, event);
	if (event->what == GT_EXTRA_LEFT_OUT)
		model->threads.list[lane >> 1].allocations += event->size;
	if (event->stamp >= model->controls.view)
		damages_extra(&model->damages, &model->contexts, lane >> 1,
			      event);
	tuning_extra(&model->tuning, &model->contexts, lane >> 1, event);
	if (model->with_maps)
		maps_extra(&model->maps, lane, event);
	return model->follows_chains && event->what >= GT_EXTRA_CHAIN_LEAVES &&
	       event->what <= GT_EXTRA_CHAIN_ENDS;
}

/*
 * The data of an event is spread over memory: it is prefetched in three steps,
 * each of which uses the result of the previous one. Kinds of events come in no
 * order, so there are no branches on them: numbers are selected by masks, since
 * compilers turn conditions into branches; block 0 stands for "none". To gcc 12
 * a function that only prefetches has no effect, and calls of it are removed:
 * so it has to be inlined.
 */
static inline __attribute__((always_inline)) void
look_ahead(const struct model *model, const struct trace_event *events,
	   size_t i, size_t count, uint32_t glanced[LOOK_AT_BLOCK])
{
	const struct trace_event *event;
	const struct context_ref *ref;
	uint32_t frees, number;

	if (i + LOOK_AHEAD < count) {
		event = &events[i + LOOK_AHEAD];
		blocks_prefetch(&model->edges.blocks, event->address);
		contexts_prefetch(&model->contexts, event->context);
	}
	if (i + LOOK_AT_BLOCK < count) {
		event = &events[i + LOOK_AT_BLOCK];
		frees = 0 - (uint32_t)(event->kind != GT_ALLOC);
		number = blocks_glance(&model->edges.blocks, event->address);
		number &= frees;
		glanced[i % LOOK_AT_BLOCK] = number;
		blocks_prefetch_block(&model->edges.blocks, number);
	}
	if (i + LOOK_AT_COST >= count)
		return;
	event = &events[i + LOOK_AT_COST];
	frees = 0 - (uint32_t)(event->kind != GT_ALLOC);
	number = glanced[(i + LOOK_AT_COST) % LOOK_AT_BLOCK];
	number = model->edges.blocks.list[number].cost;
	ref = contexts_ref(&model->contexts, event->context);
	if (ref != NULL)
		number ^= (number ^ ref->cost) & ~frees;
	contexts_prefetch_cost(&model->contexts, number);
}

static void note_undefined(struct model *model)
{
	DEBUG_ASSERT(model->contexts.undefined > model->undefined);
	format_errors_note(&model->report.errors, FORMAT_ERROR_CONTEXT,
			   model->contexts.undefined - model->undefined);
	model->undefined = model->contexts.undefined;
}

/* Applies events from the i-th on, up to an event for model_chain: returns its
 * index, or `count`. */
static inline __attribute__((always_inline)) size_t
model_run(struct model *model, uint32_t lane, const struct trace_event *events,
	  size_t i, size_t count)
{
	uint32_t glanced[LOOK_AT_BLOCK] = { 0 };

	for (; i < count; i++) {
		const struct trace_event *event = &events[i];

		look_ahead(model, events, i, count, glanced);
		edges_advance(&model->edges, event->stamp);
		if (event->stamp >= model->alarm &&
		    !account_alarm(model, event))
			continue;
		if (model->with_maps)
			maps_event(&model->maps, event);
		if (__builtin_expect(event->kind != GT_EXTRA, 1))
			edges_event(&model->edges, &sink, lane, event);
		else if (model_extra(model, lane, event))
			break;
	}
	return i;
}

void model_events(void *owner, uint32_t lane,
		  const struct trace_event *events, size_t count)
{
	struct model *model = owner;
	size_t i;

	DEBUG_ASSERT(count > 0 && lane >> 1 < model->threads.count);
	if (!model->begun)
		account_begin(model);
	if (!edges_reach(&model->edges, lane))
		grow_failed((size_t)lane * sizeof(struct edges_pending));
	if (model->observer != NULL && model->observer->thread != NULL)
		*model->observer->thread = lane >> 1;
	for (i = 0; i < count && i < LOOK_AHEAD; i++)
		blocks_prefetch(&model->edges.blocks, events[i].address);
	i = model->chains.note_count == 0 ? 0 :
		model_noted(model, lane, events);
	while ((i = model_run(model, lane, events, i, count)) < count)
		i += model_chain(model, lane, events + i, count - i);
	model->threads.list[lane >> 1].events += count;
	if (model->contexts.undefined != model->undefined)
		note_undefined(model);
	if (events[count - 1].stamp > model->totals.last_stamp)
		model->totals.last_stamp = events[count - 1].stamp;
}

#ifdef GNOMON_DEBUG_ASSERTS
bool model_is_valid(const struct model *model)
{
	const struct contexts *contexts = &model->contexts;
	uint64_t blocks = 0, bytes = 0, listed = 0;
	const struct block *block;
	uint32_t number = 0;

	for (size_t i = 0; i < contexts->cost_count; i++) {
		blocks += contexts->costs[i].live_blocks;
		bytes += contexts->costs[i].live_bytes;
	}
	while ((block = blocks_next(&model->edges.blocks, &number)) != NULL)
		listed += !block->left_out && !view_is_foreign(model, block);
	return blocks == model->totals.live_blocks &&
	       bytes == model->totals.live_bytes &&
	       (model->sample_mean != 0 || listed == blocks); /* I1 */
}
#endif

void model_finish(struct model *model)
{
	threads_settle(&model->threads);
	view_advance(model, model->until);
	edges_finish(&model->edges, model->totals.last_stamp);
	assert(model->edges.waiting.count == 0);
	account_finish(model);
	assert(model->begun);
	contexts_settle(&model->contexts);
}
