/*
 * strip_plan.c: see the header.
 *
 * A model reads the same events; it has the totals of the trace before
 * stripping. Events are paired by edges of its own, since the model leaves out
 * some blocks, and all are needed here. If allocation and free of an address do
 * not alternate in the order of their stamps, or a realloc is incomplete, the
 * block is odd: its events are kept, and readers treat them as before.
 *
 * The peak must not change, so all blocks live at the peak are kept, however
 * short-lived. When a block ends, a higher peak may still follow. So
 * short-lived blocks that were live at the highest peak so far are undecided.
 * They are dropped when a higher peak occurs, at which they are not live.
 *
 * A START or CLEAR begins a new segment (controls.h), with a peak and totals of
 * its own. Blocks that are live across it are kept, as are events while
 * recording is stopped, and blocks of the program's own heaps, which have no
 * totals.
 *
 *  I1  An undecided block was live at the allocation number peak_order.
 *  I2  A place marked STRIP_DROP begins or ends a block that strip_totals
 *      counts, and both its events are marked.
 *
 * Called by the reader's thread.
 */
#include "cli/transform/strip_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/terminal/log.h"
#include "cli/model/model_observer.h"
#include "cli/model/core/contexts.h"
#include "cli/model/core/controls.h"
#include "cli/model/core/pools.h"
#include "cli/model/core/threads.h"
#include "cli/model/omitted.h"
#include "cli/model/model.h"
#include "cli/model/stats/freed.h"
#include "cli/trace/read/reader.h"

#define SEGMENTS_MAX 4096	/* with totals; after that many nothing is
				 * dropped */

/* ---- dropped blocks ---- */

static void mark(struct strip_plan *plan, const struct strip_place *place,
		 enum strip_mark how)
{
	strip_marks_set(&plan->marks, place->stream, place->position, how);
}

/* Drop the block. `waited`: it was undecided. */
static void doom(struct strip_plan *plan, const struct strip_doomed *doomed,
		 bool waited)
{
	mark(plan, &doomed->begin, STRIP_DROP);
	for (unsigned i = 0; i < doomed->ends; i++)
		mark(plan, &doomed->end[i], STRIP_DROP);
	strip_totals_add(&plan->totals, &doomed->block);
	strip_chains_go(&plan->chains, &doomed->link, waited, &doomed->begin,
			&plan->totals, &plan->marks);
}

static void doom_undecided(struct strip_plan *plan)
{
	for (size_t i = 0; i < plan->undecided_count; i++)
		doom(plan, &plan->undecided[i], true);
	plan->undecided_count = 0;
}

static bool is_short(const struct strip_plan *plan,
		     const struct strip_block *block, uint64_t between)
{
	const struct strip_options *options = &plan->options;

	return (options->by_lifetime &&
		block->lifetime_ns < options->lifetime_ns) ||
	       (options->by_temporary && between <= options->temporary);
}

/*
 * A block of that thread that is kept ends in `lane`, and its thread allocated
 * in between. Some of these blocks may be dropped in the thread's other ring: a
 * LEFT_OUT there, before this end, reports them.
 */
static void report_others(struct strip_plan *plan, uint32_t thread,
			  uint32_t lane)
{
	for (unsigned nested = 0; nested < 2; nested++) {
		uint32_t other = model_lane(thread, nested);

		if (other != lane && other < plan->lane_capacity &&
		    plan->lanes[other].seen)
			mark(plan, &plan->lanes[other].last, STRIP_TELL);
	}
}

/* ---- edges ---- */

/* An allocation, or the result of a realloc. A delayed one is delivered with
 * another event, and is odd. */
static void alloc(void *owner, struct block *block, uint32_t lane,
		  uint32_t context, uint32_t chain)
{
	struct strip_plan *plan = owner;
	const struct strip_now *now = &plan->now;
	uint32_t number = blocks_number(&plan->edges.blocks, block);

	if (block->odd)
		report_others(plan, lane >> 1, now->lane);
	block->sequence = ++plan->allocations[lane >> 1] & BLOCK_SEQUENCE;
	block->cost = context;
	block->thread = lane >> 1;
	/* The ring may have been replaced since BEGIN: then the second pass
	 * does not see the two events in one stream. */
	block->odd |= pools_number(block->address) != 0 ||
		(now->event->kind == GT_REALLOC_DONE &&
		 plan->lanes[now->lane].begin.stream != now->place.stream);
	GROW_TO(plan->known, plan->known_capacity, number);
	plan->known[number] = (struct strip_known){
		.place = now->place, .order = ++plan->order,
	};
	if (chain != 0)
		strip_chains_enter(&plan->chains, chain, number, block);
	plan->live += model_stands_for(plan->model, block->size);
	if (plan->live > plan->peak) {
		plan->peak = plan->live;
		plan->peak_order = plan->order;
		doom_undecided(plan);
	}
}

