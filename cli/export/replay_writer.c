/*
 * replay_writer.c: the operations of a program as a stream (replay_stream.h)
 * for bench/replay_player.c, which wants to know neither addresses nor stacks.
 *
 *  I1  A block that is moved by a realloc keeps its slot: its end is held until
 *      the next call, which tells the block it became. If it tells another one
 *      (that of the realloc was filtered out, or something happened while the
 *      realloc ran), it was a free.
 *
 * Memory grows with live blocks. Called by the main thread.
 */
#include "cli/export/exporters.h"

#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/base/status.h"
#include "cli/export/packed.h"
#include "cli/export/replay_stream.h"
#include "cli/model/core/contexts.h"
#include "cli/model/core/edges.h"
#include "cli/model/core/threads.h"
#include "cli/model/tap.h"
#include "unwind/claim.h"

#define TIME_STEP_NS 1000000	/* finer times are not written */
#define NO_THREAD UINT32_MAX

/* A block that a realloc has moved away. */
struct moved {
	uint32_t chain;		/* 0: there is none */
	uint32_t slot, thread;
	uint64_t size, stamp;
};

struct writing {
	struct export *export;
	struct packed out;
	bool *keeps;		/* by node; NULL: all */
	uint32_t *slots;	/* by number of a block */
	size_t slot_capacity;
	uint32_t *empty;	/* slots; the last one is next */
	size_t empty_count, empty_capacity;
	struct moved moved;	/* I1 */
	uint32_t thread;	/* whose event it is: the tap's */
	uint32_t *threads;	/* by that: its number, or NO_THREAD */
	uint32_t current;	/* number of the last THREAD */
	uint64_t time_ns;	/* of the last TIME */
	uint64_t totals[REPLAY_TOTALS];
};

static void put_number(struct writing *w, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		packed_byte(&w->out, (uint8_t)(number | 0x80));
	packed_byte(&w->out, (uint8_t)number);
}

static void put_time(struct writing *w, uint64_t stamp)
{
	uint64_t ns = model_since_start_ns(w->export->model, stamp);

	if (ns < w->time_ns || ns - w->time_ns < TIME_STEP_NS)
		return;
	packed_byte(&w->out, REPLAY_TIME);
	put_number(w, ns - w->time_ns);
	w->time_ns = ns;
}

static void put_thread(struct writing *w, uint32_t thread)
{
	uint32_t *number;

	if (thread >= model_threads(w->export->model)->count)
		thread = 0;	/* the unknown one */
	number = &w->threads[thread];
	if (*number == NO_THREAD)
		*number = (uint32_t)w->totals[REPLAY_THREADS]++;
	CLAIM_FULL(*number < w->totals[REPLAY_THREADS]);	/* I2 */
	if (*number == w->current)
		return;
	w->current = *number;
	packed_byte(&w->out, REPLAY_THREAD);
	put_number(w, *number);
}

static void put(struct writing *w, enum replay_operation operation,
		uint32_t thread, uint64_t stamp, uint32_t slot)
{
	put_time(w, stamp);
	put_thread(w, thread);
	packed_byte(&w->out, (uint8_t)operation);
	put_number(w, slot);
}

static void count_end(struct writing *w, uint64_t size, bool freed)
{
	w->totals[REPLAY_FREES] += freed;
	w->totals[REPLAY_LIVE_BLOCKS]--;
	w->totals[REPLAY_LIVE_BYTES] -= size;
}

static void count_birth(struct writing *w, uint64_t size)
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
	CLAIM_FULL(slot < w->totals[REPLAY_SLOTS]); /* I1 */
	GROW(w->empty, w->empty_count, w->empty_capacity);
	w->empty[w->empty_count++] = slot;
}

/* What was moved became nothing that is known: it was freed (I1). */
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

static bool is_kept(const struct writing *w, uint32_t node)
{
	return node < w->export->frames->contexts->node_count &&
		(w->keeps == NULL || w->keeps[node]);
}

