/*
 * strip_plan.c: see the header.
 *
 * A model is fed on the way: it says what the figures were before. Which events
 * belong together is found out apart from it, and carefully: where allocation
 * and free of an address do not alternate in the order of their stamps, or a
 * realloc is not whole, the events stay, and mean to readers what they meant
 * before.
 *
 * The peak must stay what it was: so what was live at it is kept, however
 * short it lived. When a block ends, it is not known yet whether a higher peak
 * is to come; so short-lived blocks that were live at the highest so far wait,
 * and go when a higher one comes, at which they are not live.
 *
 * A START or CLEAR begins anew (controls.h): each stretch between two of them
 * has its own peak and its own totals, blocks that live across one stay, and so
 * do events that do not count. So do blocks of the program's own heaps, which
 * totals do not know.
 *
 *  I1  An undecided block was live at the allocation number peak_order.
 *  I2  A place that is marked STRIP_DROP begins or ends a block that
 *      strip_totals counts, and both its events are marked.
 *
 * Called by the reader's thread.
 */
#include "cli/strip_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/tell.h"

/* Make `array` at least `index` + 1 long; what is new is zeroed. */
#define SEGMENTS_MAX 4096	/* with totals: behind them nothing goes */

#define REACH(array, capacity, index)					\
	reach((void **)&(array), &(capacity), (index), sizeof(*(array)))

static void reach(void **array, size_t *capacity, size_t index, size_t size)
{
	size_t count = index + 1 + index / 2;

	if (index < *capacity)
		return;
	*array = grow_resize(*array, count, size);
	memset((char *)*array + *capacity * size, 0,
	       (count - *capacity) * size);
	*capacity = count;
}

/* ---- blocks that go ---- */

static void mark(struct strip_plan *plan, const struct strip_place *place,
		 enum strip_mark how)
{
	strip_marks_set(&plan->marks, place->stream, place->position, how);
}

static void doom(struct strip_plan *plan, const struct strip_doomed *doomed)
{
	mark(plan, &doomed->begin, STRIP_DROP);
	for (unsigned i = 0; i < doomed->ends; i++)
		mark(plan, &doomed->end[i], STRIP_DROP);
	strip_totals_add(&plan->totals, &doomed->block);
}

