/*
 * format.h: the trace file and the live file. The one header that both the
 * library in the target and the reader include. The prose is docs/FORMAT.md; lint
 * compares names and numbers.
 *
 * TRACE. All integers little-endian, whatever the target.
 *
 *	+--------+-------+-------+-------+- … -+-----------+
 *	| header | chunk | chunk | chunk |     | END chunk |
 *	+--------+-------+-------+-------+- … -+-----------+
 *
 * Headers and what each chunk holds, byte by byte: there. Values that an enum
 * below numbers come in its order. A stamp or tick is the target's counter >>
 * INFO's tick_shift.
 *
 * CONTEXT IDS. 0 is the root: a stack whose outermost frame has parent 0
 * reached the bottom. 1 … GT_STOP_COUNT-1 are the reasons why a walk ended
 * early (enum gt_stop): an outermost frame whose parent is such an id was the
 * last that could be found. They are never defined in a CONTEXT chunk. Real
 * nodes start at GT_STOP_COUNT and grow in order of creation, so an image's
 * first node (and end node) say which image an address meant: the one with
 * first node <= id < end node whose segments hold the address.
 */
#ifndef GNOMON_FORMAT_H
#define GNOMON_FORMAT_H

#include <stdint.h>

#include "unwind/layout.h"

#define GT_MAGIC "\x89GNOM\r\n\x1a"
#define GT_MAGIC_SIZE 8
#define GT_MAJOR 2
#define GT_MINOR 3
#define GT_HEADER_SIZE 32
#define GT_CHUNK_SIZE 56
#define GT_CHUNK_MAGIC UINT32_C(0x4b434e47)	/* "GNCK" */
#define GT_PAYLOAD_MAX (16u << 20)
#define GT_EVENTS_MAX 65536	/* events in one chunk */
#define GT_PATH_MAX 4096

enum gt_chunk_type {
	GT_INFO = 1,
	GT_THREAD,
	GT_IMAGE,
	GT_CONTEXT,
	GT_EVENTS,
	GT_SYNC,
	GT_COUNTERS,
	GT_END,			/* the last chunk */
	GT_CAPTURE,		/* since 1.1 */
	GT_NAMES,		/* since 1.1 */
	GT_USAGE,
	GT_MAPS,
	GT_SNAPSHOT,
	GT_FILE,		/* since 2.1 */
	GT_TOTALS,		/* since 2.1 */
	GT_FREED,		/* since 2.2 */
	GT_CONTROL,		/* since 2.3 */
	GT_LIVE,		/* since 2.3 */
	GT_CHUNK_TYPES
};

enum gt_chunk_flags { GT_COMPRESSED = 1 };

/*
 * Kinds of events: number, name, bytes of its record in a ring (more of a block
 * that is GL_SIZE_BIG, or with GL_KIND_STACK), what there is of it besides an
 * address. In words:
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

struct gt_event_kind {
	unsigned bytes, has;
};

/* Of what is no kind, too: then nothing but an address. */
static inline struct gt_event_kind gt_event_kind(unsigned kind)
{
	switch (kind) {
#define GT_KIND(number, name, bytes, has) \
	case number: return (struct gt_event_kind){ bytes, has };
	GT_EVENT_KINDS(GT_KIND)
#undef GT_KIND
	}
	return (struct gt_event_kind){ 16, 0 };
}

/*
 * What an EXTRA tells; its address, its size, its arguments 0 … 3 (what is not
 * named is 0). `within` is an enum gt_within.
 */
enum gt_extra {
	GT_EXTRA_MAP = 1,	/* start, length; prot | flags << 32, fd,
				 * offset, within */
	GT_EXTRA_UNMAP,		/* start, length; 1: the one before it of
				 * this thread failed, -, -, within */
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
	GT_EXTRA_DLOPEN,	/* -, -; hash of the name (loads.c),
				 * flags */
	GT_EXTRA_DLCLOSE,
	GT_EXTRA_LEFT_OUT,	/* -, allocations of this thread that are not
				 * in the trace any more, but in TOTALS: so
				 * many between the event before and the next */
	GT_EXTRA_DAMAGE,	/* a block of --guard, its size; offset of the
				 * first damaged byte from its start (signed),
				 * context that allocated it, damaged bytes,
				 * when (enum gt_damage). The context is who
				 * frees it. Since 2.3 */
	GT_EXTRA_COUNT
};

