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
 * Makes the first piece, with a zeroed struct recorder at its start. Later
 * pieces come as memory is given out. size_bytes: of all pieces together, but
 * for what is left over at their ends. Once per process image. 0, -ENOMEM, or
 * -ENOSYS where the kernel cannot wipe it.
 */
int area_map(uint64_t size_bytes);

/* What is given out before area_settle, at most. */
#define AREA_MIN (UINT64_C(7) << 20)

/*
 * A place behind that, aligned to a cache line, where a child finds zeros, too:
 * for what is reached by a pointer that is static. Once per process image,
 * before the first area_alloc; some pages in all.
 */
void *area_place(size_t size_bytes);

/* Zeroed memory, aligned to a cache line, whose addresses stay taken; NULL when
 * the area is used up. May map a piece. Any thread, also signal handlers. */
void *area_alloc(size_t size_bytes);

/* Maps all that may be given out yet: mapping is going to be forbidden, or to
 * be locked. */
void area_fill(void);

/*
 * The recording has started: what was taken so far are tables for the largest
 * number of everything, of which hardly any page is in use. What is given out from
 * now on counts as used, and is `budget` bytes at most.
 */
void area_settle(uint64_t budget);

/* Bytes given out so far. */
uint64_t area_used(void);

/* Whether so much is used that new threads should go without memory of their
 * own, for the sake of what all threads share. */
bool area_scarce(void);

struct area_range {
	char *at;
	uint64_t bytes;
	uint64_t taken;		/* of them, the first, by area_alloc and us */
};

/* The i-th piece; false: there are fewer. */
bool area_piece(unsigned i, struct area_range *range);

/* All of it becomes zeros, as in a child. */
void area_wipe(void);

/* The recorder is told of all pieces, and from now on of those that come. */
void area_tell_pieces(struct gl_shared *shared);

/* Of area.c: it lies behind struct recorder. */
struct area {
	_Atomic uint64_t used;	/* bytes given out, but for the first ones */
	uint64_t limit;		/* bytes in all; 0: area_most */
	uint64_t spare;		/* of them, not for new threads */
	_Atomic uint64_t taken[GL_AREA_PIECES];	/* bytes of each piece */
	_Atomic uint64_t large[GL_AREA_PIECES];	/* where its large pages end */
};
extern BASE_HIDDEN struct area *area;

/* What was given out of each piece, and of all. With GNOMON_CLAIMS. */
bool area_is_valid(void);

#endif