static void doom_undecided(struct strip_plan *plan)
{
	for (size_t i = 0; i < plan->undecided_count; i++)
		doom(plan, &plan->undecided[i]);
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
 * A block of that thread that stays ends in `lane`, and there were allocations
 * between. Some that go may lie in other rings than this end: they have to tell
 * before it that they were there.
 */
static void tell_others(struct strip_plan *plan, uint32_t thread,
			uint32_t lane)
{
	for (unsigned nested = 0; nested < 2; nested++) {
		uint32_t other = model_lane(thread, nested);

		if (other != lane && other < plan->lane_capacity &&
		    plan->lanes[other].seen)
			mark(plan, &plan->lanes[other].last, STRIP_TELL);
	}
}

/* The block ends by the events in `doomed`, which is else to be filled in;
 * `by`: the context that frees it. */
static void end_block(struct strip_plan *plan, struct block *block,
		      uint32_t lane, uint64_t stamp, uint32_t by,
		      struct strip_doomed *doomed)
{
	uint32_t number = blocks_number(&plan->blocks, block);
	const struct strip_known *known = &plan->known[number];
	uint64_t between = (plan->allocations[block->thread] -
			    block->sequence) & BLOCK_SEQUENCE;
	bool goes;

	doomed->begin = known->place;
	doomed->block = (struct strip_block){
		.context = block->cost, .thread = block->thread,
		.freed_by = by,
		.has_freed_by = plan->model.has_freed_by,
		.weight = model_weight(&plan->model, block),
		.size = block->size, .birth = block->birth,
		.lifetime = stamp - block->birth,
		.temporary = between == 0 && plan->model.sample_mean == 0,
	};
	doomed->block.lifetime_ns = model_span_ns(&plan->model,
						  doomed->block.lifetime);
	goes = !known->odd && known->order > plan->begin_order &&
		plan->segments_full < SEGMENTS_MAX &&
		is_short(plan, &doomed->block, between);
	if (goes && known->order > plan->peak_order) {
		doom(plan, doomed);
	} else if (between > 0) {
		tell_others(plan, block->thread, lane);
	}
	if (goes && known->order <= plan->peak_order) {	/* I1 */
		GROW(plan->undecided, plan->undecided_count,
		     plan->undecided_capacity);
		plan->undecided[plan->undecided_count++] = *doomed;
	}
	if (known->order > plan->begin_order)
		plan->live -= model_stands_for(&plan->model, block->size);
	blocks_remove(&plan->blocks, block);
}

/* ---- events ---- */

/* An address is allocated that is live already: who comes first is for the
 * model to find out. */
static void allocate_again(struct strip_plan *plan, uint32_t thread,
			   struct block *block,
			   const struct trace_event *event)
{
	struct strip_known *known =
		&plan->known[blocks_number(&plan->blocks, block)];

	if (block->moving) {	/* the realloc has freed it */
		uint32_t lane = movings_find(&plan->movings, event->address);

		plan->lanes[lane].released = true;
		movings_remove(&plan->movings, lane);
		block->moving = 0;
	} else if (known->skip < UINT32_MAX) {
		known->skip++;
		known->next_thread = thread;
	}
	known->odd = true;
	if (known->order > plan->begin_order)
		plan->live -= model_stands_for(&plan->model, block->size);
	known->order = plan->order;
	plan->live += model_stands_for(&plan->model, event->size);
	block->size = event->size;
}

static void allocate(struct strip_plan *plan, uint32_t lane,
		     const struct strip_place *place,
		     const struct trace_event *event, bool odd)
{
	struct strip_known *known;
	struct block *block;
	uint32_t number;
	int is_new;

	plan->order++;
	plan->allocations[lane >> 1]++;
	block = blocks_add(&plan->blocks, event->address, &is_new);
	number = blocks_number(&plan->blocks, block);
	REACH(plan->known, plan->known_capacity, number);
	known = &plan->known[number];
	if (!is_new && !known->ghost) {
		allocate_again(plan, lane >> 1, block, event);
		return;
	}
	if (!is_new && event->stamp - block->birth <=
	    plan->model.edges.waiting.window) {
		blocks_remove(&plan->blocks, block);	/* a pair, reversed */
		return;
	}
	*known = (struct strip_known){
		.place = *place, .order = plan->order,
		.odd = odd || pools_number(event->address) != 0,
	};
	block->size = event->size;
	block->birth = event->stamp;
	block->sequence = plan->allocations[lane >> 1] & BLOCK_SEQUENCE;
	block->moving = 0;
	block->cost = event->context;
	block->thread = lane >> 1;
	plan->live += model_stands_for(&plan->model, event->size);
	if (plan->live > plan->peak) {
		plan->peak = plan->live;
		plan->peak_order = plan->order;
		doom_undecided(plan);
	}
}

/* Somebody frees, or moves, what is not known. */
static void free_unknown(struct strip_plan *plan, struct block *block,
			 const struct trace_event *event)
{
	uint32_t number;
	int is_new;

	if (block == NULL && plan->gap)
		return;		/* the model does not wait for it either */
	if (block == NULL)
		block = blocks_add(&plan->blocks, event->address, &is_new);
	number = blocks_number(&plan->blocks, block);
	REACH(plan->known, plan->known_capacity, number);
	plan->known[number] = (struct strip_known){
		.odd = true, .ghost = true,
	};
	block->birth = event->stamp;
	block->size = 0;
	block->moving = 0;
}

/*
 * A free that ends another block than the one it finds: to the model it does
 * so now, and the allocation that waited for it begins now.
 */
static void skip_free(struct strip_plan *plan, const struct block *block,
		      uint32_t lane)
{
	struct strip_known *known =
		&plan->known[blocks_number(&plan->blocks, block)];

	known->odd = true;
	tell_others(plan, block->thread, lane);
	if (known->skip == 0)
		return;
	known->skip--;
	if (known->next_thread != block->thread)
		tell_others(plan, known->next_thread, lane);
}

static void release(struct strip_plan *plan, uint32_t lane,
		    const struct strip_place *place,
		    const struct trace_event *event)
{
	struct block *block = blocks_find(&plan->blocks, event->address);
	struct strip_doomed doomed = { .end = { *place }, .ends = 1 };
	struct strip_known *known = block == NULL ? NULL :
		&plan->known[blocks_number(&plan->blocks, block)];

	if (known == NULL || known->ghost) {
		free_unknown(plan, block, event);
	} else if (known->skip > 0 || block->moving) {
		skip_free(plan, block, lane);
	} else {
		end_block(plan, block, lane, event->stamp, event->context,
			  &doomed);
	}
}

/* The realloc ends without having done anything. */
static void abandon(struct strip_plan *plan, struct strip_lane *moving)
{
	struct block *block = blocks_find(&plan->blocks, moving->address);

	moving->active = false;
	if (!moving->found || moving->released)
		return;
	movings_remove(&plan->movings, (uint32_t)(moving - plan->lanes));
	block->moving = 0;
	plan->known[blocks_number(&plan->blocks, block)].odd = true;
}

static void begin_realloc(struct strip_plan *plan, uint32_t lane,
			  const struct strip_place *place,
			  const struct trace_event *event)
{
	struct strip_lane *moving = &plan->lanes[lane];
	struct block *block = blocks_find(&plan->blocks, event->address);
	const struct strip_known *known = block == NULL ? NULL :
		&plan->known[blocks_number(&plan->blocks, block)];

	if (moving->active)	/* left by siglongjmp */
		abandon(plan, moving);
	moving->address = event->address;
	moving->place = *place;
	moving->by = event->context;
	moving->active = true;
	moving->released = false;
	moving->found = known != NULL && !known->ghost && !block->moving &&
		known->skip == 0;
	if (moving->found) {
		block->moving = 1;
		if (!movings_reach(&plan->movings, lane))
			grow_failed(sizeof(plan->movings));
		movings_add(&plan->movings, lane, block->address);
	} else if (known == NULL || known->ghost) {
		free_unknown(plan, block, event);
	} else {
		plan->known[blocks_number(&plan->blocks, block)].odd = true;
	}
}

/* The old block is gone. `own_end`: the event ends nothing else. Returns
 * whether it all was as it should be. */
static bool end_realloc(struct strip_plan *plan, uint32_t lane,
			const struct strip_place *place,
			const struct trace_event *event, bool own_end)
{
	struct strip_lane *moving = &plan->lanes[lane];
	struct block *block;
	struct strip_doomed doomed = {
		.end = { moving->place, *place }, .ends = own_end ? 2 : 1,
	};
	/* Its ring may have been replaced meanwhile: then who strips does not
	 * see BEGIN and end together. */
	bool whole = moving->active && moving->found && !moving->released &&
		     moving->place.stream == place->stream;

	block = moving->active && moving->found && !moving->released ?
		blocks_find(&plan->blocks, moving->address) : NULL;
	moving->active = false;
	if (block == NULL)
		return false;
	movings_remove(&plan->movings, lane);
	block->moving = 0;
	if (!whole)
		plan->known[blocks_number(&plan->blocks, block)].odd = true;
	end_block(plan, block, lane, event->stamp, moving->by, &doomed);
	return whole;
}

static void need(struct strip_plan *plan, uint32_t node)
{
	REACH(plan->needed, plan->needed_capacity, node);
	plan->needed[node] = true;
}

/* Everything that is to come is of another stretch. */
static void begin_anew(struct strip_plan *plan)
{
	struct strip_segment *segment;

	GROW(plan->segments, plan->segment_count, plan->segment_capacity);
	segment = &plan->segments[plan->segment_count++];
	segment->totals = NULL;
	if (plan->totals.row_count > 0) {
		segment->totals = grow_alloc(sizeof(plan->totals));
		*segment->totals = plan->totals;
		memset(&plan->totals, 0, sizeof(plan->totals));
		plan->segments_full++;
	}
	plan->begin_order = plan->order;
	plan->undecided_count = 0;	/* they were there at its peak */
	plan->live = plan->peak = 0;
	plan->peak_order = plan->order;
}

/* Nothing is known of the blocks that there were. */
static void drop_blocks(struct strip_plan *plan)
{
	blocks_free(&plan->blocks);
	blocks_init(&plan->blocks);
	movings_free(&plan->movings);
	plan->era++;
}

/* What was told up to this stamp. */
static void advance(struct strip_plan *plan, uint64_t stamp)
{
	const struct controls *controls = &plan->model.controls;

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
		plan->gap = true;
		drop_blocks(plan);
	}
}

