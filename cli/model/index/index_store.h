/*
 * index_store.h: opens the index of a trace: an existing one if it is of these
 * bytes, otherwise one that is made now.
 *
 *	struct index_asked asked = { .trace = path, .make = INDEX_MAKE_LARGE, … };
 *	struct store *store = index_store(&asked);
 *
 *	if (store == NULL)
 *		… by reading the trace; asked.why says why …
 *
 * Places of indexes, and which are trusted: index_location.h. Any thread;
 * making another index of the same trace does not disturb readers of this one.
 */
#ifndef GNOMON_INDEX_STORE_H
#define GNOMON_INDEX_STORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/base/notes.h"
#include "cli/store/store.h"

/* Reading this many events takes some seconds: a query that would read them
 * twice makes an index first. */
#define INDEX_EVENTS_LARGE UINT64_C(20000000)

enum index_make {
	INDEX_MAKE_NEVER,	/* use only an existing one */
	INDEX_MAKE_LARGE,	/* if the trace has INDEX_EVENTS_LARGE events,
				 * and is not being written */
	INDEX_MAKE		/* on request of the user */
};

/* Why there is no index. */
enum index_why {
	INDEX_THERE,		/* there is an index */
	INDEX_NONE,		/* none exists, and none was to be made */
	INDEX_UNFIT,		/* the trace can be read only once, is no trace,
				 * or its live file cannot be recovered */
	INDEX_REFUSED,		/* no writable folder or no space: noted */
	INDEX_FAILED,		/* making it failed: noted */
	INDEX_CANCELLED
};

struct index_asked {
	const char *trace;
	enum index_make make;
	const atomic_bool *cancel;	/* any thread sets it; or NULL */
	struct notes *notes;		/* has to live while the index is open;
					 * or NULL */
	enum index_why why;		/* result */
};

/* To be closed by store_close, or NULL. */
struct store *index_store(struct index_asked *asked);

/*
 * Call after a query of the index failed with `error`, as of store_scan_each.
 * Returns whether the index is unusable: damaged (-EBADMSG), or of other bytes
 * than the trace (-ESTALE). Then its file is removed, if it still has its name,
 * which is noted. The next caller that needs an index of this trace makes a new
 * one. This one stays open.
 */
bool index_store_drop(const struct store *store, int error,
		      struct notes *notes);

/* State of the index file. */
enum index_found {
	INDEX_FOUND_NONE,
	INDEX_FOUND_GOOD,
	INDEX_FOUND_SHORT,	/* the trace has grown since */
	INDEX_FOUND_OTHER,	/* of another trace */
	INDEX_FOUND_VERSION,	/* made by another version of gnomon */
	INDEX_FOUND_BAD,	/* not an index, or damaged: `state` */
	INDEX_FOUND_UNTRUSTED	/* another user could have written it */
};

struct index_status {
	char *path;		/* to be freed; NULL: there is no file */
	enum index_found found;
	enum store_state state;
	uint64_t bytes, rows, live; /* if not worse than INDEX_FOUND_OTHER */
	uint64_t left;			/* bytes of the files of a maker that is
					 * running or was killed */
};

/* For `info`: searches beside the trace, then in the cache. */
void index_status(const char *trace, struct index_status *look);
/* "is good", "is of another trace": follows the path. */
const char *index_status_text(const struct index_status *look);

#endif