/* When a damage was found. */
enum gt_damage {
	GT_DAMAGE_FREE,
	GT_DAMAGE_REALLOC,
	GT_DAMAGE_END,		/* of the recording */
	GT_DAMAGE_COUNT
};

/* In which function of the C library, or for whom, something was done. */
enum gt_within {
	GT_WITHIN_PROGRAM,	/* by the program itself */
	GT_WITHIN_MALLOC,
	GT_WITHIN_CREATE,	/* pthread_create */
	GT_WITHIN_DLOPEN,
	GT_WITHIN_ALLOCATOR,	/* by an allocator that is not the C library's */
	GT_WITHIN_COUNT
};

#define GT_EXTRA_ARGS 4

/*
 * How a block lies in its heap, in the layout column: 0, or GT_LAYOUT_KNOWN
 * with what glibc's header before the block says, the chunk's size as the
 * distance in units of 16 to what gt_layout_chunk() expects, modulo 4096.
 */
enum gt_layout {
	GT_LAYOUT_KNOWN = 1,
	GT_LAYOUT_MMAPPED = 2,	/* a mapping of its own */
	GT_LAYOUT_OTHER = 4,	/* in another arena than the main one */
	GT_LAYOUT_SHIFT = 3	/* of the distance */
};

/* Bytes of the chunk that glibc (64 bits) makes for a request: a word of
 * header, a multiple of 16, at least 32; where mmapped, two words and whole
 * pages. */
static inline uint64_t gt_layout_chunk(uint64_t size, unsigned layout)
{
	uint64_t chunk = (size + 8 + 15) & ~UINT64_C(15);

	if (chunk < 32)
		chunk = 32;
	if (layout & GT_LAYOUT_MMAPPED)
		chunk = (chunk + 8 + 4095) & ~UINT64_C(4095);
	return chunk;
}

/* Bytes that the program may use of a block with this layout. */
static inline uint64_t gt_layout_usable(uint64_t size, unsigned layout)
{
	uint64_t chunk = gt_layout_chunk(size, layout) +
			 ((layout >> GT_LAYOUT_SHIFT & 0xfff) << 4);

	return chunk - (layout & GT_LAYOUT_MMAPPED ? 16 : 8);
}

enum gt_thread_what { GT_THREAD_START = 1, GT_THREAD_END, GT_THREAD_NAME };
#define GT_THREAD_NAME_MAX 16	/* the kernel's limit, NUL included */
enum gt_thread_flags { GT_THREAD_MAIN = 1, GT_THREAD_NESTED = 2 };
/* Values of a CAPTURE record, in this order (struct capture_thread_info). */
enum gt_capture_value {
	GT_CAPTURE_MODE,	/* enum gt_mode */
	GT_CAPTURE_WHY,		/* enum gt_mode_why */
	GT_CAPTURE_PATH_BYTES,
	GT_CAPTURE_PATH_BYTES_MAX,
	GT_CAPTURE_PATH_WAYS,
	GT_CAPTURE_PATH_WAYS_USED,
	GT_CAPTURE_STATE_BYTES,
	GT_CAPTURE_BARRIERS_PLACED,
	GT_CAPTURE_BARRIERS_MET,
	GT_CAPTURE_VALUES
};

/* Of a MAPS chunk. */
enum gt_maps_flags {
	GT_MAPS_FIRST = 1,	/* what was known before is void */
	GT_MAPS_MORE = 2	/* the next chunk goes on with this look */
};
enum gt_maps_what { GT_MAPS_GONE = 1, GT_MAPS_NEW };
enum gt_maps_is {
	GT_MAPS_READ = 1,
	GT_MAPS_WRITE = 2,
	GT_MAPS_EXECUTE = 4,
	GT_MAPS_SHARED = 8,
	GT_MAPS_OWN = 16,	/* the recorder's */
	GT_MAPS_AGAIN = 32	/* its path is that of the NEW before */
};