static void apply(struct strip_plan *plan, uint32_t lane,
		  const struct strip_place *place,
		  const struct trace_event *event)
{
	bool whole;

	if (event->kind == GT_EXTRA) {
		if (event->what == GT_EXTRA_DAMAGE)
			need(plan, contexts_node(&plan->model.contexts,
						 (uint32_t)event->args[1]));
		if (event->what == GT_EXTRA_LEFT_OUT)
			plan->allocations[lane >> 1] += event->size;
		else
			need(plan, contexts_node(&plan->model.contexts,
						 event->context));
		return;
	}
	if (event->address == 0 || plan->off)
		return;
	if (plan->lanes[lane].era != plan->era) {
		plan->lanes[lane].era = plan->era;
		plan->lanes[lane].active = false;
	}
	if (event->kind != GT_ALLOC && event->context != 0)
		need(plan, contexts_node(&plan->model.contexts,
					 event->context));
	switch (event->kind) {
	case GT_ALLOC:
		allocate(plan, lane, place, event, false);
		break;
	case GT_FREE:
		release(plan, lane, place, event);
		break;
	case GT_REALLOC_BEGIN:
		begin_realloc(plan, lane, place, event);
		break;
	case GT_REALLOC_DONE:
		whole = end_realloc(plan, lane, place, event, false);
		allocate(plan, lane, place, event, !whole);
		break;
	case GT_REALLOC_FREED:
		end_realloc(plan, lane, place, event, true);
		break;
	case GT_REALLOC_FAILED:
		if (plan->lanes[lane].active)
			abandon(plan, &plan->lanes[lane]);
		break;
	}
}

