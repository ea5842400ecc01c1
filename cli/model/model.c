/*
 * model.c: apply events to contexts and live blocks.
 *
 * Share of the peak: each new maximum of live bytes begins an epoch. A
 * context's value at the last maximum is written down only when its live
 * value is about to change in a later epoch; as long as it has not changed,
 * the value at the maximum is the live value itself. So a new maximum costs
 * nothing but counting it, however many contexts there are.
 *
 * Pairing: stamps are right within a window. An allocation on an address that
 * is live waits for the free, a free of an address that is not live waits for
 * the allocation (pairing.h). When the window is over, the event is counted
 * as unpaired: such a free changes nothing else; such an allocation replaces
 * the block, which cannot be there any more.
 *
 * Reallocation: BEGIN marks the block as moving; it stays live until DONE, or
 * until its address is allocated again, which tells that it was freed.
 *
 *  I1  totals.live_* are the sums of all costs' live_*, and of all blocks.
 *  I2  A moving block's lane has moving.active and moving.found set.
 *
 * Called by the reader's thread.
 */
#include "cli/model/model.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"

#define LOOK_AHEAD 12		/* events whose block is fetched in advance */
#define DEFAULT_WINDOW 4096	/* ticks; where INFO does not say */

static void allocate(struct model *model, uint32_t lane,
		     const struct trace_event *event);

/* ---- costs ---- */

static inline void keep_peak(const struct totals *totals,
			     struct context_cost *cost)
{
	if (cost->epoch == totals->epoch)
		return;
	cost->peak_bytes = cost->live_bytes;
	cost->peak_blocks = cost->live_blocks;
	cost->epoch = totals->epoch;
}

void model_figures(const struct model *model, const struct context_cost *cost,
		   struct figures *figures)
{
	bool kept = cost->epoch == model->totals.epoch;

	*figures = (struct figures){
		.count = cost->allocations,
		.total_bytes = cost->total_bytes,
		.frees = cost->frees,
		.temporary = cost->temporary,
		.live_blocks = cost->live_blocks,
		.live_bytes = cost->live_bytes,
		.peak_blocks = kept ? cost->peak_blocks : cost->live_blocks,
		.peak_bytes = kept ? cost->peak_bytes : cost->live_bytes,
		.own_peak_blocks = cost->own_peak_blocks,
		.own_peak_bytes = cost->own_peak_bytes,
		.lifetime_ns = cost->lifetime * clock_rate(&model->clock),
	};
	if (cost->allocations == 0)
		return;
	figures->first_ns = model_since_start_ns(model, cost->first);
	figures->last_ns = model_since_start_ns(model, cost->last);
}

/* The block is live no more; not yet removed from the table. */
static inline struct context_cost *drop_live(struct model *model,
					     const struct block *block)
{
	struct context_cost *cost = &model->contexts.costs[block->cost];

	keep_peak(&model->totals, cost);
	cost->live_bytes -= block->size;
	cost->live_blocks--;
	model->totals.live_bytes -= block->size;
	model->totals.live_blocks--;
	return cost;
}

/* A free of the block, by free() or as a part of realloc(). */
static inline void release(struct model *model, struct block *block)
{
	struct context_cost *cost = drop_live(model, block);

	cost->frees++;
	model->totals.frees++;
	if (((model->threads.list[block->thread].allocations -
	      block->sequence) & BLOCK_SEQUENCE) <= model->options.temporary) {
		cost->temporary++;
		model->totals.temporary++;
	}
	blocks_remove(&model->blocks, block);
}

/* ---- events that wait ---- */

/* A waiting event's time is over: its counterpart never came. */
static void give_up(struct model *model, const struct pairing_entry *entry)
{
	struct block *block;

	model->totals.unpaired++;
	if (entry->event.kind != GT_ALLOC)
		return;
	block = blocks_find(&model->blocks, entry->event.address);
	if (block != NULL && !block->moving) {
		drop_live(model, block);
		blocks_remove(&model->blocks, block);
	}
	allocate(model, entry->lane, &entry->event);
}

static void expire(struct model *model, uint64_t now)
{
	struct pairing_entry entry;

	while (model->waiting.count > 0 && model->waiting.expires < now) {
		pairing_take(&model->waiting, 0, &entry);
		give_up(model, &entry);
	}
}

static void wait_for_pair(struct model *model, uint32_t lane,
			  const struct trace_event *event)
{
	struct pairing_entry entry;

	if (model->waiting.count == PAIRING_MAX) {
		pairing_take(&model->waiting, 0, &entry);
		give_up(model, &entry);
	}
	/* A result waits as what it is to the block: an allocation. */
	if (event->kind == GT_REALLOC_DONE) {
		struct trace_event plain = *event;

		plain.kind = GT_ALLOC;
		pairing_wait(&model->waiting, &plain, lane);
		return;
	}
	pairing_wait(&model->waiting, event, lane);
}

