/*
 * index_store.c: see index_store.h.
 *
 *	look beside ─▶ look in the cache ─▶ make beside ─▶ make in the cache
 */
#include "cli/model/index/index_store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/text/quantity.h"
#include "cli/model/index/index_build.h"
#include "cli/model/index/index_cache.h"
#include "cli/model/index/index_facts.h"
#include "cli/model/index/index_checkpoint.h"
#include "cli/model/index/index_location.h"
#include "cli/model/index/index_trace.h"
#include "cli/trace/live/live_recover.h"

/* Bytes per row, typically, and per two events: for the estimates before an
 * index is made. */
#define ROW_BYTES 12

/* Limit of attempts, if other processes keep beginning and failing to make the
 * index. */
#define TURNS_MAX 8

/* ---- an existing index ---- */

/* `options`: those that its key should have. */
static enum index_found judge(const struct index_trace *trace,
			      const struct store *store, uint64_t options)
{
	const struct store_key *key = store_key(store);
	uint64_t bytes, known, digest;

	if (key->trace_id != trace->trace_id)
		return INDEX_FOUND_OTHER;
	if (key->maker != INDEX_MAKER || key->options != options ||
	    key->trace_version != trace->version)
		return INDEX_FOUND_VERSION;
	if (!store_fact(store, "trace_bytes", &bytes) ||
	    !store_fact(store, "trace_digest", &known) ||
	    key->prefix_bytes > trace->bytes ||
	    !index_trace_digest(trace, key->prefix_bytes, &digest) ||
	    digest != known)
		return INDEX_FOUND_OTHER;
	return bytes == trace->bytes ? INDEX_FOUND_GOOD : INDEX_FOUND_SHORT;
}

/* *store is NULL if no index could be opened. */
static enum index_found find(const struct index_trace *trace, const char *path,
			     uint64_t options, struct notes *notes,
			     struct store **store, enum store_state *state)
{
	int fd = index_location_open(path);

	*store = NULL;
	*state = STORE_UNREADABLE;
	if (fd < 0)
		return fd == -ENOENT || fd == -ENOTDIR ? INDEX_FOUND_NONE :
			fd == -EPERM ? INDEX_FOUND_UNTRUSTED : INDEX_FOUND_BAD;
	*state = store_open(fd, path, notes, store);
	if (*store != NULL)
		return judge(trace, *store, options);
	return *state == STORE_OLDER || *state == STORE_NEWER ?
		INDEX_FOUND_VERSION : INDEX_FOUND_BAD;
}

/* ---- making ---- */

struct making {
	struct index_asked *asked;
	struct index_trace trace;
	struct store *older;	/* of a shorter trace; or NULL */
	struct store *part;	/* from a maker that was killed; or NULL */
	uint64_t bytes;		/* estimated size of the index */
	bool growing;		/* the trace is being written */
	bool reported;		/* that there is no place was noted */
};

/* An error if the user requested the index; otherwise a hint, since the trace
 * is read instead. */
#define REFUSE(asked, ...)						\
	((asked)->make == INDEX_MAKE ?					\
		 notes_error((asked)->notes, __VA_ARGS__) :		\
		 notes_hint((asked)->notes, __VA_ARGS__))

static void announce(const struct making *making, const char *path)
{
	const struct index_asked *asked = making->asked;
	uint64_t blocks = making->bytes / ROW_BYTES;

	if (making->part != NULL)
		notes_hint(asked->notes, "%s: resuming its index from %s: about "
			   "%s: about %s in %s", asked->trace,
			   PERCENT_TEXT(store_key(making->part)->prefix_bytes,
					making->trace.bytes),
			   COUNTED(blocks, "block"), SIZE_TEXT(making->bytes),
			   path);
	else if (making->older != NULL)
		notes_hint(asked->notes, "%s: it has grown: extending its "
			   "index %s", asked->trace, path);
	else
		notes_hint(asked->notes, "%s: indexing about %s: about %s "
			   "in %s", asked->trace, COUNTED(blocks, "block"),
			   SIZE_TEXT(making->bytes), path);
}

