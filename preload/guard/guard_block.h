/*
 * guard_block.h: what --guard lays around a block, and how it is read again.
 *
 *	memory                                    block
 *	│ slack … │ twin │ front zone │ header ──▶│ size bytes │ rear zone │
 *	            32     >= zone      40                       zone
 *	          ├──────────── front ────────────┤
 *
 * The header ends where the block begins, so whoever has an address, or the
 * bytes of a core dump, finds it without knowing more. It is the first that is
 * overwritten by what runs out of the front of a block; then the twin, beyond
 * the zone, still knows what was in it. Slack is there for larger alignments.
 * Zones are filled with GUARD_FILL. All numbers in the machine's byte order.
 *
 * No state; any thread, also signal handlers. What may be somebody else's is
 * read on the page that the block begins in; elsewhere `readable` is asked.
 *
 * I1: a block is ours if its check, or its twin's, is that of its address,
 *     size and place under the secret of this process.
 * I2: `magic` of the header is stored last when a block is made, and changed
 *     first when it ends. So whoever looks at memory as it was at some moment
 *     (a forked child, a core dump) finds blocks whole or not at all.
 */
#ifndef GNOMON_GUARD_BLOCK_H
#define GNOMON_GUARD_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/base/base.h"

#define GUARD_ALIGN 16u			/* of every block */
#define GUARD_FILL 0xa7u
#define GUARD_ZONE_MAX (1u << 20)
#define GUARD_PLACE_MAX ((1u << 24) - 1)	/* a multiple of GUARD_ALIGN */

/* Bytes "GNOMblk[" and "]GNOMblk"; the first are "gnomgon[" of a block that
 * was freed, or is not made yet. */
#define GUARD_MAGIC UINT64_C(0x5b6b6c624d4f4e47)
#define GUARD_TWIN UINT64_C(0x5b6e77744d4f4e47)	/* "GNOMtwn[" */
#define GUARD_MAGIC_END UINT64_C(0x6b6c624d4f4e475d)
#define GUARD_FREED UINT64_C(0x5b6e6f676d6f6e67)

struct guard_header {
	uint64_t magic;
	uint64_t size;		/* that was asked for */
	uint32_t context;	/* node of the tree; 0: not known */
	/* from the start of the memory, / GUARD_ALIGN, and above 24 bits how
	 * many forks the process was from the one with whose tree to read
	 * the context */
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
	uint32_t zone;		/* bytes behind a block, and at least before */
	uint32_t front;		/* from the twin to the block */
	uint64_t secret;
	/* whether the 8 bytes at an address can be read */
	bool (*readable)(uintptr_t address);
	/* guard_find and guard_look_* read what lies so far from the memory
	 * that is meant: a copy of it. 0: the memory itself */
	intptr_t copy;
};

enum guard_state {
	GUARD_FOREIGN,		/* nothing of ours lies before it */
	GUARD_LIVE,
	GUARD_ENDED		/* it was freed before */
};

struct guard_found {
	uint64_t size;
	uint32_t context;
	uint32_t place;		/* as in the header */
	bool header;		/* false: only the twin was whole */
};

/* Bytes that are not what they were. */
struct guard_harm {
	int64_t offset;		/* of the first one, from the block */
	uint64_t bytes;		/* 0: none */
};

struct guard_shape guard_shape(uint32_t zone, uint64_t secret);

/* Bytes to ask the allocator for; 0: too many. The alignment is a power of
 * two. */
uint64_t guard_bytes(const struct guard_shape *shape, uint64_t size,
		     uint64_t alignment);

/* Where the block lies in memory of so many bytes. */
uintptr_t guard_place(const struct guard_shape *shape, uintptr_t memory,
		      uint64_t alignment);

/* Writes everything around it. `forks` as in the header. */
void guard_make(const struct guard_shape *shape, uintptr_t memory,
		uintptr_t block, uint64_t size, uint32_t context,
		uint8_t forks);

/* What the address is. *found: unless it is foreign. */
enum guard_state guard_find(const struct guard_shape *shape, uintptr_t block,
			    struct guard_found *found);

/* Whether the bytes before and behind a live block are as they were. */
struct guard_harm guard_look_front(const struct guard_shape *shape,
				   uintptr_t block,
				   const struct guard_found *found);
struct guard_harm guard_look_rear(const struct guard_shape *shape,
				  uintptr_t block, uint64_t size);

/* The context of a live block became known, before the program has it. */
void guard_name(const struct guard_shape *shape, uintptr_t block,
		uint32_t context, uint8_t forks);

/* The block is about to end. */
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
