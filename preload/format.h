/*
 * format.h: format of the live file, and of those parts of the trace that hooks
 * write: event kinds and counters. Trace readers include it through
 * cli/trace/format/trace_format.h. docs/FORMAT.md describes the format; lint
 * compares names and numbers.
 */
#ifndef GNOMON_FORMAT_H
#define GNOMON_FORMAT_H

#include <stdint.h>

#include "unwind/base/layout.h"

#define GT_PATH_MAX 4096

/*
 * Kinds of events: number, name, bytes of the record in a ring (more for a
 * block that is GL_SIZE_BIG, or with GL_KIND_STACK), fields besides the
 * address.
 *	ALLOC		stamped after the real call
 *	FREE		stamped before the real call
 *	REALLOC_BEGIN	the old block; stamped before the real call
 *	REALLOC_DONE	the new block; ends this thread's BEGIN
 *	REALLOC_FAILED	the old block lives on; ends the BEGIN
 *	REALLOC_FREED	size 0 freed the block at BEGIN; ends it
 *	EXTRA		not about a block: see gt_extra
 */
#define GT_EVENT_KINDS(X)                    \
	X(0, ALLOC, 24, GT_IS_BLOCK)         \
	X(1, FREE, 16, GT_MAY_STACK)         \
	X(2, REALLOC_BEGIN, 16, GT_MAY_STACK) \
	X(3, REALLOC_DONE, 24, GT_IS_BLOCK)  \
	X(4, REALLOC_FAILED, 16, 0)          \
	X(5, REALLOC_FREED, 16, 0)           \
	X(6, EXTRA, 64, GT_IS_EXTRA)

enum gt_event {
#define GT_KIND(number, name, bytes, has) GT_##name = number,
	GT_EVENT_KINDS(GT_KIND)
#undef GT_KIND
	GT_EVENT_COUNT
};

enum gt_event_has {
	GT_IS_BLOCK = 1,	/* context, size, layout */
	GT_IS_EXTRA = 2,	/* context, size, what, arguments */
	GT_MAY_STACK = 4	/* a context, if it is known */
};

/*
 * Kinds of EXTRA; the comments list address, size; arguments 0 … 3 (fields not
 * listed are 0). `within` is an enum gt_within.
 */
enum gt_extra {
	GT_EXTRA_MAP = 1,	/* start, length; prot | flags << 32, fd,
				 * offset, within */
	GT_EXTRA_UNMAP,		/* start, length; 1: this thread's UNMAP before
				 * it failed, -, -, within */
	GT_EXTRA_REMAP,		/* new start, new length; old start, old
				 * length, flags, within */
	GT_EXTRA_PROTECT,	/* start, length; prot */
	GT_EXTRA_BRK,		/* new break, bytes it moved; old break, -, -,
				 * within */
	GT_EXTRA_SHMAT,		/* start, length or 0; shmid, flags */
	GT_EXTRA_SHMDT,		/* start */
	GT_EXTRA_MALLOPT,	/* -, -; parameter, value, result */
	GT_EXTRA_TRIM,		/* -, -; bytes to keep, result */
	GT_EXTRA_CREATE,	/* the new thread's pthread_t, -; -, how long
				 * the call took in ticks */
	GT_EXTRA_NAME,		/* pthread_t or 0: its own, -; 16 bytes of
				 * the name */
	GT_EXTRA_DLOPEN,	/* -, -; hash of the name (hooks_dlopen.c),
				 * flags */
	GT_EXTRA_DLCLOSE,
	GT_EXTRA_LEFT_OUT,	/* -, number of allocations of this thread
				 * between the previous event and the next that
				 * are no longer in the trace, but in TOTALS */
	GT_EXTRA_DAMAGE,	/* a block of --guard, its size; offset of the
				 * first damaged byte from its start (signed),
				 * context that allocated it, damaged bytes,
				 * when (enum gt_damage). The context is that of
				 * the free. Since 2.3 */
	/* For realloc chains of which some blocks are not in the trace; the
	 * first argument is the number of the chain. Since 3.1 */
	GT_EXTRA_CHAIN_LEAVES,	/* address of the next event, a REALLOC_FREED,
				 * -: the chain continues after it */
	GT_EXTRA_CHAIN_RESUMES,	/* block, size of the chain's first block;
				 * number, blocks so far | moves << 32, ticks
				 * since the first one, bytes copied. The block
				 * of the next event, an ALLOC, continues the
				 * chain. The context is the first block's */
	GT_EXTRA_CHAIN_ENDS,	/* address of the event that it replaces, size
				 * of the last block; number, blocks | moves <<
				 * 32, -, bytes copied */
	GT_EXTRA_COUNT
};

/* When the damage was found. */
enum gt_damage {
	GT_DAMAGE_FREE,
	GT_DAMAGE_REALLOC,
	GT_DAMAGE_END,		/* of the recording */
	GT_DAMAGE_COUNT
};

