/*
 * progress_board.h: how far each worker has come: memory that the front and all
 * that it forks share. A worker writes its own slot, the front reads them all;
 * what it reads may be torn, and is for people alone.
 */
#ifndef GNOMON_PROGRESS_BOARD_H
#define GNOMON_PROGRESS_BOARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define PROGRESS_SLOTS 512u
#define PROGRESS_WHAT 48	/* bytes, with a NUL */

struct progress_slot {
	char what[PROGRESS_WHAT];	/* "": nothing is said */
	_Atomic uint64_t done, total;	/* total 0: it is not known */
	bool taken;			/* the front's */
};

/* Before anything is forked. False: there is no memory. */
bool progress_board_open(void);
/* A slot that is free, cleared; the last one is everybody's who finds none. */
uint32_t progress_board_take(void);
void progress_board_give(uint32_t slot);
/* In a worker: progress goes to the slot from now on. */
void progress_board_show(uint32_t slot);
/* That it has come to an end. */
void progress_board_leave(void);
/* What it says: a copy. */
struct progress_slot progress_board_read(uint32_t slot);

#endif
