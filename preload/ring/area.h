/*
 * area.h: private memory, wiped in a forked child.
 */
#ifndef GNOMON_AREA_H
#define GNOMON_AREA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/base/base.h"
#include "preload/ring/shared.h"

/*
 * Makes the first piece, with a zeroed struct producer at its start. Later
 * pieces are mapped on demand. size_bytes: of all pieces together, not counting
 * unused space at their ends. Once per process image. 0, -ENOMEM, or -ENOSYS if
 * the kernel cannot wipe the area on fork.
 */
int area_map(uint64_t size_bytes);

/* Upper limit of what is allocated before area_set_budget. */
#define AREA_MIN (UINT64_C(7) << 20)

/*
 * Zeroed memory after struct producer, aligned to a cache line, that a child
 * finds zeroed, too: for state reached by a static pointer. Once per process
 * image, before the first area_alloc; some pages in all.
 */
void *area_place(size_t size_bytes);

/* Zeroed memory, aligned to a cache line, never freed; NULL when the area is
 * used up. May map a piece. Any thread, also signal handlers. */
void *area_alloc(size_t size_bytes);

/* Maps everything that may still be allocated, before mapping is forbidden or
 * mappings are locked. */
void area_fill(void);

/*
 * Called once the recording has started: later allocations count as used, and
 * are limited to `budget` bytes. The memory allocated before is tables for the
 * largest number of everything, of which hardly any page is in use.
 */
void area_set_budget(uint64_t budget);

/* Bytes allocated so far. */
uint64_t area_used(void);

/* Whether the area is so full that new threads should do without memory of
 * their own, to save it for what all threads share. */
bool area_scarce(void);

struct area_range {
	char *at;
	uint64_t bytes;
	uint64_t taken;		/* of these, allocated from the start */
};

/* The i-th piece; false: there are fewer. */
bool area_piece(unsigned i, struct area_range *range);

/* Zeroes the area, as in a child. */
void area_wipe(void);

/* Publishes all pieces to the recorder, and from now on new ones. */
void area_report_pieces(struct gl_shared *shared);

/* State of area.c; lies after struct producer. */
struct area {
	_Atomic uint64_t used;	/* bytes allocated after area_set_budget */
	uint64_t limit;		/* limit of all bytes; 0: area_most */
	uint64_t spare;		/* part of `limit` kept from new threads */
	_Atomic uint64_t taken[GL_AREA_PIECES];	/* bytes allocated of each
						 * piece */
	_Atomic uint64_t large[GL_AREA_PIECES];	/* end of each piece's large
						 * pages */
};
extern BASE_HIDDEN struct area *area;

/* Checks the bytes allocated of each piece, and in all. With
 * GNOMON_DEBUG_ASSERTS. */
bool area_is_valid(void);

#endif