/* The events that end the block. False: they are in two rings. */
static bool find_ends(const struct strip_plan *plan,
		      struct strip_doomed *doomed)
{
	const struct strip_now *now = &plan->now;
	const struct strip_place *begin = &plan->lanes[now->lane].begin;

	doomed->ends = 0;
	if (now->event->kind != GT_FREE)
		doomed->end[doomed->ends++] = *begin;
	if (now->event->kind != GT_REALLOC_DONE)	/* begins another
							 * block */
		doomed->end[doomed->ends++] = now->place;
	return now->event->kind == GT_FREE ||
	       begin->stream == now->place.stream;
}

/* Returns the chain that continues, for an EDGE_MOVED. Readers do not follow
 * chains of blocks from before the last START or CLEAR, or of other heaps. */
static uint32_t follow_chain(struct strip_plan *plan, const struct block *block,
			     uint64_t stamp, enum edge_end how,
			     struct strip_link *link)
{
	const struct strip_now *now = &plan->now;
	uint32_t number = blocks_number(&plan->edges.blocks, block);

	*link = (struct strip_link){ .chain = 0 };
	if (plan->known[number].order <= plan->begin_order ||
	    pools_number(block->address) != 0)
		return 0;
	if (how == EDGE_MOVED)
		return strip_chains_leave(&plan->chains, number, block,
					  now->event, &now->place, link);
	if (plan->leaving != 0)
		strip_chains_suspend(&plan->chains, plan->leaving, number,
				     block, link);
	else
		strip_chains_end(&plan->chains, number, stamp, &now->place,
				 link);
	return 0;
}

static uint32_t end(void *owner, struct block *block, uint64_t stamp,
		    uint32_t by, enum edge_end how)
{
	struct strip_plan *plan = owner;
	const struct strip_known *known =
		&plan->known[blocks_number(&plan->edges.blocks, block)];
	uint64_t between = (plan->allocations[block->thread] -
			    block->sequence) & BLOCK_SEQUENCE;
	struct strip_doomed doomed = { .begin = known->place };
	uint32_t chain = follow_chain(plan, block, stamp, how, &doomed.link);
	bool goes;

	doomed.block = (struct strip_block){
		.context = block->cost, .thread = block->thread,
		.freed_by = by,
		.has_freed_by = plan->has_freed_by,
		.weight = model_weight(plan->model, block),
		.size = block->size, .alloc = block->alloc,
		.lifetime = stamp - block->alloc,
		.temporary = between == 0 && !plan->sampled,
	};
	doomed.block.lifetime_ns = model_span_ns(plan->model,
						 doomed.block.lifetime);
	goes = !block->odd && how != EDGE_LOST &&
		known->order > plan->begin_order &&
		plan->segments_full < SEGMENTS_MAX &&
		is_short(plan, &doomed.block, between) &&
		find_ends(plan, &doomed);
	if (goes && known->order > plan->peak_order) {
		doom(plan, &doomed, false);
	} else if (between > 0) {
		report_others(plan, block->thread, plan->now.lane);
	}
	if (!goes)
		strip_chains_stay(&plan->chains, &doomed.link);
	if (goes && known->order <= plan->peak_order) {	/* I1 */
		GROW(plan->undecided, plan->undecided_count,
		     plan->undecided_capacity);
		plan->undecided[plan->undecided_count++] = doomed;
		strip_chains_wait(&plan->chains, &doomed.link);
	}
	if (known->order > plan->begin_order)
		plan->live -= model_stands_for(plan->model, block->size);
	return chain;
}

static void chain_lost(void *owner, uint32_t chain, uint64_t stamp)
{
	struct strip_plan *plan = owner;

	strip_chains_lost(&plan->chains, chain, stamp, &plan->totals);
}