/* Values of a point of USAGE, in this order. Sizes in KiB, sums since the
 * program's start for faults. */
enum gt_usage_value {
	GT_USAGE_FLAGS,		/* enum gt_usage_flags */
	GT_USAGE_COST_NS,	/* processor time that this look took */
	GT_USAGE_SIZE,		/* mapped */
	GT_USAGE_RSS,
	GT_USAGE_SHARED,	/* of it, of files or shared memory */
	GT_USAGE_ANONYMOUS,	/* of it */
	GT_USAGE_SWAP,
	/* with GT_USAGE_DETAILED: */
	GT_USAGE_PSS,
	GT_USAGE_SHARED_CLEAN,
	GT_USAGE_SHARED_DIRTY,
	GT_USAGE_PRIVATE_CLEAN,
	GT_USAGE_PRIVATE_DIRTY,
	GT_USAGE_FAULTS_MINOR,
	GT_USAGE_FAULTS_MAJOR,
	GT_USAGE_VALUES
};

/* Without it, the values from GT_USAGE_PSS on are those of the point before. */
enum gt_usage_flags { GT_USAGE_DETAILED = 1 };

enum gt_snapshot_what { GT_SNAPSHOT_MAPPINGS = 1, GT_SNAPSHOT_TAKEN };
/* Why a snapshot was taken. */
enum gt_snapshot_kind {
	GT_SNAPSHOT_EVERY = 1,	/* --snapshot-every */
	GT_SNAPSHOT_LAST,	/* at the end */
	GT_SNAPSHOT_ASKED,	/* by somebody, for some reason */
	GT_SNAPSHOT_KINDS
};
enum gt_snapshot_flags { GT_SNAPSHOT_WHOLE = 1 };	/* all mappings */

/* Of a mapping in a snapshot, in this order; KiB but for the first. */
enum gt_mapping_value {
	GT_MAPPING_OFFSET,	/* in the file, in pages of 4 KiB */
	GT_MAPPING_RSS,
	GT_MAPPING_PSS,
	GT_MAPPING_SHARED_CLEAN,
	GT_MAPPING_SHARED_DIRTY,
	GT_MAPPING_PRIVATE_CLEAN,
	GT_MAPPING_PRIVATE_DIRTY,
	GT_MAPPING_ANONYMOUS,
	GT_MAPPING_HUGE,
	GT_MAPPING_SWAP,
	GT_MAPPING_VALUES
};
enum gt_mapping_flags {
	GT_MAPPING_READ = 1,
	GT_MAPPING_WRITE = 2,
	GT_MAPPING_EXECUTE = 4,
	GT_MAPPING_IS_SHARED = 8,
	GT_MAPPING_OURS = 16	/* the recorder's own memory */
};

/* Whether a snapshot has the figures of the C library's arenas. */
enum gt_arenas_state {
	GT_ARENAS_TAKEN,
	GT_ARENAS_FOREIGN,	/* not an allocator that tells them */
	GT_ARENAS_NOT_SAFE,	/* no thread was where it may be asked */
	GT_ARENAS_DEAR,		/* the last time took too long for that */
	GT_ARENAS_THREADS,	/* another thread might hold their locks */
	GT_ARENAS_STATES
};

/* Sums over all arenas, in this order; bytes but for the counts. */
enum gt_arenas_value {
	GT_ARENAS_COST_NS,	/* what asking took the target's thread */
	GT_ARENAS_SYSTEM,	/* of the arenas, from the kernel */
	GT_ARENAS_FREE,		/* of these not in use, all kinds together */
	GT_ARENAS_FREE_COUNT,	/* pieces, but for those of _FAST */
	GT_ARENAS_FAST,		/* of _FREE: small ones, not joined yet */
	GT_ARENAS_FAST_COUNT,
	GT_ARENAS_TOP,		/* of _FREE: at the end of the main arena */
	GT_ARENAS_MMAPPED,	/* blocks with a mapping of their own */
	GT_ARENAS_MMAPPED_COUNT,
	GT_ARENAS_VALUES
};