/* ---- from the reader ---- */

static enum reader_chunk take_chunk(void *owner, const struct chunk *chunk)
{
	struct strip_plan *plan = owner;

	if (plan->model.report.being_written)
		return READER_TAKEN;	/* refused when that is over */
	plan->current = *chunk;
	return READER_DECODE;
}

/* Events are asked for chunk by chunk, so the lane is the chunk's number. */
static uint32_t take_lane(void *owner, uint32_t ring, bool *nested)
{
	struct strip_plan *plan = owner;
	const struct chunk *chunk = &plan->current;
	uint32_t stream = strip_marks_stream(&plan->marks, ring,
					     chunk->generation);
	uint32_t thread = threads_of_ring(&plan->model.threads, ring, nested);
	uint64_t *seen;

	REACH(plan->seen, plan->seen_capacity, stream);
	seen = &plan->seen[stream];
	GROW(plan->chunks, plan->chunk_count, plan->chunk_capacity);
	plan->chunks[plan->chunk_count] = (struct strip_chunk){
		.next = { stream, chunk->first > *seen ? chunk->first : *seen },
		.lane = model_lane(thread, *nested), .nested = *nested,
	};
	if (chunk->last > *seen)
		*seen = chunk->last;
	return (uint32_t)plan->chunk_count++;
}