/* The model counts them. */
static void odd(void *owner, enum edge_odd what, uint64_t stamp)
{
	(void)owner;
	(void)what;
	(void)stamp;
}

static void refused(void *owner, uint32_t lane)
{
	const struct strip_plan *plan = owner;

	(void)lane;
	grow_failed(plan->edges.blocks.used * sizeof(struct block));
}

static const struct edges_sink blocks_sink = {
	.alloc = alloc,
	.end = end,
	.chain_lost = chain_lost,
	.odd = odd,
	.refused = refused,
};

/* ---- events ---- */

/* The lane's realloc has no effect: its BEGIN is kept, and so is the block. */
static void abandon(struct strip_plan *plan, uint32_t lane)
{
	const struct edges_pending *pending =
		edges_pending_of(&plan->edges, lane);

	if (pending->active && pending->found && !pending->released)
		blocks_find(&plan->edges.blocks, pending->address)->odd = 1;
}

static void need(struct strip_plan *plan, uint32_t node)
{
	GROW_TO(plan->needed, plan->needed_capacity, node);
	plan->needed[node] = true;
}

/* All later events belong to a new segment. */
static void begin_anew(struct strip_plan *plan)
{
	struct strip_segment *segment;

	GROW(plan->segments, plan->segment_count, plan->segment_capacity);
	segment = &plan->segments[plan->segment_count++];
	segment->totals = NULL;
	if (plan->totals.rows.count > 0) {
		segment->totals = grow_alloc(sizeof(plan->totals));
		*segment->totals = plan->totals;
		memset(&plan->totals, 0, sizeof(plan->totals));
		plan->segments_full++;
	}
	plan->begin_order = plan->order;
	plan->undecided_count = 0;	/* they were live at the segment's
					 * peak */
	strip_chains_forget(&plan->chains);
	edges_forget_chains(&plan->edges);
	plan->live = plan->peak = 0;
	plan->peak_order = plan->order;
}

/* Apply all controls up to this stamp. */
static void advance(struct strip_plan *plan, uint64_t stamp)
{
	const struct controls *controls = plan->controls;

	while (plan->next_control < controls->count &&
	       controls->list[plan->next_control].stamp <= stamp) {
		unsigned what = controls->list[plan->next_control++].what;

		if (what == GT_CONTROL_STOP)
			plan->off = true;
		if (what == GT_CONTROL_START || what == GT_CONTROL_CLEAR)
			begin_anew(plan);
		if (what != GT_CONTROL_START)
			continue;
		plan->off = false;
		plan->edges.gap = true;
		edges_forget(&plan->edges);
	}
}

/* Events that are not about a block. */
static void apply_extra(struct strip_plan *plan,
			const struct trace_event *event)
{
	if (event->what == GT_EXTRA_DAMAGE)
		need(plan, model_node(plan->model,
					 (uint32_t)event->args[1]));
	if (event->what == GT_EXTRA_LEFT_OUT)
		plan->allocations[plan->now.lane >> 1] += event->size;
	else
		need(plan, model_node(plan->model,
					 event->context));
}

/* An EXTRA about a chain, from an earlier strip or the recorder. */
static void apply_gap(struct strip_plan *plan, const struct trace_event *event)
{
	if (event->what == GT_EXTRA_CHAIN_ENDS)
		strip_chains_reported(&plan->chains, event, &plan->now.place,
				      &plan->totals, &plan->marks);
	else
		strip_gap_keep(&plan->lanes[plan->now.lane].gap, event);
}

/* The event that the EXTRA is about. */
static void apply_chained(struct strip_plan *plan,
			  const struct trace_event *event)
{
	uint32_t lane = plan->now.lane;
	const struct trace_event *gap = strip_gap_event(&plan->lanes[lane].gap);

	plan->lanes[lane].gap.there = false;
	if (gap->what == GT_EXTRA_CHAIN_RESUMES && event->kind == GT_ALLOC &&
	    gap->args[0] != 0) {
		edges_resume(&plan->edges, lane, event,
			     strip_chains_resume(&plan->chains, gap, event));
		return;
	}
	if (gap->what == GT_EXTRA_CHAIN_LEAVES &&
	    event->kind == GT_REALLOC_FREED)
		plan->leaving = gap->args[0];
	edges_event(&plan->edges, &blocks_sink, lane, event);
	plan->leaving = 0;
}

