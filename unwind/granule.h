/*
 * granule.h: an image's table of rule numbers, filled bit by bit.
 *
 * Readers take no lock and never wait. There is one writer at a time, for all
 * tables: granule_try_lock says whether it is you.
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
	/* One page of the index, and the most that one writer fills. */
	GRANULE_PAGE_BYTES = GRANULE_BYTES * GRANULE_PAGE_SLOTS,
	GRANULE_PAGES_MAX = 1 << 16,	/* 4 GiB of code in one image */
	GRANULE_ROWS_MAX = 128		/* in one block; more take several */
};

struct granule_page;

struct granule_table {
	uintptr_t start;	/* of the code, at a granule's boundary */
	size_t granules, pages;
	_Atomic(struct granule_page *) *page;
};

/* An empty table for [start, end). Without memory, or for absurdly much code,
 * it stays empty for ever, which is slow but right. */
void granule_table_init(struct granule_table *table, uintptr_t start,
			uintptr_t end);

/* The number stored for pc. False: none is stored. */
bool granule_find(const struct granule_table *table, uintptr_t pc,
		  uint16_t *id);

/* Forgets memory and lock, as after a fork that wiped what we had. */
void granule_reset(void);

/* Never waits, so a signal handler may call it on top of the owner. */
bool granule_try_lock(void);
void granule_unlock(void);

/* Bytes that arenas and tables have taken. */
size_t granule_bytes(void);

/* Collects the rows of one stretch of code; some 450 bytes. */
struct granule_writer {
	const struct granule_table *table;
	struct granule_page *page;
	uintptr_t start, end;	/* what may be stored: one page at most */
	uintptr_t granule;	/* where the granule at hand begins */
	unsigned int rows;
	uint8_t first, last;	/* covered part of it */
	uint8_t offset[GRANULE_ROWS_MAX];
	uint16_t id[GRANULE_ROWS_MAX];
};

/*
 * Begins storing what holds in [start, end), cut down to the index page
 * around pc. The caller owns the lock. False: no memory, or pc is outside.
 */
bool granule_begin(struct granule_writer *writer,
		   const struct granule_table *table, uintptr_t pc,
		   uintptr_t start, uintptr_t end);

/* One row; rows come in order, without gaps, and may lie outside. */
void granule_row(struct granule_writer *writer, uintptr_t start,
		 uintptr_t end, uint16_t id);

/* The last row has come. */
void granule_end(struct granule_writer *writer);

/* Rows at hand rise, within one granule. */
bool granule_writer_is_valid(const struct granule_writer *writer);

#endif