/* What was embedded of a file. */
enum gt_file_kind {
	GT_FILE_DEBUG = 1,	/* an ELF file reduced to what names addresses:
				 * symbols, unwind and line tables, debug
				 * information; of the file and of its separate
				 * debug file, joined */
	GT_FILE_FULL,		/* the whole ELF file */
	GT_FILE_INCLUDED,	/* any file, whole: --include */
	GT_FILE_KINDS
};
#define GT_FILE_PIECE (4u << 20)	/* bytes in a piece, at most */

enum gt_totals_what {
	GT_TOTALS_RUN = 1,
	GT_TOTALS_CONTEXTS,
	GT_TOTALS_CLASSES,
	GT_TOTALS_REST		/* since 2.3 */
};

/* Of the run as it was before anything was left out, in this order; 0 is "not
 * known" or "not so". */
enum gt_run_value {
	GT_RUN_PEAK_BYTES,
	GT_RUN_PEAK_BLOCKS,
	GT_RUN_PEAK_STAMP,
	GT_RUN_PEAK_KEPT,	/* 1: every block that was live then is here */
	GT_RUN_LIFETIME_NS,	/* blocks were left out that lived shorter */
	GT_RUN_TEMPORARY,	/* n + 1: with at most n allocations of their
				 * thread between */
	GT_RUN_VALUES
};

/* Sums over the blocks of a context (and thread) that were left out. Blocks
 * that were not freed may be among them. */
enum gt_totals_value {
	GT_TOTALS_ALLOCATIONS,
	GT_TOTALS_BYTES,
	GT_TOTALS_FREES,
	GT_TOTALS_FREED_BYTES,
	GT_TOTALS_TEMPORARY,	/* freed before their thread's next allocation */
	GT_TOTALS_LIFETIME,	/* ticks, of the freed ones */
	GT_TOTALS_FIRST,	/* stamps of the first and the last allocation */
	GT_TOTALS_LAST,
	/* Of the context before anything was left out; only in a row of all
	 * threads (thread 0). */
	GT_TOTALS_OWN_PEAK_BYTES,
	GT_TOTALS_OWN_PEAK_BLOCKS,
	GT_TOTALS_OWN_PEAK_STAMP,
	GT_TOTALS_VALUES
};

/* Sums over all blocks of a size class that were left out, and over those that
 * were freed, of a lifetime class. A class is a bit length. */
enum gt_size_value {
	GT_SIZE_ALLOCATIONS,
	GT_SIZE_BYTES,
	GT_SIZE_FREES,
	GT_SIZE_FREED_BYTES,
	GT_SIZE_TEMPORARY,
	GT_SIZE_LIFETIME,	/* ticks */
	GT_SIZE_VALUES
};
enum gt_lifetime_value {
	GT_LIFETIME_BLOCKS,
	GT_LIFETIME_BYTES,
	GT_LIFETIME_VALUES
};
/* Of a size class of blocks that were never recorded, by choice. */
enum gt_rest_value {
	GT_REST_ALLOCATIONS,
	GT_REST_BYTES,
	GT_REST_VALUES
};
/* Of a pair of contexts. */
enum gt_freed_value {
	GT_FREED_BLOCKS,
	GT_FREED_BYTES,
	GT_FREED_LIFETIME,	/* ticks */
	GT_FREED_VALUES
};
#define GT_CLASSES 65		/* bit lengths of 64-bit numbers */

enum gt_control_what {
	GT_CONTROL_START = 1,
	GT_CONTROL_STOP,
	GT_CONTROL_CLEAR,	/* what was before is to be left out */
	GT_CONTROL_MARKER,	/* a moment with a name */
	GT_CONTROL_HEAP,
	GT_CONTROL_COUNT
};
#define GT_NAME_MAX 256		/* bytes of a name of CONTROL or SNAPSHOT */