/* ---- reallocation ---- */

static struct moving *moving_of(struct model *model, uint32_t lane)
{
	if (lane >= model->moving_count) {
		size_t count = (size_t)lane + 64;

		model->moving = grow_resize(model->moving, count,
					    sizeof(*model->moving));
		memset(model->moving + model->moving_count, 0,
		       (count - model->moving_count) *
		       sizeof(*model->moving));
		model->moving_count = count;
	}
	return &model->moving[lane];
}

/* The address of a moving block was allocated again: it is free since. */
static void release_moving(struct model *model, struct block *block)
{
	uint64_t address = block->address;

	for (size_t i = 0; i < model->moving_count; i++)
		if (model->moving[i].active && model->moving[i].found &&
		    model->moving[i].address == address)
			model->moving[i].released = true;
	release(model, block);
}

/* The realloc ended; what it was about stays as it is. */
static void abandon(struct model *model, struct moving *moving)
{
	struct block *block;

	moving->active = false;
	if (!moving->found || moving->released)
		return;
	block = blocks_find(&model->blocks, moving->address);
	if (block != NULL)
		block->moving = 0;
}

static void begin_realloc(struct model *model, uint32_t lane,
			  const struct trace_event *event)
{
	struct moving *moving = moving_of(model, lane);
	struct block *block = blocks_find(&model->blocks, event->address);

	if (moving->active) {
		/* left by siglongjmp, or its result was lost */
		model->totals.unpaired++;
		abandon(model, moving);
	}
	memset(moving, 0, sizeof(*moving));
	moving->active = true;
	moving->address = event->address;
	moving->found = block != NULL && !block->moving;
	if (moving->found)
		block->moving = 1;
	else
		wait_for_pair(model, lane, event);
}

/* The realloc freed the old block. */
static void end_realloc(struct model *model, uint32_t lane)
{
	struct moving *moving = moving_of(model, lane);
	struct pairing_entry entry;
	struct block *block;
	int i;

	if (!moving->active) {
		model->totals.unpaired++;	/* its BEGIN was lost */
		return;
	}
	moving->active = false;
	if (moving->found) {
		block = blocks_find(&model->blocks, moving->address);
		if (!moving->released && block != NULL)
			release(model, block);
		return;
	}
	/* The block is not known yet: go on waiting, as a free. */
	i = pairing_find(&model->waiting, moving->address,
			 1u << GT_REALLOC_BEGIN);
	if (i < 0)
		return;		/* given up and counted */
	pairing_take(&model->waiting, (size_t)i, &entry);
	entry.event.kind = GT_FREE;
	pairing_wait(&model->waiting, &entry.event, lane);
}

static void fail_realloc(struct model *model, uint32_t lane)
{
	struct moving *moving = moving_of(model, lane);
	struct pairing_entry entry;
	int i;

	if (!moving->active) {
		model->totals.unpaired++;
		return;
	}
	abandon(model, moving);
	if (moving->found)
		return;
	i = pairing_find(&model->waiting, moving->address,
			 1u << GT_REALLOC_BEGIN);
	if (i >= 0)
		pairing_take(&model->waiting, (size_t)i, &entry);
}

/* ---- allocation and free ---- */

/* A free or the beginning of a realloc had come before this allocation. */
static void settle_waiting(struct model *model, uint64_t address)
{
	struct block *block = blocks_find(&model->blocks, address);
	struct pairing_entry entry;
	struct moving *moving;
	int i = pairing_find(&model->waiting, address,
			     1u << GT_FREE | 1u << GT_REALLOC_BEGIN);

	if (i < 0 || block == NULL)
		return;
	pairing_take(&model->waiting, (size_t)i, &entry);
	model->totals.repaired++;
	if (entry.event.kind == GT_FREE) {
		release(model, block);
		return;
	}
	moving = moving_of(model, entry.lane);
	if (moving->active && !moving->found && moving->address == address) {
		moving->found = true;
		block->moving = 1;
	}
}

