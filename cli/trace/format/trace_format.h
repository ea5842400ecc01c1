/*
 * trace_format.h: constants of the trace file, for writers (the recorder,
 * repack, strip …) and readers. docs/FORMAT.md is the prose; lint compares
 * names and numbers. The target defines the kinds of events and the live file
 * (preload/format.h).
 *
 * All integers little-endian, whatever the target.
 *
 *	+--------+-------+-------+-------+- … -+-----------+
 *	| header | chunk | chunk | chunk |     | END chunk |
 *	+--------+-------+-------+-------+- … -+-----------+
 *
 * docs/FORMAT.md describes headers and chunks byte by byte. Values that an enum
 * below numbers are stored in its order. A stamp or tick is the target's
 * counter >> INFO's tick_shift.
 *
 * CONTEXT IDS. 0 is the root: a stack whose outermost frame has parent 0
 * reached the bottom. 1 … GT_STOP_COUNT-1 are the reasons why a walk ended
 * early (enum gt_stop); such an id is the parent of the last frame that was
 * found. They are never defined in a CONTEXT chunk. Real nodes start at
 * GT_STOP_COUNT and grow in order of creation. So an image's first node (and
 * end node) say which image an address belongs to: the one with
 * first node <= id < end node whose segments hold the address.
 */
#ifndef GNOMON_TRACE_FORMAT_H
#define GNOMON_TRACE_FORMAT_H

#include <stdint.h>

#include "preload/format.h"

#define GT_MAGIC "\x89GNOM\r\n\x1a"
#define GT_MAGIC_SIZE 8
#define GT_MAJOR 3
#define GT_MINOR 1
#define GT_HEADER_SIZE 32
#define GT_CHUNK_SIZE 56
#define GT_CHUNK_MAGIC UINT32_C(0x4b434e47)	/* "GNCK" */
#define GT_PAYLOAD_MAX (16u << 20)
#define GT_EVENTS_MAX 65536	/* events in one chunk */

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
	GT_CHAINS,		/* since 3.1 */
	GT_CHUNK_TYPES
};

enum gt_chunk_flags { GT_COMPRESSED = 1 };

/* Column 0 of EVENTS: the kind, and above it the address's age (recent.h). */
#define GT_KIND_SHIFT 3
#define GT_KIND_MASK ((1u << GT_KIND_SHIFT) - 1)
#define GT_RECENT 4096	/* a power of two */

/*
 * The layout column: how a block lies in its heap. 0, or GT_LAYOUT_KNOWN with
 * the content of glibc's header before the block. The chunk's size is stored as
 * the difference from gt_layout_chunk(), in units of 16, modulo 4096.
 */
enum gt_layout {
	GT_LAYOUT_KNOWN = 1,
	GT_LAYOUT_MMAPPED = 2,	/* a mapping of its own */
	GT_LAYOUT_OTHER = 4,	/* in an arena other than the main one */
	GT_LAYOUT_SHIFT = 3	/* of the difference */
};

/* Bytes of the chunk that glibc (64 bits) makes for a request: a word of
 * header, a multiple of 16, at least 32; if mmapped, two words and whole
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

/* Bytes of a block with this layout that the program may use. */
static inline uint64_t gt_layout_usable(uint64_t size, unsigned layout)
{
	uint64_t chunk = gt_layout_chunk(size, layout) +
			 ((layout >> GT_LAYOUT_SHIFT & 0xfff) << 4);

	return chunk - (layout & GT_LAYOUT_MMAPPED ? 16 : 8);
}

enum gt_thread_what { GT_THREAD_START = 1, GT_THREAD_END, GT_THREAD_NAME };

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
	GT_MAPS_FIRST = 1,	/* earlier mappings are void */
	GT_MAPS_MORE = 2	/* the next chunk continues this reading */
};
enum gt_maps_what { GT_MAPS_GONE = 1, GT_MAPS_NEW };
enum gt_maps_is {
	GT_MAPS_READ = 1,
	GT_MAPS_WRITE = 2,
	GT_MAPS_EXECUTE = 4,
	GT_MAPS_SHARED = 8,
	GT_MAPS_OWN = 16,	/* the recorder's */
	GT_MAPS_AGAIN = 32	/* same path as the NEW record before */
};

/* Values of a point of USAGE, in this order. Sizes in KiB; page faults are
 * counted since the program's start. */
