/*
 * replay_stream.h: the format of allocator replays: the allocator calls of a
 * program, to be repeated with another allocator. `gnomon export --format
 * replay` writes it, bench/replay_player.c replays it. docs/EXPORTS.md
 * documents the format.
 *
 *	 0  8  magic
 *	 8  1  version
 *	 9     operations: a byte (enum replay_operation), then its operands,
 *	       LEB128 varints of at most 10 bytes each
 *
 *  I1  A slot holds one live block, or is empty. Slots are numbered from 0. A
 *      block gets an empty slot, or the next slot that was never used.
 *  I2  Threads are numbered from 0; a new thread gets the next number.
 *  I3  END is the last operation; nothing follows it.
 */
#ifndef GNOMON_REPLAY_STREAM_H
#define GNOMON_REPLAY_STREAM_H

#define REPLAY_MAGIC "\x89GNR\r\n\x1a\n"
#define REPLAY_MAGIC_SIZE 8
#define REPLAY_VERSION 1
#define REPLAY_VARINT_MAX 10

enum replay_operation {
	REPLAY_END,		/* enum replay_total, in this order */
	REPLAY_ALLOC,		/* slot, size */
	REPLAY_FREE,		/* slot */
	REPLAY_REALLOC,		/* slot, new size */
	REPLAY_LOST,		/* slot: freed at an unknown time */
	REPLAY_THREAD,		/* number: performs the next operations;
				 * initially 0 */
	REPLAY_TIME,		/* ns since the last TIME, or the start */
	REPLAY_OPERATIONS
};

/* A realloc counts as an allocation and a free, as in reports. */
enum replay_total {
	REPLAY_ALLOCATIONS,
	REPLAY_FREES,
	REPLAY_REALLOCS,
	REPLAY_TOTAL_BYTES,
	REPLAY_LIVE_BLOCKS,
	REPLAY_LIVE_BYTES,
	REPLAY_PEAK_BYTES,
	REPLAY_SLOTS,
	REPLAY_THREADS,
	REPLAY_TOTALS
};

#endif
