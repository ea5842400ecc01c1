/*
 * guard_block.h: the zones and headers that --guard puts around a block, and
 * how they are checked.
 *
 *	memory                                    block
 *	│ slack … │ twin │ front zone │ header ──▶│ size bytes │ rear zone │
 *	            32     >= zone      40                       zone
 *	          ├──────────── front ────────────┤
 *
 * The header ends where the block begins, so it can be found from the address
 * alone, also in the bytes of a core dump. An overrun out of the front of a
 * block overwrites the header first; the twin, beyond the zone, still has its
 * contents. Slack is for larger alignments. Zones are filled with GUARD_FILL.
 * All numbers are in the machine's byte order.
 *
 * No state; any thread, also signal handlers. Memory that may not be ours is
 * read only on the page that the block begins in; elsewhere `readable` is
 * called first.
 *
 * I1: a block is ours if its check, or its twin's, is the hash of its address,
 * size and place with the secret of this process. I2: `magic` of the header is
 * stored last when a block is made, and changed first when it is freed. So a
 * reader of memory as it was at some moment (a forked child, a core dump) finds
 * a block complete or not at all.
 */
#ifndef GNOMON_GUARD_BLOCK_H
#define GNOMON_GUARD_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/base/base.h"

#define GUARD_ALIGN 16u			/* alignment of every block */
#define GUARD_FILL 0xa7u
#define GUARD_ZONE_MAX (1u << 20)
#define GUARD_PLACE_MAX ((1u << 24) - 1)	/* a multiple of GUARD_ALIGN */

/* Bytes "GNOMblk[" and "]GNOMblk"; the first are "gnomgon[" in a block that was
 * freed, or is not complete yet. */
#define GUARD_MAGIC UINT64_C(0x5b6b6c624d4f4e47)
#define GUARD_TWIN UINT64_C(0x5b6e77744d4f4e47)	/* "GNOMtwn[" */
#define GUARD_MAGIC_END UINT64_C(0x6b6c624d4f4e475d)
#define GUARD_FREED UINT64_C(0x5b6e6f676d6f6e67)

struct guard_header {
	uint64_t magic;
	uint64_t size;		/* requested size */
	uint32_t context;	/* node of the tree; 0: not known */
	/* distance from the start of the memory / GUARD_ALIGN; above 24 bits
	 * the number of forks from the process whose tree has the context */
	uint32_t place;
	uint64_t magic_end;
	uint64_t check;		/* guard_check */
};

struct guard_twin {
	uint64_t magic;		/* GUARD_TWIN */
	uint64_t size;
	uint32_t context;
	uint32_t place;
	uint64_t check;		/* ~ that of the header */
};

_Static_assert(sizeof(struct guard_header) == 40, "as in docs/GUARD.md");
_Static_assert(sizeof(struct guard_twin) == 32, "as in docs/GUARD.md");

/* Constant in a process image, and kept by its children. */
struct guard_shape {
	uint32_t zone;		/* bytes after a block, and at least before
				 * it */
	uint32_t front;		/* from the twin to the block */
	uint64_t secret;
	/* returns whether the 8 bytes at an address can be read */
	bool (*readable)(uintptr_t address);
	/* guard_find and guard_check_* read a copy of the memory at this
	 * distance from it. 0: the memory itself */
	intptr_t copy;
};

enum guard_state {
	GUARD_FOREIGN,		/* not a guarded block */
	GUARD_LIVE,
	GUARD_ENDED		/* it was freed before */
};

struct guard_found {
	uint64_t size;
	uint32_t context;
	uint32_t place;		/* as in the header */
	bool header;		/* false: only the twin was intact */
};

/* Overwritten bytes of a zone. */
struct guard_harm {
	int64_t offset;		/* of the first one, from the block */
	uint64_t bytes;		/* 0: none */
};

struct guard_shape guard_shape(uint32_t zone, uint64_t secret);

/* Bytes to request from the allocator; 0: too many. The alignment is a power of
 * two. */
uint64_t guard_bytes(const struct guard_shape *shape, uint64_t size,
		     uint64_t alignment);

/* The address of the block in its memory. */
uintptr_t guard_place(const struct guard_shape *shape, uintptr_t memory,
		      uint64_t alignment);

/* Writes zones, header and twin. `forks` as in the header. */
void guard_make(const struct guard_shape *shape, uintptr_t memory,
		uintptr_t block, uint64_t size, uint32_t context,
		uint8_t forks);

/* What the address is. *found is set unless it is GUARD_FOREIGN. */
enum guard_state guard_find(const struct guard_shape *shape, uintptr_t block,
			    struct guard_found *found);

/* Check the bytes before and after a live block. */
struct guard_harm guard_check_front(const struct guard_shape *shape,
				    uintptr_t block,
				    const struct guard_found *found);
struct guard_harm guard_check_rear(const struct guard_shape *shape,
				   uintptr_t block, uint64_t size);

/* Stores the context of a live block, before the program gets the block. */
void guard_name(const struct guard_shape *shape, uintptr_t block,
		uint32_t context, uint8_t forks);

/* Marks a block as freed, before it is. */
void guard_unmake(const struct guard_shape *shape, uintptr_t block,
		  const struct guard_found *found);

static inline uintptr_t guard_memory(uintptr_t block,
				     const struct guard_found *found)
{
	return block - (uintptr_t)(found->place & GUARD_PLACE_MAX) *
			       GUARD_ALIGN;
}

static inline uint8_t guard_forks(uint32_t place)
{
	return place >> 24;
}

#endif
