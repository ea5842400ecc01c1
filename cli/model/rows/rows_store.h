/*
 * rows_store.h: the store of a trace, for who has a question to it: the one that
 * is there, if it is of these bytes, or else one that is made now.
 *
 *	struct rows_asked asked = { .trace = path, .make = ROWS_MAKE_LARGE, … };
 *	struct store *store = rows_store(&asked);
 *
 *	if (store == NULL)
 *		… by reading the trace; asked.why says why …
 *
 * Where stores lie, and which are trusted: rows_place.h. Any thread; who reads
 * a store is not disturbed by who makes another one of the same trace.
 */
#ifndef GNOMON_ROWS_STORE_H
#define GNOMON_ROWS_STORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/base/notes.h"
#include "cli/store/store.h"

/* Reading so many events takes some seconds: a query that would do so twice makes
 * a store first. */
#define ROWS_EVENTS_LARGE UINT64_C(20000000)

enum rows_make {
	ROWS_MAKE_NEVER,	/* only one that is there is of use */
	ROWS_MAKE_LARGE,	/* if the trace has ROWS_EVENTS_LARGE events, and is
				 * not being written */
	ROWS_MAKE		/* it was asked for */
};

/* Why there is none. */
enum rows_why {
	ROWS_THERE,		/* there is one */
	ROWS_NONE,		/* none is there, and none was to be made */
	ROWS_UNFIT,		/* the trace can be read only once, is no trace,
				 * or its live file cannot be folded in */
	ROWS_REFUSED,		/* no place, no room: noted */
	ROWS_FAILED,		/* while it was made: noted */
	ROWS_CANCELLED
};

struct rows_asked {
	const char *trace;
	enum rows_make make;
	const atomic_bool *cancel;	/* any thread sets it; or NULL */
	struct notes *notes;		/* as long as the store is open; or NULL */
	enum rows_why why;		/* the answer */
};

/* To be closed by store_close, or NULL. */
struct store *rows_store(struct rows_asked *asked);

/*
 * A question to the store came to `error`, as a scan has it. Whether the store is
 * worth nothing: damaged (-EBADMSG), or of other bytes than the trace has
 * (-ESTALE). Then its file is removed, if it still has its name, which is noted:
 * so the next one who wants a store of this trace makes it anew. This one stays
 * open.
 */
bool rows_store_drop(const struct store *store, int error,
		     struct notes *notes);

/* What is there. */
enum rows_found {
	ROWS_FOUND_NONE,
	ROWS_FOUND_GOOD,
	ROWS_FOUND_SHORT,	/* the trace has grown since */
	ROWS_FOUND_OTHER,	/* of another trace */
	ROWS_FOUND_VERSION,	/* made by another version of gnomon */
	ROWS_FOUND_BAD,		/* no store, or damaged: `state` */
	ROWS_FOUND_UNTRUSTED	/* another user could have written it */
};

struct rows_look {
	char *path;		/* to be freed; NULL: none is there */
	enum rows_found found;
	enum store_state state;
	uint64_t bytes, rows, live;	/* of one that is no worse than OTHER */
	uint64_t left;			/* bytes, of a maker that is at work or
					 * was killed */
};

/* For `info`: looks beside the trace, then in the cache. */
void rows_look(const char *trace, struct rows_look *look);
/* "is good", "is of another trace": follows the path. */
const char *rows_look_text(const struct rows_look *look);

#endif
