/*
 * store_format.h: constants of the index file, for writer and reader.
 * docs/STORE.md describes the format.
 *
 *	+--------+----------------------+-------------+-------+-----------+
 *	| header | full chunks of ended | the other   | blobs | directory |
 *	|        | blocks               | ended, live |       |           |
 *	+--------+----------------------+-------------+-------+-----------+
 *
 * Integers are little-endian, except for words of packed numbers, which have
 * the machine's byte order: a file of another byte order is refused.
 */
#ifndef GNOMON_STORE_FORMAT_H
#define GNOMON_STORE_FORMAT_H

#include "cli/store/store.h"

#define STORE_MAGIC "\x89GNIX\r\n\x1a"
#define STORE_MAGIC_SIZE 8
#define STORE_VERSION 1
#define STORE_ORDER_WORD UINT64_C(0x0102030405060708)
#define STORE_HEADER_SIZE 128

#define STORE_CHUNK_ROWS 65536
#define STORE_CHUNKS_MAX (1u << 20)
#define STORE_BLOCK 1024	/* rows that are packed together */
#define STORE_CHUNK_BLOCKS (STORE_CHUNK_ROWS / STORE_BLOCK)
#define STORE_DIRECTORY_MAX (UINT64_C(1) << 30)

/* A chunk in the directory: offset and rows, then its columns, then the bounds
 * of derived columns. */
#define STORE_COLUMN_ENTRY 28
#define STORE_DERIVED 2		/* STORE_LIFETIME, STORE_USABLE */
#define STORE_CHUNK_ENTRY \
	(16 + STORE_STORED * STORE_COLUMN_ENTRY + STORE_DERIVED * 16)

enum store_chunk_flag { STORE_CHUNK_LIVE = 1 };

/*
 * A packed column: this byte, zeros up to a multiple of 8, then
 *	PLAIN, DELTA	a sequence of its values
 *	DICTIONARY	a word: how many different values; a DELTA sequence of
 *			them, rising; a PLAIN one of their numbers
 * A column with only one value takes no bytes.
 *
 * A sequence of n numbers: for each STORE_BLOCK of them (the last one filled up
 * with zeros) a descriptor, then what they describe:
 *	word 0	least number, or least difference: the base
 *	word 1	DELTA: the number before the block's first
 *	word 2	where its words begin, in words after the descriptors;
 *		width << 32, shift << 40, exceptions << 48, their size << 60
 * and there: the packed numbers; the exceptions' places (16 bits each, up to a
 * whole word); their numbers (1 << size bytes each, likewise). A number is
 * base + (packed << shift), which wraps around.
 */
enum store_encoding {
	STORE_PLAIN,
	STORE_DELTA,		/* differences to the number before */
	STORE_DICTIONARY,
	STORE_ENCODINGS
};
#define STORE_DESCRIPTOR 24
#define STORE_DICTIONARY_MAX 8192	/* a power of two */
#define STORE_EXCEPTIONS_MAX STORE_BLOCK
/* No column takes more: each number with an exception, and descriptors. */
#define STORE_COLUMN_MAX (2u << 20)

#endif