static void allocate(struct model *model, uint32_t lane,
		     const struct trace_event *event)
{
	struct totals *totals = &model->totals;
	struct thread *owner = &model->threads.list[lane >> 1];
	uint32_t index = contexts_cost(&model->contexts, event->context);
	struct context_cost *cost = &model->contexts.costs[index];
	struct block *block;
	int is_new;

	block = blocks_add(&model->blocks, event->address, &is_new);
	if (!is_new) {
		if (!block->moving) {
			wait_for_pair(model, lane, event);
			return;
		}
		release_moving(model, block);
		block = blocks_add(&model->blocks, event->address, &is_new);
	}
	block->size = event->size;
	block->sequence = ++owner->allocations & BLOCK_SEQUENCE;
	block->layout = event->layout & BLOCK_LAYOUT;
	block->moving = 0;
	block->cost = index;
	block->thread = lane >> 1;
	keep_peak(totals, cost);
	cost->allocations++;
	cost->total_bytes += event->size;
	cost->live_bytes += event->size;
	cost->live_blocks++;
	if (cost->live_bytes > cost->own_peak_bytes) {
		cost->own_peak_bytes = cost->live_bytes;
		cost->own_peak_blocks = cost->live_blocks;
	}
	if (cost->allocations == 1)
		cost->first = event->stamp;
	cost->last = event->stamp;
	totals->allocations++;
	totals->total_bytes += event->size;
	totals->live_blocks++;
	totals->live_bytes += event->size;
	if (totals->live_bytes > totals->peak_bytes) {
		totals->peak_bytes = totals->live_bytes;
		totals->peak_blocks = totals->live_blocks;
		totals->peak_stamp = event->stamp;
		totals->epoch++;
	}
	if (model->waiting.count > 0)
		settle_waiting(model, event->address);
}

static void deallocate(struct model *model, uint32_t lane,
		       const struct trace_event *event)
{
	struct block *block = blocks_find(&model->blocks, event->address);
	struct pairing_entry entry;
	int i;

	if (block == NULL || block->moving) {
		wait_for_pair(model, lane, event);
		return;
	}
	release(model, block);
	if (model->waiting.count == 0)
		return;
	i = pairing_find(&model->waiting, event->address, 1u << GT_ALLOC);
	if (i < 0)
		return;
	pairing_take(&model->waiting, (size_t)i, &entry);
	model->totals.repaired++;
	allocate(model, entry.lane, &entry.event);
}

/* What is not about a block: handed to who keeps it. */
static void model_extra(struct model *model, uint32_t lane,
			const struct trace_event *event)
{
	threads_extra(&model->threads, lane >> 1, event);
	tuning_extra(&model->tuning, &model->contexts, lane >> 1, event);
	if (model->with_maps)
		maps_extra(&model->maps, lane, event);
	if (event->what < GT_EXTRA_COUNT)
		model->extras[event->what]++;
	else
		model->extras[0]++;
}

static void apply(struct model *model, uint32_t lane,
		  const struct trace_event *event)
{
	if (event->kind == GT_EXTRA) {
		model_extra(model, lane, event);
		return;
	}
	if (event->address == 0) {	/* no recorder writes that */
		model->totals.unpaired++;
		return;
	}
	switch (event->kind) {
	case GT_ALLOC:
		allocate(model, lane, event);
		break;
	case GT_FREE:
		deallocate(model, lane, event);
		break;
	case GT_REALLOC_BEGIN:
		begin_realloc(model, lane, event);
		break;
	case GT_REALLOC_DONE:
		end_realloc(model, lane);
		allocate(model, lane, event);
		break;
	case GT_REALLOC_FREED:
		end_realloc(model, lane);
		break;
	case GT_REALLOC_FAILED:
		fail_realloc(model, lane);
		break;
	}
}

void model_events(void *owner, uint32_t lane,
		  const struct trace_event *events, size_t count)
{
	struct model *model = owner;

	for (size_t i = 0; i < count && i < LOOK_AHEAD; i++)
		blocks_prefetch(&model->blocks, events[i].address);
	for (size_t i = 0; i < count; i++) {
		const struct trace_event *event = &events[i];

		if (i + LOOK_AHEAD < count)
			blocks_prefetch(&model->blocks,
					events[i + LOOK_AHEAD].address);
		if (event->stamp > model->waiting.expires)
			expire(model, event->stamp);
		if (model->with_maps)
			maps_event(&model->maps, event);
		apply(model, lane, event);
	}
	model->threads.list[lane >> 1].events += count;
	if (events[count - 1].stamp > model->totals.last_stamp)
		model->totals.last_stamp = events[count - 1].stamp;
}

void model_finish(struct model *model)
{
	threads_settle(&model->threads);
	/* The program ended inside these reallocs: their blocks live. */
	for (size_t i = 0; i < model->moving_count; i++)
		if (model->moving[i].active)
			abandon(model, &model->moving[i]);
	while (model->waiting.count > 0) {
		struct pairing_entry entry;

		pairing_take(&model->waiting, 0, &entry);
		give_up(model, &entry);
	}
}

/* ---- everything that is not an event ---- */

