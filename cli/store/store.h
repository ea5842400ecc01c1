/*
 * store.h: the index file: a column store with one row for each block of a
 * trace. It is made once, so that queries about blocks need not pair all events
 * again. docs/STORE.md describes the format; store_format.h has its constants.
 *
 *	store_write.h    rows ──▶ file; or an older file and more rows ──▶ file
 *	store.h          file ──▶ its state, facts
 *	store_scan.h     rows that a predicate selects, batch by batch
 *	store_cursor.h   the same by one thread, forward and backward; sorted
 *	store_readahead.h    the same, in order, decompressed ahead by threads
 *	store_group.h    sums over rows by group
 *	store_sweep.h    maxima and timelines: edges in their order
 *
 * TERMS. Times are ticks, as stamps of the trace are. An *edge* is the
 * allocation or the end of a block that has a row. Edges are numbered from 0,
 * in the order in which pairing reported them. These numbers keep that order,
 * since stamps are not unique and a few are out of order. Some numbers may be
 * unused, but not many (STORE_EDGES). Rows of ended blocks come first, in the
 * order of their ends; then the *tail*: blocks that were live at the end of the
 * trace. A row's number is its position in that order.
 *
 * A file is hostile input: whatever it contains, the reader stays within its
 * memory, and checks the checksum of each column of each chunk at every read.
 * The file is read by pread, never mapped. With forged checksums, columns may
 * have any values: check a value before using it as an index.
 */
#ifndef GNOMON_STORE_H
#define GNOMON_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/notes.h"

/*
 * Columns of rows, in batches as uint64_t. Stored columns come first; their
 * numbers are part of the format.
 */
enum store_column {
	STORE_BEGIN,		/* stamp */
	STORE_END,		/* stamp; STORE_NEVER for a live block */
	STORE_ALLOC_EDGE,	/* number of the edge */
	STORE_END_EDGE,		/* likewise; STORE_NEVER for a live block */
	STORE_HOW,		/* enum store_how */
	STORE_ADDRESS,
	STORE_SIZE,		/* requested bytes */
	STORE_LAYOUT,		/* enum gt_layout */
	STORE_THREAD,		/* that allocated: its number in the model */
	STORE_NODE,		/* of the stack that allocated */
	STORE_END_THREAD,	/* that freed, or STORE_NONE */
	STORE_END_NODE,		/* of the stack that freed, or STORE_NONE */
	STORE_CHAIN,		/* number of the realloc chain, from 1; 0:
				 * none */
	STORE_PLACE,		/* position in the chain, from 1; 0: in none */
	STORE_BETWEEN,		/* allocations of its thread between its
				 * allocation and its end; for a live block,
				 * defined by the writer */
	STORE_FLAGS,		/* enum store_flag */
	STORE_STORED,		/* number of stored columns */
	/* derived */
	STORE_LIFETIME = STORE_STORED,	/* end - begin, at least 0; for a live
					 * block up to `now` of struct
					 * store_scan */
	STORE_USABLE,		/* malloc_usable_size, from the layout; 0: not
				 * known */
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
	STORE_MOVED,		/* by realloc, which made another block */
	STORE_LOST,		/* it can no longer be there, but no free
				 * came */
	STORE_HOWS
};

enum store_flag {
	STORE_ODD = 1,		/* its events came out of order, or some are
				 * missing */
	STORE_POOLED = 2,	/* in a heap of the program's own */
	STORE_FLAGS_END = 4
};

/* From `min` to `max`, both included. */
struct store_range {
	uint64_t min, max;
};

/* The bytes of the trace that the index was made from, and how. */
struct store_key {
	uint64_t trace_id;
	uint64_t prefix_bytes;	/* length of the trace that was read */
	uint64_t options;	/* anything else that changes rows; defined by
				 * the writer */
	uint32_t maker;		/* version of how rows are made from events */
	uint32_t trace_version;	/* of the trace's format */
};

/* State of a file, the most harmless first. */
enum store_state {
	STORE_GOOD,
	STORE_UNFINISHED,	/* its writer was stopped */
	STORE_OLDER,		/* of an older format */
	STORE_NEWER,		/* of a newer format */
	STORE_FOREIGN,		/* not an index, or of another byte order */
	STORE_DAMAGED,		/* truncated, or a checksum is wrong */
	STORE_UNREADABLE	/* reading fails: errno */
};

struct store;

/*
 * Open an index. The store owns `fd`, a seekable descriptor, even on failure,
 * and closes it. `name` is for messages, and copied. `notes` gets messages,
 * borrowed while the store is open; NULL: none. This function notes nothing:
 * the caller reports the state. *store is NULL unless STORE_GOOD is returned.
 * Takes about 1 KiB of memory per 64 Ki rows.
 */
enum store_state store_open(int fd, const char *name, struct notes *notes,
			    struct store **store);
/* NULL is allowed. Cursors and the like must have been freed. */
void store_close(struct store *store);
/* "is damaged": follows the file's name. */
const char *store_state_text(enum store_state state);

/* ---- an open store does not change: any thread may call these ---- */

const struct store_key *store_key(const struct store *store);
const char *store_name(const struct store *store);
int store_file(const struct store *store);	/* the descriptor, borrowed */
uint64_t store_rows(const struct store *store);		/* with live ones */
uint64_t store_live_rows(const struct store *store);
uint64_t store_bytes(const struct store *store);	/* of the file */
size_t store_chunks(const struct store *store);
/* Least and greatest value of a column: stored columns, STORE_LIFETIME (of
 * ended blocks) and STORE_USABLE. False: there are no rows. */
bool store_bounds(const struct store *store, enum store_column column,
		  uint64_t *min, uint64_t *max);
/* Bytes of a stored column in the file. */
uint64_t store_column_bytes(const struct store *store,
			    enum store_column column);

/* The number that the writer stored by this name. False: none. */
bool store_fact(const struct store *store, const char *name, uint64_t *value);
/* A copy, to be freed. NULL: there is none with this name, or it cannot be read
 * (noted). */
void *store_blob(struct store *store, const char *name, size_t *size);

#endif
