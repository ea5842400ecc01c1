/*
 * replay_stream.h: what a program asked of its allocator, to be asked of
 * another one: `gnomon export --format replay` writes it, bench/replay_player.c
 * performs it. docs/EXPORTS.md has the same in prose.
 *
 *	 0  8  magic
 *	 8  1  version
 *	 9     operations: a byte (enum replay_operation), then its operands,
 *	       LEB128 varints of at most 10 bytes each
 *
 *  I1  A slot holds a live block, or none. Slots are numbered from 0 on; a
 *      block gets one that is empty, or the next one that nobody had.
 *  I2  Threads likewise are numbered from 0 on, and a new one is the next.
 *  I3  END is the last operation, and nothing follows.
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
	REPLAY_LOST,		/* slot: was freed, but nobody knows when */
	REPLAY_THREAD,		/* number: does what follows; 0 is the first */
	REPLAY_TIME,		/* ns since the last one, or the start */
	REPLAY_OPERATIONS
};

/* A realloc is an allocation and a free, as in reports. */
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