static bool is_no_room(int error)
{
	return error == -ENOSPC || error == -EDQUOT || error == -EFBIG;
}

static void report_failure(const struct making *making, const char *path,
			   int error)
{
	struct index_asked *asked = making->asked;

	asked->why = error == -ECANCELED ? INDEX_CANCELLED :
		error == -EBUSY || error == -EBADMSG ? INDEX_UNFIT :
		INDEX_FAILED;
	if (asked->why == INDEX_FAILED)
		REFUSE(asked, "%s: making it failed: %s: %sgo without it by "
		       "--no-index", path, strerror(-error),
		       is_no_room(error) ? "make room, or " : "");
}

static struct store *open_made(struct making *making, const char *path)
{
	enum store_state state = STORE_UNREADABLE;
	int fd = index_location_open(path);
	struct store *store;

	if (fd >= 0)
		state = store_open(fd, path, making->asked->notes, &store);
	if (state == STORE_GOOD)
		return store;
	report_failure(making, path, fd < 0 ? fd : -EIO);
	return NULL;
}

/* Finds the files of a maker that was killed, if they are of this trace, and
 * cover more than the older index; otherwise truncates the file. 0, or -errno:
 * that failed. */
static int find_part(struct making *making, const char *part, int fd)
{
	enum store_state state;
	enum index_found found = find(&making->trace, part, INDEX_CHECKPOINT,
				      NULL, &making->part, &state);

	if ((found == INDEX_FOUND_GOOD || found == INDEX_FOUND_SHORT) &&
	    (making->older == NULL ||
	     store_key(making->older)->prefix_bytes <
		     store_key(making->part)->prefix_bytes))
		return 0;
	store_close(making->part);
	making->part = NULL;
	/* before truncating: with another file it would be invalid */
	if (unlink(part) != 0 && errno != ENOENT)
		return -errno;
	return ftruncate(fd, 0) != 0 ? -errno : 0;
}

/* Whether enough was kept for a later process to resume. */
static bool is_left(const struct making *making, const char *path,
		    const struct index_build *build, int error)
{
	const struct index_asked *asked = making->asked;

	if (error != -ECANCELED || build->kept == 0)
		return false;
	notes_hint(asked->notes, "%s: interrupted at %s: that much is kept in "
		   "%s.new and %s.part; the next time resumes there",
		   asked->trace, PERCENT_TEXT(build->kept,
					      making->trace.bytes), path, path);
	return true;
}

/* Writes the index; closes the descriptor. 0 or negative errno. */
static int write_store(struct making *making, const char *path,
		       const char *part, int fd)
{
	struct index_build build = {
		.trace = making->asked->trace, .fd = fd,
		.older = making->part != NULL ? making->part : making->older,
		.goes_on = making->part != NULL, .part = part,
		.cancel = making->asked->cancel,
		.notes = making->asked->notes,
	};
	int error;

	announce(making, path);
	error = index_build(&build);
	if (error == 0)
		return index_location_done(path, fd);
	if (is_left(making, path, &build, error))
		close(fd);
	else
		index_location_undo(path, fd);
	return error;
}

/* False: noted. */
static bool has_room(const struct making *making, const char *path, int fd)
{
	struct index_asked *asked = making->asked;
	uint64_t room = index_location_free(fd);

	if (room >= making->bytes)
		return true;
	asked->why = INDEX_REFUSED;
	REFUSE(asked, "%s: needs about %s, and %s are free there: make room, "
	       "or go without it by --no-index", path,
	       SIZE_TEXT(making->bytes), SIZE_TEXT(room));
	return false;
}

/* Keeps the files of a killed maker: they are of use when there is space. */
static void give_up(const struct making *making, const char *path, int fd)
{
	if (making->part != NULL)
		close(fd);
	else
		index_location_undo(path, fd);
}

/* The file is locked by us: empty, or left by another maker. */
static struct store *fill(struct making *making, const char *path, int fd)
{
	char *part = index_location_part(path);
	int error = find_part(making, part, fd);
	bool begins = error == 0 && has_room(making, path, fd);

