/*
 * replay_writer.c: writes a program's allocator calls as a stream
 * (replay_stream.h) for bench/replay_player.c, without addresses and stacks.
 *
 *  I1  A block moved by realloc keeps its slot. Its end is held until the next
 *      event, which should be the new block. If it is another block (the new
 *      one was filtered out, or another event came during the realloc), the end
 *      becomes a free.
 *
 * Memory use grows with live blocks. Called by the main thread.
 */
#include "cli/export/exporters.h"

#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/base/status.h"
#include "cli/export/compressed_file.h"
#include "cli/export/replay_stream.h"
#include "cli/model/core/threads.h"
#include "unwind/base/assertion.h"

#define TIME_STEP_NS 1000000	/* resolution of times */
#define NO_THREAD UINT32_MAX

/* The old block of a realloc. */
struct moved {
	uint32_t chain;		/* 0: none */
	uint32_t slot, thread;
	uint64_t size, stamp;
};

struct writing {
	struct export *export;
	struct compressed_file out;
	uint32_t *slots;	/* by block number */
	size_t slot_capacity;
	uint32_t *empty;	/* free slots; the last one is used next */
	size_t empty_count, empty_capacity;
	struct moved moved;	/* I1 */
	uint32_t *threads;	/* model's thread -> number, or NO_THREAD */
	uint32_t current;	/* number in the last THREAD */
	uint64_t time_ns;	/* time after the last TIME */
	uint64_t totals[REPLAY_TOTALS];
};

static void put_number(struct writing *w, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		compressed_file_byte(&w->out, (uint8_t)(number | 0x80));
	compressed_file_byte(&w->out, (uint8_t)number);
}

static void put_time(struct writing *w, uint64_t stamp)
{
	uint64_t ns = model_since_start_ns(w->export->model, stamp);

	if (ns < w->time_ns || ns - w->time_ns < TIME_STEP_NS)
		return;
	compressed_file_byte(&w->out, REPLAY_TIME);
	put_number(w, ns - w->time_ns);
	w->time_ns = ns;
}

static void put_thread(struct writing *w, uint32_t thread)
{
	uint32_t *number;

	if (thread >= model_threads(w->export->model)->count)
		thread = 0;	/* unknown thread */
	number = &w->threads[thread];
	if (*number == NO_THREAD)
		*number = (uint32_t)w->totals[REPLAY_THREADS]++;
	DEBUG_ASSERT(*number < w->totals[REPLAY_THREADS]);	/* I2 */
	if (*number == w->current)
		return;
	w->current = *number;
	compressed_file_byte(&w->out, REPLAY_THREAD);
	put_number(w, *number);
}

static void put(struct writing *w, enum replay_operation operation,
		uint32_t thread, uint64_t stamp, uint32_t slot)
{
	put_time(w, stamp);
	put_thread(w, thread);
	compressed_file_byte(&w->out, (uint8_t)operation);
	put_number(w, slot);
}

static void count_end(struct writing *w, uint64_t size, bool freed)
{
	w->totals[REPLAY_FREES] += freed;
	w->totals[REPLAY_LIVE_BLOCKS]--;
	w->totals[REPLAY_LIVE_BYTES] -= size;
}

static void count_alloc(struct writing *w, uint64_t size)
{
	w->totals[REPLAY_ALLOCATIONS]++;
	w->totals[REPLAY_TOTAL_BYTES] += size;
	w->totals[REPLAY_LIVE_BLOCKS]++;
	w->totals[REPLAY_LIVE_BYTES] += size;
	if (w->totals[REPLAY_LIVE_BYTES] > w->totals[REPLAY_PEAK_BYTES])
		w->totals[REPLAY_PEAK_BYTES] = w->totals[REPLAY_LIVE_BYTES];
}

static void leave_slot(struct writing *w, uint32_t slot)
{
	DEBUG_ASSERT(slot < w->totals[REPLAY_SLOTS]); /* I1 */
	GROW(w->empty, w->empty_count, w->empty_capacity);
	w->empty[w->empty_count++] = slot;
}

/* The new block was not seen: write a free (I1). */
static void settle_moved(struct writing *w)
{
	struct moved *moved = &w->moved;

	if (moved->chain == 0)
		return;
	put(w, REPLAY_FREE, moved->thread, moved->stamp, moved->slot);
	count_end(w, moved->size, true);
	leave_slot(w, moved->slot);
	moved->chain = 0;
}

static uint32_t put_alloc(struct writing *w, const struct export_block *block)
{
	uint32_t slot = w->empty_count > 0 ? w->empty[--w->empty_count] :
		(uint32_t)w->totals[REPLAY_SLOTS]++;

	put(w, REPLAY_ALLOC, block->thread, block->stamp, slot);
	return slot;
}

static uint32_t put_realloc(struct writing *w,
			    const struct export_block *block)
{
	struct moved *moved = &w->moved;

	put(w, REPLAY_REALLOC, block->thread, block->stamp, moved->slot);
	count_end(w, moved->size, true);
	w->totals[REPLAY_REALLOCS]++;
	moved->chain = 0;
	return moved->slot;
}

static void take_alloc(void *owner, const struct export_block *block)
{
	struct writing *w = owner;
	uint32_t slot;

	if (block->chain != 0 && block->chain == w->moved.chain) {
		slot = put_realloc(w, block);
	} else {
		settle_moved(w);
		slot = put_alloc(w, block);
	}
	put_number(w, block->block->size);
	count_alloc(w, block->block->size);
	GROW_TO(w->slots, w->slot_capacity, block->number);
	w->slots[block->number] = slot;
}

static void take_end(void *owner, const struct export_block *block)
{
	struct writing *w = owner;
	uint32_t slot = w->slots[block->number];
	bool lost = block->end == EDGE_LOST;

	settle_moved(w);
	if (block->end == EDGE_MOVED && block->chain != 0) {
		w->moved = (struct moved){ block->chain, slot, block->thread,
					   block->block->size, block->stamp };
		return;
	}
	put(w, lost ? REPLAY_LOST : REPLAY_FREE, block->thread, block->stamp,
	    slot);
	count_end(w, block->block->size, !lost);
	leave_slot(w, slot);
}

static void put_tail(struct writing *w)
{
	settle_moved(w);
	compressed_file_byte(&w->out, REPLAY_END);
	for (int i = 0; i < REPLAY_TOTALS; i++)
		put_number(w, w->totals[i]);
}

static int write_replay(struct export *export)
{
	struct writing *w = grow_zeroed(1, sizeof(*w));
	const struct export_follower follower = {
		.owner = w, .alloc = take_alloc, .end = take_end,
	};
	size_t threads = model_threads(export->model)->count + 1;
	int status;

	w->export = export;
	w->threads = grow_alloc(threads * sizeof(*w->threads));
	for (size_t i = 0; i < threads; i++)
		w->threads[i] = NO_THREAD;
	compressed_file_begin(&w->out, export->out, export->output);
	compressed_file_bytes(&w->out, REPLAY_MAGIC, REPLAY_MAGIC_SIZE);
	compressed_file_byte(&w->out, REPLAY_VERSION);
	status = export_follow(export, &follower);
	/* An incomplete trace gets no tail. */
	if (status != EXIT_NOTHING)
		put_tail(w);
	compressed_file_end(&w->out);
	free(w->threads);
	free(w->slots);
	free(w->empty);
	free(w);
	return status;
}

const struct exporter export_replay = {
	.name = "replay",
	.what = "allocator calls only, for bench/replay with other allocators",
	.binary = true,
	.has_threads = true,
	.wants_blocks = true,
	.write = write_replay,
};