static void apply(struct strip_plan *plan)
{
	const struct trace_event *event = plan->now.event;
	uint32_t lane = plan->now.lane;

	edges_advance(&plan->edges, event->stamp);
	advance(plan, event->stamp);
	if (event->kind == GT_EXTRA) {
		plan->lanes[lane].gap.there = false;
		apply_extra(plan, event);
		if (event->what >= GT_EXTRA_CHAIN_LEAVES &&
		    event->what <= GT_EXTRA_CHAIN_ENDS && !plan->off)
			apply_gap(plan, event);
		return;
	}
	if (event->address == 0 || plan->off)
		return;
	if (event->kind != GT_ALLOC && event->context != 0)
		need(plan, model_node(plan->model,
					 event->context));
	if (event->kind == GT_REALLOC_BEGIN ||
	    event->kind == GT_REALLOC_FAILED)
		abandon(plan, lane);
	if (plan->lanes[lane].gap.there)
		apply_chained(plan, event);
	else
		edges_event(&plan->edges, &blocks_sink, lane, event);
	if (event->kind == GT_REALLOC_BEGIN)
		plan->lanes[lane].begin = plan->now.place;
}

/* ---- from the reader ---- */

static enum reader_chunk take_chunk(void *owner, const struct chunk *chunk)
{
	struct strip_plan *plan = owner;

	if (model_is_being_written(plan->model))
		return READER_TAKEN;	/* the caller refuses such a trace
					 * later */
	plan->current = *chunk;
	return READER_DECODE;
}

/* The lane is the chunk's number, as events are requested chunk by chunk. */
static uint32_t take_lane(void *owner, uint32_t ring, bool *nested)
{
	struct strip_plan *plan = owner;
	const struct chunk *chunk = &plan->current;
	uint32_t stream = strip_marks_stream(&plan->marks, ring,
					     chunk->generation);
	uint32_t lane = model_lane_of_ring(plan->model, ring, nested);

	GROW(plan->chunks, plan->chunk_count, plan->chunk_capacity);
	plan->chunks[plan->chunk_count] = (struct strip_chunk){
		.next = { stream, strip_marks_position(plan->chunk_count, 0) },
		.lane = lane,
	};
	return (uint32_t)plan->chunk_count++;
}

/*
 * A ring may have been replaced. The second pass counts dropped allocations by
 * stream, so the old ring reports them at its end, not after the first events
 * of the new ring.
 */
static void set_last(struct strip_plan *plan, struct strip_lane *lane,
		     const struct strip_place *place)
{
	if (lane->seen && lane->last.stream != place->stream)
		mark(plan, &lane->last, STRIP_TELL);
	lane->last = *place;
	lane->seen = true;
}

static void take_events(void *owner, uint32_t number,
			const struct trace_event *events, size_t count)
{
	struct strip_plan *plan = owner;
	struct strip_chunk *chunk = &plan->chunks[number];
	uint32_t lane = chunk->lane;

	if (!plan->begun) {
		model_pair_alike(plan->model, &plan->edges);
		plan->sampled = model_is_sampled(plan->model);
		plan->has_freed_by = model_has_freed_by(plan->model);
	}
	plan->begun = true;
	model_events(plan->model, lane, events, count);
	if (!edges_reach(&plan->edges, lane))
		grow_failed((size_t)lane * sizeof(struct edges_pending));
	GROW_TO(plan->allocations, plan->thread_capacity, lane >> 1);
	GROW_TO(plan->lanes, plan->lane_capacity, lane);
	for (size_t i = 0; i < count; i++) {
		plan->now = (struct strip_now){ &events[i], chunk->next, lane };
		chunk->next.position += strip_marks_position(0, 1);
		apply(plan);
		set_last(plan, &plan->lanes[lane], &plan->now.place);
	}
}

/* ---- afterwards ---- */