/* In which function of the C library, or on whose behalf, it was done. */
enum gt_within {
	GT_WITHIN_PROGRAM,	/* by the program itself */
	GT_WITHIN_MALLOC,
	GT_WITHIN_CREATE,	/* pthread_create */
	GT_WITHIN_DLOPEN,
	GT_WITHIN_ALLOCATOR,	/* by an allocator other than the C library's */
	GT_WITHIN_COUNT
};

#define GT_EXTRA_ARGS 4

#define GT_THREAD_NAME_MAX 16	/* the kernel's limit, NUL included */
enum gt_thread_flags { GT_THREAD_MAIN = 1, GT_THREAD_NESTED = 2 };

/* Sums over all arenas, in this order; bytes, except the counts. */
enum gt_arenas_value {
	GT_ARENAS_COST_NS,	/* what the query cost the target's thread */
	GT_ARENAS_SYSTEM,	/* of the arenas, from the kernel */
	GT_ARENAS_FREE,		/* of _SYSTEM: not in use, all kinds together */
	GT_ARENAS_FREE_COUNT,	/* pieces, without those of _FAST */
	GT_ARENAS_FAST,		/* of _FREE: small ones, not joined yet */
	GT_ARENAS_FAST_COUNT,
	GT_ARENAS_TOP,		/* of _FREE: at the end of the main arena */
	GT_ARENAS_MMAPPED,	/* blocks with a mapping of their own */
	GT_ARENAS_MMAPPED_COUNT,
	GT_ARENAS_VALUES
};

/* Per size class, blocks that were not recorded because of the options. */
enum gt_rest_value {
	GT_REST_ALLOCATIONS,
	GT_REST_BYTES,
	GT_REST_VALUES
};
#define GT_CLASSES 65		/* bit lengths of 64-bit numbers */

#define GT_NAME_MAX 256		/* bytes of a name of CONTROL or SNAPSHOT */

/*
 * LIVE FILE. In the target's byte order, and the same for any word size. It is
 * read on the same machine, or recovered into the trace there, by a command of
 * either byte order (cli/trace/live/live_order.h). Mapped shared, so that it
 * survives the target and the recorder. Every offset is in bytes from its
 * start; pages that were never reserved read as zeros.
 *
 *	+--------+--------+--------+---------------+-------------------------+
 *	| header | shared | images | nodes         | rings: headers and data |
 *	+--------+--------+--------+---------------+-------------------------+
 *
 * The target maps nodes and rings in pieces, when they come into use. The first
 * piece has GL_NODES_FIRST or GL_DATA_FIRST bytes, the second as many, and each
 * later piece is as large as all before it. The data of a ring lies in one
 * piece.
 */
#define GL_MAGIC UINT64_C(0x314556494c4d4e47)
#define GL_VERSION 9
#define GL_SLAB (1u << 20)	/* unit of reservation */
#define GL_RINGS_MAX 16384	/* rings that can exist at one time */
#define GL_NODES_FIRST (UINT64_C(4) << 20)	/* bytes of the first piece */
#define GL_DATA_FIRST (UINT64_C(16) << 20)
#define GL_PIECES 16		/* most pieces of nodes, and of rings */

/* The offset of the i-th piece in its region. */
static inline uint64_t gl_piece_start(uint64_t first, unsigned i)
{
	return i ? first << (i - 1) : 0;
}

/* The piece that contains this byte. */
static inline unsigned gl_piece_of(uint64_t first, uint64_t byte)
{
	return byte < first ? 0 : 64 - __builtin_clzll(byte / first);
}

ORDER_BEGIN

struct gl_header {
	uint64_t magic;		/* written last */
	uint32_t version;
	uint32_t header_size;
	uint64_t trace_id;
	int32_t pid;		/* of the target */
	int32_t recorder_pid;
	uint64_t start_time;	/* field 22 of /proc/PID/stat; 0: not known,
				 * as without a /proc that knows the pid */
	uint32_t tick_shift;
	uint32_t window_ticks;
	uint64_t size;		/* of the mapping */
	uint64_t images_offset;
	uint64_t nodes_offset;
	uint64_t rings_offset;	/* array of GL_RINGS_MAX uint64_t: offset of
				 * the i-th gl_ring, 0 where there is none */
	uint64_t data_offset;	/* where gl_rings and their data begin */
	uint64_t counter0;	/* counter0 and monotonic0_ns are of the same
				 * moment */
	uint64_t monotonic0_ns;
	uint64_t realtime0_ns;
	/* written by threads of the target */
	order_32 node_count;	/* reserved so far, from GT_STOP_COUNT */
	order_32 image_count;
	order_64 dropped;	/* events lost */
	/* written by the recorder */
	order_32 node_limit;	/* nodes whose pages are reserved */
	order_32 ring_count;	/* highest used entry of rings + 1 */
	order_32 error;	/* errno that ended the recording, or 0; the
				 * trace may have had no room to say so */
	char trace_path[GT_PATH_MAX];	/* absolute, for live file recovery */
	uint64_t shared_offset;	/* struct gl_shared (ring/shared.h); only for
				 * the recorded process and its recorder */
	uint64_t view;		/* mount view of that path
				 * (cli/base/mount_view.h); or 0 */
};