/*
 * A ring may have been replaced: who strips counts what is left out by stream,
 * so the old one tells it at its end, not after the new one's first events.
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

	if (!plan->begun)
		plan->gap = plan->model.edges.gap;
	plan->begun = true;
	model_events(&plan->model, lane, events, count);
	REACH(plan->allocations, plan->thread_capacity, lane >> 1);
	REACH(plan->lanes, plan->lane_capacity, lane);
	for (size_t i = 0; i < count; i++) {
		const struct strip_place place = chunk->next;

		advance(plan, events[i].stamp);
		chunk->next.position += records_ring_bytes(&events[i],
							   chunk->nested);
		apply(plan, lane, &place, &events[i]);
		set_last(plan, &plan->lanes[lane], &place);
	}
}

/* ---- afterwards ---- */

/* It has no event that could be marked: it stays. */
static void take_live(void *owner, const struct trace_live *live)
{
	struct strip_plan *plan = owner;
	struct strip_known *known;
	struct block *block;
	uint32_t number;
	int is_new;

	part_add(&plan->model, live);
	if (live->address == 0)
		return;
	block = blocks_add(&plan->blocks, live->address, &is_new);
	number = blocks_number(&plan->blocks, block);
	REACH(plan->known, plan->known_capacity, number);
	known = &plan->known[number];
	if (!is_new)
		return;
	*known = (struct strip_known){ .odd = true, .order = ++plan->order };
	block->size = live->size;
	block->birth = live->stamp;
	block->sequence = 0;
	block->moving = 0;
	block->cost = live->context;
	block->thread = 0;
	plan->live += model_stands_for(&plan->model, live->size);
	plan->peak = plan->live;
	plan->peak_order = plan->order;
}

/* From the model's numbers of threads to those of their STARTs. */
static void number_threads(struct strip_plan *plan)
{
	const struct threads *threads = &plan->model.threads;

	plan->thread_numbers = grow_zeroed(threads->count + 1,
					   sizeof(*plan->thread_numbers));
	for (size_t n = threads->number_count; n > 0; n--)
		plan->thread_numbers[threads->by_number[n - 1]] = (uint32_t)n;
}

static void number_rows(const struct strip_plan *plan,
			struct strip_totals *totals)
{
	for (size_t i = 0; totals != NULL && i < totals->row_count; i++)
		totals->rows[i].thread =
			plan->thread_numbers[totals->rows[i].thread];
}

/* Totals know the model's threads so far. */
static void finish_totals(struct strip_plan *plan)
{
	struct contexts *contexts = &plan->model.contexts;
	struct strip_totals *totals = &plan->totals;
	size_t count = totals->row_count;
	bool *told = grow_zeroed(contexts->node_count + 1, sizeof(*told));

	for (size_t i = 0; i < plan->segment_count; i++)
		number_rows(plan, plan->segments[i].totals);
	number_rows(plan, totals);
	for (size_t i = 0; i < count; i++) {
		struct trace_totals *row = &totals->rows[i];
		uint32_t context = row->context;
		uint32_t node = contexts_node(contexts, context);
		uint32_t index = contexts_cost(contexts, context);
		const struct context_cost *cost = &contexts->costs[index];

		if (told[node])
			continue;
		told[node] = true;
		strip_totals_own_peak(totals, context, cost->own_peak_bytes,
				      cost->own_peak_blocks,
				      cost->own_peak_stamp);
	}
	free(told);
}

/* Parents have lower numbers than their children. */
static void find_needed(struct strip_plan *plan)
{
	const struct contexts *contexts = &plan->model.contexts;

	need(plan, (uint32_t)contexts->node_count);
	for (size_t i = 0; i < contexts->cost_count; i++)
		need(plan, contexts->costs[i].node);
	/* also those that earlier strippings left only in totals */
	for (size_t i = 0; i < plan->model.freed.row_count; i++)
		need(plan, plan->model.freed.rows[i].node);
	for (size_t i = contexts->node_count; i-- > CONTEXT_ROOTS;)
		if (plan->needed[i])
			plan->needed[contexts->nodes[i].parent] = true;
}