enum gt_image_what { GT_IMAGE_MAPPED = 1, GT_IMAGE_GONE };

/*
 * LIVE FILE. The target's own byte order and word size: it is read on the
 * same machine, or folded into the trace there. Mapped shared, so that it
 * survives the target and the writer. Every offset is in bytes from its
 * start; pages that were never reserved read as zeros.
 *
 *	+--------+--------+--------+---------------+-------------------------+
 *	| header | shared | images | nodes         | rings: headers and data |
 *	+--------+--------+--------+---------------+-------------------------+
 *
 * The target maps nodes and rings in pieces, as they come into use: the first,
 * of GL_NODES_FIRST or GL_DATA_FIRST bytes, one as large, and then always one as
 * large as all before it. No ring's data lies in two.
 */
#define GL_MAGIC UINT64_C(0x314556494c4d4e47)
#define GL_VERSION 6
#define GL_SLAB (1u << 20)	/* unit of reservation */
#define GL_RINGS_MAX 16384	/* rings that can exist at one time */
#define GL_NODES_FIRST (UINT64_C(4) << 20)	/* bytes of the first piece */
#define GL_DATA_FIRST (UINT64_C(16) << 20)
#define GL_PIECES 16		/* of nodes, and of rings, at most */

/* Where in its region the i-th piece begins. */
static inline uint64_t gl_piece_start(uint64_t first, unsigned i)
{
	return i ? first << (i - 1) : 0;
}

/* Which piece has this byte. */
static inline unsigned gl_piece_of(uint64_t first, uint64_t byte)
{
	return byte < first ? 0 : 64 - __builtin_clzll(byte / first);
}

struct gl_header {
	uint64_t magic;		/* written last */
	uint32_t version;
	uint32_t header_size;
	uint64_t trace_id;
	int32_t pid;		/* of the target */
	int32_t writer_pid;
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
	uint64_t counter0;	/* a pair of the same moment */
	uint64_t monotonic0_ns;
	uint64_t realtime0_ns;
	/* written by threads of the target */
	_Atomic uint32_t node_count;	/* reserved so far, from GT_STOP_COUNT */
	_Atomic uint32_t image_count;
	_Atomic uint64_t dropped;	/* events lost */
	/* written by the writer */
	_Atomic uint32_t node_limit;	/* nodes whose pages are reserved */
	_Atomic uint32_t ring_count;	/* highest used entry of rings + 1 */
	_Atomic uint32_t error;	/* errno that ended the recording, or 0; the
				 * trace may have had no room to say so */
	char trace_path[GT_PATH_MAX];	/* absolute, for folding */
	uint64_t shared_offset;	/* struct gl_shared (ring/shared.h); of use
				 * to the recorded process and its writer only */
};

/*
 * A ring: single producer (its thread), single consumer (the writer).
 * Positions count bytes and never wrap; a record lies contiguous at
 * data + (position & mask) and may run GL_RING_SLACK bytes past the end.
 * The producer owns the first line, the writer the second; `id`, `offset`,
 * `mask`, `tid` are constant in one generation.
 */
#define GL_RING_SLACK 64

struct gl_ring {
	/* producer's line */
	_Atomic uint64_t busy;	/* sp of the hook that is pushing; GL_IDLE */
	_Atomic uint64_t head;	/* one past the last complete record */
	uint64_t limit;		/* push below this without looking further */
	uint64_t base;		/* base + head is where the record goes */
	uint64_t stamp;		/* the last one taken, as in word 0 */
	uint64_t owner;		/* return address of the hook of `busy` */
	uint64_t data;		/* address of the data, in the target */
	uint64_t mask;		/* size - 1 */
	/* writer's line */
	_Atomic uint64_t tail;	/* records below are in the trace */
	_Atomic uint32_t waiting;	/* producer sleeps on tail (futex) */
	uint32_t state;		/* GL_RING_* */
	uint32_t id;
	uint32_t generation;
	int32_t tid;
	uint32_t flags;		/* enum gt_thread_flags */
	uint64_t offset;	/* of the data, in the live file */
	uint64_t start_stamp;	/* full counter */
	uint64_t dropped;
	uint64_t pointer;	/* thread pointer of its owner, as pthread_t */
};
#define GL_IDLE UINT64_C(1)
enum { GL_RING_UNUSED, GL_RING_ACTIVE, GL_RING_CLOSED };