/*
 * A ring: single producer (its thread), single consumer (the recorder).
 * Positions count bytes and never wrap; a record lies contiguous at data +
 * (position & mask) and may run GL_RING_SLACK bytes past the end. The producer
 * owns the first cache line, the recorder the second; `id`, `offset`, `mask`,
 * `tid` are constant in one generation.
 */
#define GL_RING_SLACK 64

struct gl_ring {
	/* producer's line */
	order_64 busy;	/* sp of the hook that is pushing; GL_IDLE */
	order_64 head;	/* one past the last complete record */
	uint64_t limit;		/* below this the producer pushes without
				 * further checks */
	uint64_t base;		/* the next record is at base + head */
	uint64_t stamp;		/* the last stamp, as in word 0 */
	uint64_t owner;		/* return address of the hook that set `busy` */
	uint64_t data;		/* address of the data, in the target */
	uint64_t mask;		/* size - 1 */
	/* recorder's line */
	order_64 tail;	/* records below are in the trace */
	order_32 waiting;	/* producer sleeps on tail (futex) */
	uint32_t state;		/* GL_RING_* */
	uint32_t id;
	uint32_t generation;
	int32_t tid;
	uint32_t flags;		/* enum gt_thread_flags */
	uint64_t offset;	/* of the data, in the live file */
	uint64_t start_stamp;	/* full counter */
	uint64_t dropped;
	uint64_t pointer;	/* its owner's pthread_t */
};

ORDER_END

#define GL_IDLE UINT64_C(1)
enum { GL_RING_UNUSED, GL_RING_ACTIVE, GL_RING_CLOSED };

/*
 * Records of a ring, in 8-byte words. Word 0 = counter << 4 | kind (the upper
 * 60 bits of the counter last for decades).
 *	GT_ALLOC, GT_REALLOC_DONE: word 1 address | header << 48, where header
 *	  is 0 or GL_HEADER_KNOWN and the low 16 bits of the word before the
 *	  block (glibc's chunk header); word 2 context | size << 32; if the
 *	  size does not fit (GL_SIZE_BIG), word 3 holds it.
 *	GT_EXTRA: word 1 address, word 2 context | what << 32, word 3 size,
 *	  words 4 … 7 arguments.
 *	  For a block of another heap (not 0), header is `heap << 4`, in all
 *	  kinds of records.
 *	GT_FREE, GT_REALLOC_BEGIN with GL_KIND_STACK: word 1 address, word 2
 *	  context of the caller, not 0.
 *	all others: word 1 address.
 * In a nested ring every record is 8 words long. A record with word 0 = 0 was
 * never completed.
 */
#define GL_KIND_BITS 4
#define GL_KIND_STACK 8u	/* flag in the kind: there is a word 2 */
#define GL_SIZE_BIG UINT32_MAX
#define GL_RECORD_MAX 64	/* bytes of the longest record */
#define GL_HEADER_SHIFT 48
#define GL_HEADER_KNOWN 8u	/* a bit that is 0 in glibc's header */
#define GL_HEAP_SHIFT 4		/* of a heap's number, in the header's place */
#define GL_HEAPS_MAX 4096
#define GL_ADDRESS_MASK ((UINT64_C(1) << GL_HEADER_SHIFT) - 1)

/* Word 1 of a block of another heap than the allocator's; gl_block: the part of
 * word 1 that identifies a block. As in a trace, the heap is in the upper 16
 * bits. */
static inline uint64_t gl_word1_of_heap(uint32_t heap, uint64_t address)
{
	return (address & GL_ADDRESS_MASK) |
	       (uint64_t)heap << (GL_HEADER_SHIFT + GL_HEAP_SHIFT);
}

static inline uint64_t gl_block(uint64_t word1)
{
	uint64_t header = word1 >> GL_HEADER_SHIFT;

	if (header & GL_HEADER_KNOWN || !header)
		return word1 & GL_ADDRESS_MASK;
	return (word1 & GL_ADDRESS_MASK) |
	       header >> GL_HEAP_SHIFT << GL_HEADER_SHIFT;
}

_Static_assert(sizeof(struct gl_ring) == 128, "a ring header is two lines");
_Static_assert(GL_RECORD_MAX <= GL_RING_SLACK, "a record may run over the end");

#endif