bool strip_plan_needs(struct strip_plan *plan, uint32_t id)
{
	const struct model *model = &plan->model;

	/* of what was before a beginning the model knows nothing any more, and
	 * pools have no costs */
	return model->controls.count > 0 || model->pools.count > 0 ||
	       plan->needed[contexts_node(&plan->model.contexts, id)];
}

static int judge(const struct strip_plan *plan, const char *trace, int status)
{
	if (status == EXIT_NOTHING)
		return status;
	if (plan->model.report.being_written) {
		tell_error("%s: is still being recorded: strip it when that "
			   "is over", trace);
		return EXIT_NOTHING;
	}
	if (plan->marks.error != 0) {
		tell_error("%s: cannot be stripped: temporary files: %s: make "
			   "room where the result goes", trace,
			   strerror(plan->marks.error));
		return EXIT_NOTHING;
	}
	return status;
}

int strip_plan_read(struct strip_plan *plan,
		    const struct strip_options *options, const char *trace,
		    const char *directory)
{
	struct reader_sink sink;
	bool muted = tell_is_mute();
	int status;

	memset(plan, 0, sizeof(*plan));
	plan->options = *options;
	model_init(&plan->model);
	blocks_init(&plan->blocks);
	status = strip_marks_open(&plan->marks, directory);
	if (status != 0) {
		tell_error("%s: no temporary file can be made there: %s: give "
			   "another place with -o", directory,
			   strerror(-status));
		return EXIT_NOTHING;
	}
	model_sink(&plan->model, &sink);
	sink.chunk = take_chunk;
	sink.lane = take_lane;
	sink.events = take_events;
	sink.live = take_live;
	tell_mute(true);	/* what is wrong is said the second time */
	status = reader_run(trace, &sink, &plan->model.report);
	tell_mute(muted);
	/* There will be no second time: it fails again, aloud. */
	if (status == EXIT_NOTHING)
		return reader_run(trace, &sink, &plan->model.report);
	advance(plan, UINT64_MAX);
	model_finish(&plan->model);
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
	const struct totals *totals = &plan->model.totals;
	const uint64_t *before = plan->model.leftout.run.value;
	const struct strip_options *options = &plan->options;
	struct trace_run run = { .value = {
		[GT_RUN_PEAK_BYTES] = totals->peak_bytes,
		[GT_RUN_PEAK_BLOCKS] = totals->peak_blocks,
		[GT_RUN_PEAK_STAMP] = totals->peak_stamp,
		[GT_RUN_PEAK_KEPT] = totals->peak_bytes ==
			model_whole_bytes(&plan->model, plan->peak),
		[GT_RUN_LIFETIME_NS] = before[GT_RUN_LIFETIME_NS],
		[GT_RUN_TEMPORARY] = before[GT_RUN_TEMPORARY],
	} };
	struct buffer payload = { 0 };

	if (options->by_lifetime &&
	    options->lifetime_ns > run.value[GT_RUN_LIFETIME_NS])
		run.value[GT_RUN_LIFETIME_NS] = options->lifetime_ns;
	if (options->by_temporary &&
	    options->temporary >= run.value[GT_RUN_TEMPORARY])
		run.value[GT_RUN_TEMPORARY] = options->temporary + 1;
	compose_run(&payload, &run);
	rewrite_chunk(out, &(struct chunk){ .type = GT_TOTALS }, &payload,
		      false);
	buffer_free(&payload);
	strip_totals_write(&plan->totals, out);
}

struct strip_sum strip_plan_sum(const struct strip_plan *plan)
{
	struct strip_sum sum = {
		plan->totals.blocks, plan->totals.bytes, plan->order +
		plan->model.leftout.blocks
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
	blocks_free(&plan->blocks);
	model_free(&plan->model);
	free(plan->chunks);
	free(plan->seen);
	free(plan->known);
	free(plan->lanes);
	movings_free(&plan->movings);
	free(plan->allocations);
	free(plan->undecided);
	free(plan->thread_numbers);
	free(plan->needed);
}