/*
 * Records of a ring, in 8-byte words. Word 0 = counter << 4 | kind (the upper
 * 60 bits of time are enough for decades).
 *	GT_ALLOC, GT_REALLOC_DONE: word 1 address | header << 48, where header
 *	  is 0 or GL_HEADER_KNOWN and the low 16 bits of the word before the
 *	  block (glibc's chunk header); word 2 context | size << 32; if the
 *	  size does not fit (GL_SIZE_BIG), word 3 holds it.
 *	GT_EXTRA: word 1 address, word 2 context | what << 32, word 3 size,
 *	  words 4 … 7 arguments.
 *	  A block of another heap (not 0) has `heap << 4` there, of all kinds
 *	  of records.
 *	GT_FREE, GT_REALLOC_BEGIN with GL_KIND_STACK: word 1 address, word 2
 *	  context of the caller, not 0.
 *	all others: word 1 address.
 * In a nested ring every record is 8 words long, and one whose word 0 is 0
 * was never finished.
 */
#define GL_KIND_BITS 4
#define GL_KIND_STACK 8u	/* beside the kind: there is a word 2 */
#define GL_SIZE_BIG UINT32_MAX
#define GL_RECORD_MAX 64	/* bytes of the longest record */
#define GL_HEADER_SHIFT 48
#define GL_HEADER_KNOWN 8u	/* a bit that is 0 in glibc's */
#define GL_HEAP_SHIFT 4		/* of a heap's number in its place */
#define GL_HEAPS_MAX 4096
#define GL_ADDRESS_MASK ((UINT64_C(1) << GL_HEADER_SHIFT) - 1)

/* Word 1 of a block of another heap than the allocator's, and what of word 1
 * says which block it is: as in a trace, the heap in the upper 16 bits. */
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

/* The layout column's value for a header of word 1. */
static inline unsigned gl_layout(unsigned header, uint64_t size)
{
	unsigned layout = GT_LAYOUT_KNOWN | (header & 6);

	if (!(header & GL_HEADER_KNOWN))
		return 0;
	return layout | (((header & 0xfff0u) - gt_layout_chunk(size, layout))
			 & 0xfff0u) >> 4 << GT_LAYOUT_SHIFT;
}

/* Of word 0. A kind may be none. */
static inline unsigned gl_kind(uint64_t word0)
{
	return word0 & (GL_KIND_STACK - 1);
}

static inline uint64_t gl_counter(uint64_t word0)
{
	return word0 >> GL_KIND_BITS;
}

/* Whether a record of this word 0 has a context, in word 2. */
static inline int gl_has_context(uint64_t word0)
{
	return word0 & GL_KIND_STACK ||
	       gt_event_kind(gl_kind(word0)).has & (GT_IS_BLOCK | GT_IS_EXTRA);
}

/* Of a block. */
static inline uint64_t gl_size(uint64_t word2, uint64_t word3)
{
	return word2 >> 32 == GL_SIZE_BIG ? word3 : word2 >> 32;
}

static inline unsigned gl_record_words(uint64_t word0, uint64_t word2)
{
	struct gt_event_kind kind = gt_event_kind(gl_kind(word0));

	if (kind.has & GT_IS_BLOCK)
		return kind.bytes / 8 + (word2 >> 32 == GL_SIZE_BIG);
	return kind.bytes / 8 +
	       (word0 & GL_KIND_STACK && !(kind.has & GT_IS_EXTRA));
}

_Static_assert(sizeof(struct gl_ring) == 128, "a ring header is two lines");
_Static_assert(GL_RECORD_MAX <= GL_RING_SLACK, "a record may run over the end");

#endif