enum gt_usage_value {
	GT_USAGE_FLAGS,		/* enum gt_usage_flags */
	GT_USAGE_COST_NS,	/* processor time of this measurement */
	GT_USAGE_SIZE,		/* mapped */
	GT_USAGE_RSS,
	GT_USAGE_SHARED,	/* part of RSS: files, shared memory */
	GT_USAGE_ANONYMOUS,	/* part of RSS */
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

/* Without it, the values from GT_USAGE_PSS on repeat the previous point's. */
enum gt_usage_flags { GT_USAGE_DETAILED = 1 };

enum gt_snapshot_what { GT_SNAPSHOT_MAPPINGS = 1, GT_SNAPSHOT_TAKEN };
/* Why a snapshot was taken. */
enum gt_snapshot_kind {
	GT_SNAPSHOT_EVERY = 1,	/* --snapshot-every */
	GT_SNAPSHOT_LAST,	/* at the end */
	GT_SNAPSHOT_ASKED,	/* by a command or a trigger */
	GT_SNAPSHOT_KINDS
};
enum gt_snapshot_flags { GT_SNAPSHOT_WHOLE = 1 };	/* all mappings */

/* Values of a mapping in a snapshot, in this order; KiB except the first. */
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

/* Whether a snapshot has the statistics of the C library's arenas. */
enum gt_arenas_state {
	GT_ARENAS_TAKEN,
	GT_ARENAS_FOREIGN,	/* the allocator offers none */
	GT_ARENAS_NOT_SAFE,	/* no thread was at a safe point for the call */
	GT_ARENAS_DEAR,		/* the last call took too long */
	GT_ARENAS_THREADS,	/* another thread might hold their locks */
	GT_ARENAS_STATES
};

/* The form in which a file is embedded. */
enum gt_file_kind {
	GT_FILE_DEBUG = 1,	/* an ELF file reduced to what names addresses:
				 * symbols, unwind and line tables, debug
				 * information; the file and its separate debug
				 * file, joined */
	GT_FILE_FULL,		/* the whole ELF file */
	GT_FILE_INCLUDED,	/* any file, in full: --include */
	GT_FILE_KINDS
};
#define GT_FILE_PIECE (4u << 20)	/* bytes in a piece, at most */

enum gt_totals_what {
	GT_TOTALS_RUN = 1,
	GT_TOTALS_CONTEXTS,
	GT_TOTALS_CLASSES,
	GT_TOTALS_REST		/* since 2.3 */
};

/* Values of the run before blocks were left out, in this order; 0: "unknown" or
 * "no". */
enum gt_run_value {
	GT_RUN_PEAK_BYTES,
	GT_RUN_PEAK_BLOCKS,
	GT_RUN_PEAK_STAMP,
	GT_RUN_PEAK_KEPT,	/* 1: every block live then is in the trace */
	GT_RUN_LIFETIME_NS,	/* blocks with shorter lifetimes were left
				 * out */
	GT_RUN_TEMPORARY,	/* n + 1: also blocks with at most n allocations
				 * of their thread between */
	GT_RUN_VALUES
};

/* Sums over the blocks of a context (and thread) that were left out. Some of
 * these blocks may not have been freed. */
enum gt_totals_value {
	GT_TOTALS_ALLOCATIONS,
	GT_TOTALS_BYTES,
	GT_TOTALS_FREES,
	GT_TOTALS_FREED_BYTES,
	GT_TOTALS_TEMPORARY,	/* freed before their thread's next allocation */
	GT_TOTALS_LIFETIME,	/* ticks, of the freed blocks */
	GT_TOTALS_FIRST,	/* stamps of the first and the last allocation */
	GT_TOTALS_LAST,
	/* Of the context before blocks were left out; only in a row of all
	 * threads (thread 0). */
	GT_TOTALS_OWN_PEAK_BYTES,
	GT_TOTALS_OWN_PEAK_BLOCKS,
	GT_TOTALS_OWN_PEAK_STAMP,
	GT_TOTALS_VALUES
};

/* Sums over all blocks that were left out, by size class; and over the freed
 * blocks, by lifetime class. A class is a bit length. */
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
/* Of a pair of contexts: allocating, freeing. */
enum gt_freed_value {
	GT_FREED_BLOCKS,
	GT_FREED_BYTES,
	GT_FREED_LIFETIME,	/* ticks */
	GT_FREED_VALUES
};

/* Sums over realloc chains of which all blocks were left out, by the
 * context of the first block. */
enum gt_chains_value {
	GT_CHAINS_COUNT,
	GT_CHAINS_BLOCKS,
	GT_CHAINS_LONGEST,	/* blocks; the maximum */
	GT_CHAINS_FIRST_BYTES,	/* sizes of the first and the last blocks */
	GT_CHAINS_LAST_BYTES,
	GT_CHAINS_LARGEST,	/* last block; the maximum */
	GT_CHAINS_MOVES,
	GT_CHAINS_COPIED_BYTES,
	GT_CHAINS_LIFETIME,	/* ticks */
	GT_CHAINS_VALUES
};

enum gt_control_what {
	GT_CONTROL_START = 1,
	GT_CONTROL_STOP,
	GT_CONTROL_CLEAR,	/* drop everything before */
	GT_CONTROL_MARKER,	/* a moment with a name */
	GT_CONTROL_HEAP,
	GT_CONTROL_COUNT
};

enum gt_image_what { GT_IMAGE_MAPPED = 1, GT_IMAGE_GONE };

#endif