/* It has no event that could be marked: it is kept. */
static void take_live(void *owner, const struct trace_live *live)
{
	struct strip_plan *plan = owner;
	struct block *block;
	uint32_t number;
	int is_new;

	model_live(plan->model, live);
	if (live->address == 0)
		return;
	block = blocks_add(&plan->edges.blocks, live->address, &is_new);
	if (!is_new)
		return;
	number = blocks_number(&plan->edges.blocks, block);
	GROW_TO(plan->known, plan->known_capacity, number);
	plan->known[number] = (struct strip_known){ .order = ++plan->order };
	*block = (struct block){
		.address = live->address,
		.size = live->size,
		.alloc = live->stamp,
		.odd = 1,
		.cost = live->context,
	};
	plan->live += model_stands_for(plan->model, live->size);
	plan->peak = plan->live;
	plan->peak_order = plan->order;
}

/* Map the model's thread numbers to those of their STARTs. */
static void number_threads(struct strip_plan *plan)
{
	const struct threads *threads = model_threads(plan->model);

	plan->thread_numbers = grow_zeroed(threads->count + 1,
					   sizeof(*plan->thread_numbers));
	for (size_t n = threads->number_count; n > 0; n--)
		plan->thread_numbers[threads->by_number[n - 1]] = (uint32_t)n;
}

static void number_rows(const struct strip_plan *plan,
			struct strip_totals *totals)
{
	for (size_t i = 0; totals != NULL && i < totals->rows.count; i++) {
		uint32_t *thread = &totals->rows.list[i].thread;

		*thread = plan->thread_numbers[*thread];
	}
}

/* Until here the totals have the model's thread numbers. */
static void finish_totals(struct strip_plan *plan)
{
	const struct contexts *contexts = model_contexts(plan->model);
	struct strip_totals *totals = &plan->totals;
	static const struct context_cost none;
	size_t count = totals->rows.count;
	bool *reported =
		grow_zeroed(contexts->node_count + 1, sizeof(*reported));

	for (size_t i = 0; i < plan->segment_count; i++)
		number_rows(plan, plan->segments[i].totals);
	number_rows(plan, totals);
	for (size_t i = 0; i < count; i++) {
		uint32_t context = totals->rows.list[i].context;
		uint32_t node = model_node(plan->model, context);
		uint32_t index = contexts_find_cost(contexts, node, 0);
		const struct context_cost *cost = index == CONTEXT_NO_COST ?
			&none : &contexts->costs[index];

		if (reported[node])
			continue;
		reported[node] = true;
		need(plan, node);
		strip_totals_own_peak(totals, context, cost->own_peak_bytes,
				      cost->own_peak_blocks,
				      cost->own_peak_stamp);
	}
	free(reported);
}

/* Parents have lower numbers than their children. */
static void find_needed(struct strip_plan *plan)
{
	const struct contexts *contexts = model_contexts(plan->model);
	const struct freed *freed = model_freed(plan->model);

	need(plan, (uint32_t)contexts->node_count);
	for (size_t i = 0; i < contexts->cost_count; i++)
		need(plan, contexts->costs[i].node);
	/* also contexts that earlier strips left only in totals */
	for (size_t i = 0; i < freed->row_count; i++)
		need(plan, freed->rows[i].node);
	for (size_t i = contexts->node_count; i-- > CONTEXT_ROOTS;)
		if (plan->needed[i])
			plan->needed[contexts->nodes[i].parent] = true;
}

bool strip_plan_needs(struct strip_plan *plan, uint32_t id)
{
	const struct model *model = plan->model;

	/* the model has dropped the contexts from before a START or CLEAR, and
	 * pools have no costs */
	return plan->controls->count > 0 ||
	       model_pools(model)->count > 0 ||
	       plan->needed[model_node(plan->model, id)];
}

static int judge(const struct strip_plan *plan, const char *trace, int status)
{
	if (status == EXIT_NOTHING)
		return status;
	if (model_is_being_written(plan->model)) {
		log_error("%s: is still being recorded: strip it when the "
			  "recording ends", trace);
		return EXIT_NOTHING;
	}
	if (plan->marks.error != 0) {
		log_error("%s: cannot be stripped: temporary file: %s: free "
			  "space in the result's directory", trace,
			  strerror(plan->marks.error));
		return EXIT_NOTHING;
	}
	return status;
}