static void enter_slot(struct writing *w, uint32_t number, uint32_t slot)
{
	size_t before = w->slot_capacity;

	while (w->slot_capacity <= number)
		w->slot_capacity = w->slot_capacity ? w->slot_capacity * 2 :
			1024;
	if (w->slot_capacity != before)
		w->slots = grow_resize(w->slots, w->slot_capacity,
				       sizeof(*w->slots));
	w->slots[number] = slot;
}

static uint32_t put_alloc(struct writing *w, const struct block *block)
{
	uint32_t slot = w->empty_count > 0 ? w->empty[--w->empty_count] :
		(uint32_t)w->totals[REPLAY_SLOTS]++;

	put(w, REPLAY_ALLOC, w->thread, block->birth, slot);
	return slot;
}

static uint32_t put_realloc(struct writing *w, const struct block *block)
{
	struct moved *moved = &w->moved;

	put(w, REPLAY_REALLOC, w->thread, block->birth, moved->slot);
	count_end(w, moved->size, true);
	w->totals[REPLAY_REALLOCS]++;
	moved->chain = 0;
	return moved->slot;
}

static void take_birth(void *owner, const struct block *block, uint32_t number,
		       uint32_t node, uint32_t chain)
{
	struct writing *w = owner;
	uint32_t slot;

	if (!is_kept(w, node))
		return;
	if (chain != 0 && chain == w->moved.chain) {
		slot = put_realloc(w, block);
	} else {
		settle_moved(w);
		slot = put_alloc(w, block);
	}
	put_number(w, block->size);
	count_birth(w, block->size);
	enter_slot(w, number, slot);
}

static void take_end(void *owner, const struct block *block, uint32_t number,
		     uint32_t node, uint64_t stamp, enum edge_end end,
		     uint32_t chain)
{
	struct writing *w = owner;

	if (!is_kept(w, node))
		return;
	settle_moved(w);
	if (end == EDGE_MOVED && chain != 0) {
		w->moved = (struct moved){ chain, w->slots[number], w->thread,
					   block->size, stamp };
		return;
	}
	put(w, end == EDGE_LOST ? REPLAY_LOST : REPLAY_FREE, w->thread,
	    stamp, w->slots[number]);
	count_end(w, block->size, end != EDGE_LOST);
	leave_slot(w, w->slots[number]);
}

static void put_tail(struct writing *w)
{
	settle_moved(w);
	packed_byte(&w->out, REPLAY_END);
	for (int i = 0; i < REPLAY_TOTALS; i++)
		put_number(w, w->totals[i]);
}

static int write_replay(struct export *export)
{
	struct writing *w = grow_zeroed(1, sizeof(*w));
	const struct model_tap tap = { .owner = w, .birth = take_birth,
				       .end = take_end, .thread = &w->thread };
	size_t threads = model_threads(export->model)->count + 1;
	int status;

	w->export = export;
	w->keeps = export_keeps(export);
	w->threads = grow_alloc(threads * sizeof(*w->threads));
	for (size_t i = 0; i < threads; i++)
		w->threads[i] = NO_THREAD;
	packed_begin(&w->out, export->out, export->output);
	packed_bytes(&w->out, REPLAY_MAGIC, REPLAY_MAGIC_SIZE);
	packed_byte(&w->out, REPLAY_VERSION);
	status = model_follow(export->model, export->trace, &tap);
	/* What was not read to its end has none. */
	if (status != EXIT_NOTHING)
		put_tail(w);
	packed_end(&w->out);
	free(w->keeps);
	free(w->threads);
	free(w->slots);
	free(w->empty);
	free(w);
	return status == EXIT_NOTHING ? status : EXIT_COMPLETE;
}

const struct exporter export_replay = {
	.name = "replay",
	.what = "the operations alone, for bench/replay: other allocators",
	.binary = true,
	.has_threads = true,
	.wants_blocks = true,
	.write = write_replay,
};
