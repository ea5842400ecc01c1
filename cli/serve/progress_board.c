/*
 * progress_board.c: see progress_board.h.
 */
#include "cli/serve/progress_board.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "cli/base/progress.h"
#include "unwind/base/assertion.h"

static struct progress_slot *board;
static struct progress_slot *own;	/* in a worker: its slot */

bool progress_board_open(void)
{
	void *memory = mmap(NULL, PROGRESS_SLOTS * sizeof(*board),
			    PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	board = memory == MAP_FAILED ? NULL : memory;
	return board != NULL;
}

static void clear(struct progress_slot *slot)
{
	slot->what[0] = 0;
	atomic_store_explicit(&slot->done, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->total, 0, memory_order_relaxed);
}

uint32_t progress_board_take(void)
{
	uint32_t slot = 0;

	while (slot < PROGRESS_SLOTS - 1 && board[slot].taken)
		slot++;
	board[slot].taken = true;
	clear(&board[slot]);
	return slot;
}

void progress_board_give(uint32_t slot)
{
	ASSERT(slot < PROGRESS_SLOTS);
	board[slot].taken = false;
}

static void begin(const char *what, uint64_t total)
{
	clear(own);
	atomic_store_explicit(&own->total, total, memory_order_relaxed);
	snprintf(own->what, sizeof(own->what), "%s", what);
}

static void update(uint64_t done)
{
	atomic_store_explicit(&own->done, done, memory_order_relaxed);
}

static void end(void)
{
	clear(own);
}

void progress_board_show(uint32_t slot)
{
	static const struct progress_hook hook = { begin, update, end };

	ASSERT(slot < PROGRESS_SLOTS);
	own = &board[slot];
	progress_show(&hook);
}

void progress_board_leave(void)
{
	progress_show(NULL);
	clear(own);
}

struct progress_slot progress_board_read(uint32_t slot)
{
	struct progress_slot copy;

	ASSERT(slot < PROGRESS_SLOTS);
	memcpy(copy.what, board[slot].what, sizeof(copy.what));
	copy.what[sizeof(copy.what) - 1] = 0;
	copy.taken = board[slot].taken;
	copy.done = atomic_load_explicit(&board[slot].done,
					 memory_order_relaxed);
	copy.total = atomic_load_explicit(&board[slot].total,
					  memory_order_relaxed);
	return copy;
}