int strip_plan_read(struct strip_plan *plan,
		    const struct strip_options *options, const char *trace,
		    const char *directory)
{
	static const struct trace_event none = { .kind = GT_EXTRA };
	const struct model_options asked = { .notes = log_notes() };
	const struct model_observer companion = {
		.owner = plan, .chunk = take_chunk, .lane = take_lane,
		.live = take_live, .events = take_events,
	};
	int status;

	memset(plan, 0, sizeof(*plan));
	plan->options = *options;
	plan->model = model_new(&asked, NULL);
	plan->controls = model_controls(plan->model);
	if (!edges_init(&plan->edges, &blocks_sink, plan, 0))
		grow_failed(sizeof(plan->edges));
	status = strip_marks_open(&plan->marks, directory);
	if (status != 0) {
		log_error("%s: cannot create a temporary file: %s: give "
			  "another directory with -o", directory,
			  strerror(-status));
		return EXIT_NOTHING;
	}
	/* the second pass reports damage */
	status = model_read_along(plan->model, trace, &companion, NULL);
	/* There will be no second pass: read again to report the error. */
	if (status == EXIT_NOTHING)
		return model_read_along(plan->model, trace, &companion,
					log_notes());
	advance(plan, UINT64_MAX);
	plan->now.event = &none;
	edges_finish(&plan->edges, model_totals(plan->model)->last_stamp);
	model_finish(plan->model);
	number_threads(plan);
	finish_totals(plan);
	find_needed(plan);
	return judge(plan, trace, status);
}

void strip_plan_write_before(struct strip_plan *plan, struct rewrite *out)
{
	struct strip_totals *totals;

	if (plan->segments_written == plan->segment_count)
		return;
	totals = plan->segments[plan->segments_written++].totals;
	if (totals != NULL)
		strip_totals_write(totals, out);
}

void strip_plan_write(struct strip_plan *plan, struct rewrite *out)
{
	const struct totals *totals = model_totals(plan->model);
	const uint64_t *before = model_leftout(plan->model)->run.value;
	const struct strip_options *options = &plan->options;
	struct trace_run run = { .value = {
		[GT_RUN_PEAK_BYTES] = totals->peak_bytes,
		[GT_RUN_PEAK_BLOCKS] = totals->peak_blocks,
		[GT_RUN_PEAK_STAMP] = totals->peak_stamp,
		[GT_RUN_PEAK_KEPT] = totals->peak_bytes ==
			model_whole_bytes(plan->model, plan->peak),
		[GT_RUN_LIFETIME_NS] = before[GT_RUN_LIFETIME_NS],
		[GT_RUN_TEMPORARY] = before[GT_RUN_TEMPORARY],
	} };
	LOCAL_BUFFER payload = { 0 };

	if (options->by_lifetime &&
	    options->lifetime_ns > run.value[GT_RUN_LIFETIME_NS])
		run.value[GT_RUN_LIFETIME_NS] = options->lifetime_ns;
	if (options->by_temporary &&
	    options->temporary >= run.value[GT_RUN_TEMPORARY])
		run.value[GT_RUN_TEMPORARY] = options->temporary + 1;
	compose_run(&payload, &run);
	rewrite_chunk(out, &(struct chunk){ .type = GT_TOTALS }, &payload,
		      false);
	strip_totals_write(&plan->totals, out);
}

struct strip_sum strip_plan_sum(const struct strip_plan *plan)
{
	struct strip_sum sum = {
		plan->totals.blocks, plan->totals.bytes, plan->order +
		model_leftout(plan->model)->blocks
	};

	for (size_t i = 0; i < plan->segment_count; i++) {
		if (plan->segments[i].totals == NULL)
			continue;
		sum.blocks += plan->segments[i].totals->blocks;
		sum.bytes += plan->segments[i].totals->bytes;
	}
	return sum;
}

void strip_plan_free(struct strip_plan *plan)
{
	strip_marks_close(&plan->marks);
	strip_totals_free(&plan->totals);
	for (size_t i = 0; i < plan->segment_count; i++) {
		if (plan->segments[i].totals == NULL)
			continue;
		strip_totals_free(plan->segments[i].totals);
		free(plan->segments[i].totals);
	}
	free(plan->segments);
	strip_chains_free(&plan->chains);
	edges_free(&plan->edges);
	model_free(plan->model);
	free(plan->chunks);
	free(plan->known);
	free(plan->lanes);
	free(plan->allocations);
	free(plan->undecided);
	free(plan->thread_numbers);
	free(plan->needed);
}
