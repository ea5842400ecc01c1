/*
 * store.h: a column store: a file with one row for each block of a trace, made
 * once, so that a question about blocks need not pair all events again. The
 * format is docs/STORE.md, numbers of it are store_format.h.
 *
 *	store_write.h    rows ──▶ file; or an older file and more rows ──▶ file
 *	store.h          file ──▶ what it is, facts
 *	store_scan.h     rows that a predicate selects, batch by batch
 *	store_cursor.h   the same by one thread, forth and back; in another order
 *	store_ahead.h    the same, in order, unpacked ahead by threads
 *	store_group.h    sums over them by group
 *	store_sweep.h    maxima and timelines: births and ends in their order
 *
 * TERMS. Times are ticks, as stamps of the trace are. An *edge* is a birth or
 * an end of a block that has a row; edges are numbered from 0 on, in the order
 * in which pairing told them. Stamps are not unique, and a few are out of order,
 * so that order is kept by these numbers. A few may be left out, but not many
 * (STORE_EDGES). Rows of blocks that ended come first, in the order of their
 * ends; then the *tail*: blocks that were live where the trace ended. A row's
 * number is its place in that order.
 *
 * A file is hostile: whatever is in it, the reader stays within its memory, and
 * each column of each chunk is read with its checksum every time. It is read
 * by pread, never mapped. Who makes wrong checksums right may put any value into
 * a column: who uses one as an index has to look at it.
 */
#ifndef GNOMON_STORE_H
#define GNOMON_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/notes.h"

/*
 * Columns of rows. All are uint64_t in batches. Stored ones come first; their
 * numbers are part of the format.
 */
enum store_column {
	STORE_BEGIN,		/* stamp */
	STORE_END,		/* stamp; STORE_NEVER of a live block */
	STORE_BIRTH_EDGE,	/* number of the edge */
	STORE_END_EDGE,		/* likewise; STORE_NEVER of a live block */
	STORE_HOW,		/* enum store_how */
	STORE_ADDRESS,
	STORE_SIZE,		/* bytes that were asked for */
	STORE_LAYOUT,		/* enum gt_layout */
	STORE_THREAD,		/* that allocated it: its number in the model */
	STORE_NODE,		/* of the stack that allocated it */
	STORE_END_THREAD,	/* that freed it, or STORE_NONE */
	STORE_END_NODE,		/* of the stack that freed it, or STORE_NONE */
	STORE_CHAIN,		/* of reallocs, from 1 on; 0: in none */
	STORE_PLACE,		/* in the chain, from 1 on; 0: in none */
	STORE_BETWEEN,		/* allocations of its thread between its own and
				 * its end; of a live block, as the writer says */
	STORE_FLAGS,		/* enum store_flag */
	STORE_STORED,		/* how many are stored */
	/* derived */
	STORE_LIFETIME = STORE_STORED,	/* end - begin, 0 where that is below 0;
				 * of a live block up to store_scan's `now` */
	STORE_USABLE,		/* bytes that the allocator gave, by the layout;
				 * 0: not known */
	STORE_ROW,		/* the row's number */
	STORE_COLUMNS
};

#define STORE_BIT(column) (UINT32_C(1) << (column))

/* All numbers of edges are below this. */
#define STORE_EDGES(rows) (8 * (rows) + 65536)

#define STORE_NEVER UINT64_MAX
#define STORE_NONE UINT32_MAX

enum store_how {
	STORE_LIVE,
	STORE_FREED,
	STORE_MOVED,		/* by realloc, which has made another block */
	STORE_LOST,		/* it cannot be there any more; no free came */
	STORE_HOWS
};

enum store_flag {
	STORE_ODD = 1,		/* its events came out of order, or lack others */
	STORE_POOLED = 2,	/* of another heap than the allocator's */
	STORE_FLAGS_END = 4
};

/* From `least` to `greatest`, both included. */
struct store_range {
	uint64_t least, greatest;
};

/* Of which bytes of which trace a store was made, and how. */
struct store_key {
	uint64_t trace_id;
	uint64_t prefix_bytes;	/* of the trace that were read */
	uint64_t options;	/* whatever else changes rows; the writer's */
	uint32_t maker;		/* version of how rows are made of events */
	uint32_t trace_version;	/* of the trace's format */
};

/* What may be wrong with a file, from the most harmless on. */
enum store_state {
	STORE_GOOD,
	STORE_UNFINISHED,	/* its writer was stopped */
	STORE_OLDER,		/* of an older format */
	STORE_NEWER,		/* of a newer format */
	STORE_FOREIGN,		/* not a store, or of another byte order */
	STORE_DAMAGED,		/* truncated, or a checksum is wrong */
	STORE_UNREADABLE	/* reading fails: errno */
};

struct store;

/*
 * Open a store. `fd` is one that can be read at any place; it becomes the
 * store's, also if this fails, and is closed with it. `name` is for messages, and
 * copied. `notes`: where messages go, borrowed for as long as the store is
 * open; NULL: nowhere. Nothing is noted here: what the state means to the user
 * its caller knows. *store is NULL unless the answer is STORE_GOOD. Takes
 * about 1 KiB of memory for 64 Ki rows.
 */
enum store_state store_open(int fd, const char *name, struct notes *notes,
			    struct store **store);
/* NULL is allowed. Whatever was made of it has to be gone. */
void store_close(struct store *store);
/* "is damaged": follows the file's name. */
const char *store_state_text(enum store_state state);

/* ---- an open store does not change: any thread may ask ---- */

const struct store_key *store_key(const struct store *store);
const char *store_name(const struct store *store);
int store_file(const struct store *store);	/* the descriptor, borrowed */
uint64_t store_rows(const struct store *store);		/* live ones as well */
uint64_t store_live_rows(const struct store *store);
uint64_t store_bytes(const struct store *store);	/* of the file */
size_t store_chunks(const struct store *store);
/* Least and greatest of all rows, of a stored column, STORE_LIFETIME (of blocks
 * that ended) and STORE_USABLE. False: there are no rows. */
bool store_bounds(const struct store *store, enum store_column column,
		  uint64_t *least, uint64_t *greatest);
/* Bytes that a stored column takes in the file. */
uint64_t store_column_bytes(const struct store *store,
			    enum store_column column);

/* What the writer kept by this name. False: nothing. */
bool store_fact(const struct store *store, const char *name, uint64_t *value);
/* A copy, to be freed. NULL: there is none by this name, or (noted) it cannot be
 * read. */
void *store_blob(struct store *store, const char *name, size_t *size);

#endif