	if (begins)
		error = write_store(making, path, part, fd);
	else
		give_up(making, path, fd);
	store_close(making->part);
	making->part = NULL;
	free(part);
	if (error != 0)
		report_failure(making, path, error);
	return begins && error == 0 ? open_made(making, path) : NULL;
}

/* Another process has made it, but may have begun before the trace had
 * grown. */
static struct store *made_by_another(const struct making *making,
				     const char *path)
{
	enum store_state state;
	struct store *store;

	if (find(&making->trace, path, 0, making->asked->notes, &store,
		 &state) == INDEX_FOUND_GOOD)
		return store;
	store_close(store);
	return NULL;
}

/* Makes it in one place. *error: -EACCES and the like: not possible there. */
static struct store *make_at(struct making *making, const char *path,
			     int *error)
{
	struct index_asked *asked = making->asked;
	struct store *store = NULL;
	int fd = -EEXIST;

	*error = 0;
	for (int i = 0; i < TURNS_MAX && fd == -EEXIST && store == NULL; i++) {
		fd = index_location_begin(path, asked->cancel, asked->notes);
		if (fd == -EEXIST)
			store = made_by_another(making, path);
	}
	if (fd >= 0)
		return fill(making, path, fd);
	asked->why = fd == -ECANCELED ? INDEX_CANCELLED : INDEX_REFUSED;
	*error = store != NULL ? 0 : fd;
	return store;
}

/* Makes room for it in the cache. */
static bool prepare_cache(struct making *making, const char *path)
{
	const struct index_asked *asked = making->asked;
	uint64_t limit;

	if (index_cache_make() != 0)
		return false;
	if (!index_cache_limit(&limit))
		notes_hint(asked->notes, INDEX_CACHE_VARIABLE ": is no size: "
			   "using the default limit of the cache, %s",
			   SIZE_TEXT(limit));
	if (index_cache_make_room(path, making->bytes, limit))
		return true;
	making->reported = true;
	REFUSE(asked, "%s: its folder cannot be written, and its index, about %s, "
	       "is larger than the limit of the cache, %s: raise "
	       INDEX_CACHE_VARIABLE, asked->trace, SIZE_TEXT(making->bytes),
	       SIZE_TEXT(limit));
	return false;
}

static struct store *make(struct making *making)
{
	struct index_asked *asked = making->asked;
	struct store *store = NULL;
	int error = -EACCES;

	for (enum index_at at = 0; at < INDEX_LOCATIONS; at++) {
		char *path = index_location(at, asked->trace,
					    making->trace.trace_id);

		if (path != NULL && (at != INDEX_CACHED ||
				     prepare_cache(making, path)))
			store = make_at(making, path, &error);
		free(path);
		if (store != NULL || error == 0 || error == -ECANCELED)
			return store;
	}
	asked->why = INDEX_REFUSED;
	if (!making->reported)
		REFUSE(asked, "%s: its index can be written neither beside it "
		       "nor in the cache: %s: go without it by --no-index",
		       asked->trace, strerror(-error));
	return NULL;
}

/* ---- all steps ---- */

/* Recovers events from a live file left by a crash, as all readers of the trace
 * do. */
static bool fold_in(struct making *making)
{
	const struct index_asked *asked = making->asked;
	struct trace_facts facts;
	enum live_recover_result result;
	int error;

	if (live_recover_facts(asked->trace, &facts) != 0 ||
	    facts.result != SCAN_OPEN_OK)
		return false;
	result = live_recover_trace(asked->trace, &facts, &error);
	if (result == LIVE_RECOVER_DONE)
		notes_hint(asked->notes, "%s: recovered the last events from "
			   "%s, which is removed now", asked->trace,
			   facts.live);
	making->growing = result == LIVE_RECOVER_BUSY;
	return result != LIVE_RECOVER_FAILED;
}

