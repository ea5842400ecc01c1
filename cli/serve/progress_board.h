/*
 * progress_board.h: the progress of each worker, in memory that the front
 * shares with all its children. A worker writes its own slot, the front reads
 * them all. Reads may be torn; progress is only for display.
 */
#ifndef GNOMON_PROGRESS_BOARD_H
#define GNOMON_PROGRESS_BOARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define PROGRESS_SLOTS 512u
#define PROGRESS_WHAT 48	/* bytes, including a NUL */

struct progress_slot {
	char what[PROGRESS_WHAT];	/* "": no progress reported */
	_Atomic uint64_t done, total;	/* total 0: unknown */
	bool taken;			/* written by the front */
};

/* Call before any fork. False: out of memory. */
bool progress_board_open(void);
/* Returns a free slot, cleared. If none is free, the last slot, which several
 * workers then share. */
uint32_t progress_board_take(void);
void progress_board_give(uint32_t slot);
/* In a worker: write progress to this slot from now on. */
void progress_board_show(uint32_t slot);
/* In a worker: the progress has ended. */
void progress_board_leave(void);
/* Returns a copy of the slot. */
struct progress_slot progress_board_read(uint32_t slot);

#endif
