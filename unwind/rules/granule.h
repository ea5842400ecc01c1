/*
 * granule.h: an image's table from pc to rule id, filled lazily.
 *
 * Readers take no lock and never wait. There is one writer at a time, for all
 * tables: granule_try_lock succeeds for one thread.
 */
#ifndef GNOMON_UNWIND_GRANULE_H
#define GNOMON_UNWIND_GRANULE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	GRANULE_BYTES = 256,		/* of code */
	GRANULE_PAGE_SLOTS = 256,
	/* One page of the index; the most that one writer fills. */
	GRANULE_PAGE_BYTES = GRANULE_BYTES * GRANULE_PAGE_SLOTS,
	GRANULE_PAGES_MAX = 1 << 16,	/* 4 GiB of code in one image */
	GRANULE_ROWS_MAX = 128		/* in one block; further rows take
					 * another */
};

struct granule_page;

struct granule_table {
	uintptr_t start;	/* of the code, at a granule's boundary */
	size_t granules, pages;
	_Atomic(struct granule_page *) *page;
};

/* Makes an empty table for [start, end). Without memory, or for an absurd
 * amount of code, it stays empty for ever: slow, but correct. */
void granule_table_init(struct granule_table *table, uintptr_t start,
			uintptr_t end);

/* The rule id stored for pc. False: none is stored. */
bool granule_find(const struct granule_table *table, uintptr_t pc,
		  uint16_t *id);

/* Forgets memory and lock: after a fork that wiped our memory. */
void granule_reset(void);

/* Never waits: a signal handler may call it while the interrupted thread holds
 * the lock. */
bool granule_try_lock(void);
void granule_unlock(void);

/* Bytes allocated for arenas and tables. */
size_t granule_bytes(void);

/* Collects the rows of one range of code; some 450 bytes. */
struct granule_writer {
	const struct granule_table *table;
	struct granule_page *page;
	uintptr_t start, end;	/* the range to store: one page at most */
	uintptr_t granule;	/* start of the current granule */
	unsigned int rows;
	uint8_t first, last;	/* covered part of it */
	uint8_t offset[GRANULE_ROWS_MAX];
	uint16_t id[GRANULE_ROWS_MAX];
};

/*
 * Begins storing the rules of [start, end), cut to the index page around pc.
 * The caller holds the lock. False: no memory, or pc is outside.
 */
bool granule_begin(struct granule_writer *writer,
		   const struct granule_table *table, uintptr_t pc,
		   uintptr_t start, uintptr_t end);

/* Stores one row. Rows come in order, without gaps, and may lie outside. */
void granule_row(struct granule_writer *writer, uintptr_t start,
		 uintptr_t end, uint16_t id);

/* To be called after the last row. */
void granule_end(struct granule_writer *writer);

/* Whether the collected rows rise and lie within one granule. */
bool granule_writer_is_valid(const struct granule_writer *writer);

#endif