static void take_line(void *owner, unsigned type, const char *key,
		      const char *value)
{
	struct model *model = owner;
	struct fact *fact = NULL;
	size_t size;

	for (size_t i = 0; i < model->fact_count; i++)
		if (model->facts[i].type == type &&
		    strcmp(model->facts[i].key, key) == 0)
			fact = &model->facts[i];
	if (fact == NULL) {
		GROW(model->facts, model->fact_count, model->fact_capacity);
		fact = &model->facts[model->fact_count++];
		fact->type = type;
		fact->key = intern_string(&model->names, key);
	}
	/* The last argument of a command line has a terminator, too. */
	size = strlen(value);
	while (size > 0 && value[size - 1] == ' ')
		size--;
	fact->value = intern_bytes(&model->names, value, size);
	if (type == GT_INFO && strcmp(key, "window_ticks") == 0)
		model->maps.window = model->waiting.window =
			strtoull(value, NULL, 10);
	if (type == GT_INFO && strcmp(key, "tick_ps") == 0)
		model->clock.tick_ps = strtoull(value, NULL, 10);
}

static void take_thread(void *owner, const struct trace_thread *record)
{
	struct model *model = owner;

	threads_record(&model->threads, record);
}

static void take_capture(void *owner, const struct trace_capture *record)
{
	struct model *model = owner;

	threads_capture(&model->threads, record);
}

static void take_image(void *owner, const struct trace_image *record)
{
	struct model *model = owner;
	struct trace_image image = *record;
	const char *program = model_fact(model, GT_INFO, "exe");

	/* the loader has no name for it; the writer was killed before it could
	 * look at the kernel's */
	if (image.flags & GT_IMAGE_MAIN && image.path_size == 0 && program) {
		image.path = program;
		image.path_size = strlen(program);
	}
	images_add(&model->images, &image);
}

static void take_node(void *owner, const struct trace_node *record)
{
	struct model *model = owner;

	contexts_define(&model->contexts, &model->images, record);
}

static void take_maps(void *owner, const struct trace_maps *head,
		      struct cursor *records)
{
	struct model *model = owner;

	if (model->with_maps)
		maps_take(&model->maps, head, records);
}

static void take_names(void *owner, const char *text, size_t size,
		       uint32_t node)
{
	struct model *model = owner;

	perfmap_add(&model->perfmap, text, size, node);
}

static void take_usage(void *owner, const struct trace_usage *point)
{
	struct model *model = owner;

	footprint_point(&model->footprint, point);
}

static void take_mapping(void *owner, const struct trace_mapping *mapping)
{
	struct model *model = owner;

	footprint_mapping(&model->footprint, mapping);
}

static void take_snapshot(void *owner, const struct trace_snapshot *snapshot)
{
	struct model *model = owner;

	footprint_snapshot(&model->footprint, snapshot);
}

static void take_sync(void *owner, const struct trace_sync *sync)
{
	struct model *model = owner;

	if (model->clock.count == 0)
		model->first_sync = *sync;
	model->last_sync = *sync;
	clock_add(&model->clock, sync->ticks, sync->monotonic_ns);
	if (sync->dropped > model->dropped)
		model->dropped = sync->dropped;
}

static uint32_t lane_of_ring(void *owner, uint32_t ring, bool *nested)
{
	struct model *model = owner;
	uint32_t thread = threads_of_ring(&model->threads, ring, nested);

	return model_lane(thread, *nested);
}

void model_init(struct model *model)
{
	memset(model, 0, sizeof(*model));
	images_init(&model->images);
	contexts_init(&model->contexts);
	blocks_init(&model->blocks);
	threads_init(&model->threads);
	maps_init(&model->maps, &model->blocks, &model->contexts);
	model->waiting.expires = UINT64_MAX;
	model->waiting.window = DEFAULT_WINDOW;
}

static int read_with(struct model *model, const char *path, bool events)
{
	struct reader_sink sink = {
		.owner = model,
		.line = take_line,
		.thread = take_thread,
		.capture = take_capture,
		.image = take_image,
		.node = take_node,
		.maps = take_maps,
		.names = take_names,
		.usage = take_usage,
		.mapping = take_mapping,
		.snapshot = take_snapshot,
		.sync = take_sync,
		.lane = lane_of_ring,
		.extras_only = !events,
		.events = model_events,
	};
	int status = reader_run(path, &sink, &model->report);

	model_finish(model);
	if (model->with_maps)
		maps_finish(&model->maps);
	return status;
}

int model_read(struct model *model, const char *path)
{
	return read_with(model, path, true);
}

int model_read_maps(struct model *model, const char *path)
{
	model->with_maps = true;
	return read_with(model, path, true);
}

int model_read_outline(struct model *model, const char *path)
{
	return read_with(model, path, false);
}

void model_free(struct model *model)
{
	images_free(&model->images);
	contexts_free(&model->contexts);
	blocks_free(&model->blocks);
	threads_free(&model->threads);
	tuning_free(&model->tuning);
	clock_free(&model->clock);
	perfmap_free(&model->perfmap);
	maps_free(&model->maps);
	footprint_free(&model->footprint);
	intern_free(&model->names);
	free(model->moving);
	free(model->facts);
}