static struct store *look(struct making *making)
{
	for (enum index_at at = 0; at < INDEX_LOCATIONS; at++) {
		char *path = index_location(at, making->asked->trace,
					    making->trace.trace_id);
		enum index_found found = INDEX_FOUND_NONE;
		enum store_state state;
		struct store *store = NULL;

		if (path != NULL)
			found = find(&making->trace, path, 0,
				     making->asked->notes, &store, &state);
		if (found == INDEX_FOUND_GOOD && at == INDEX_CACHED)
			index_cache_touch(path);
		free(path);
		if (found == INDEX_FOUND_GOOD)
			return store;
		if (found == INDEX_FOUND_SHORT && making->older == NULL)
			making->older = store;
		else
			store_close(store);
	}
	return NULL;
}

static bool is_to_be_made(struct making *making)
{
	const struct index_asked *asked = making->asked;
	uint64_t events;

	if (asked->make == INDEX_MAKE_NEVER)
		return false;
	events = index_trace_events(asked->trace);
	making->bytes = events / 2 * ROW_BYTES;
	/* for a growing trace, measures come from events anyway */
	return asked->make == INDEX_MAKE ||
	       (events >= INDEX_EVENTS_LARGE && !making->growing);
}

struct store *index_store(struct index_asked *asked)
{
	struct making making = { .asked = asked };
	struct store *store;

	asked->why = INDEX_UNFIT;
	if (index_trace_open(asked->trace, &making.trace) != 0)
		return NULL;
	index_trace_close(&making.trace);
	if (!fold_in(&making) ||
	    index_trace_open(asked->trace, &making.trace) != 0)
		return NULL;
	asked->why = INDEX_NONE;
	store = look(&making);
	if (store == NULL && is_to_be_made(&making))
		store = make(&making);
	if (store != NULL)
		asked->why = INDEX_THERE;
	store_close(making.older);
	index_trace_close(&making.trace);
	return store;
}

bool index_store_drop(const struct store *store, int error,
		      struct notes *notes)
{
	const char *path = store_name(store);
	const char *why = error == -EBADMSG ? "it is damaged" :
		"the trace is damaged in other places than when it was made";
	int removed;

	if (error != -EBADMSG && error != -ESTALE)
		return false;
	removed = index_location_remove(path, store_file(store));
	if (removed == 0)
		notes_hint(notes, "%s: removed, since %s: it is made anew when "
			   "it is needed", path, why);
	else if (removed != -ENOENT)
		notes_error(notes, "%s: is unusable, since %s, and cannot be "
			    "removed: %s: remove it", path, why,
			    strerror(-removed));
	return true;
}

void index_status(const char *trace, struct index_status *look)
{
	struct index_trace open;

	memset(look, 0, sizeof(*look));
	if (index_trace_open(trace, &open) != 0)
		return;
	for (enum index_at at = 0; at < INDEX_LOCATIONS; at++) {
		struct store *store = NULL;

		look->path = index_location(at, trace, open.trace_id);
		if (look->path == NULL)
			continue;
		look->found = find(&open, look->path, 0, NULL, &store,
				   &look->state);
		if (store != NULL) {
			look->bytes = store_bytes(store);
			look->rows = store_rows(store);
			look->live = store_live_rows(store);
		}
		store_close(store);
		look->left = index_location_left(look->path);
		if (look->found != INDEX_FOUND_NONE || look->left > 0)
			break;
		free(look->path);
		look->path = NULL;
	}
	index_trace_close(&open);
}

const char *index_status_text(const struct index_status *look)
{
	switch (look->found) {
	case INDEX_FOUND_NONE:
		return "is not there";
	case INDEX_FOUND_GOOD:
		return "is good";
	case INDEX_FOUND_SHORT:
		return "lacks events that were added to the trace since it was made";
	case INDEX_FOUND_OTHER:
		return "is of another trace";
	case INDEX_FOUND_VERSION:
		return "was made by another version of gnomon";
	case INDEX_FOUND_UNTRUSTED:
		return "is not trusted: others could have written it";
	case INDEX_FOUND_BAD:
		break;
	}
	return store_state_text(look->state);
}
