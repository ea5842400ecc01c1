/*
 * parts.c: see parts.h.
 *
 *	FILE (3)  ──full──▶  FILE.next (4): header, opening
 *	                     FILE      becomes FILE.part3
 *	                     FILE.next becomes FILE
 *	FILE.part1: removed before, to make room, and FILE.part1.idx with it
 *
 * If this is interrupted, all parts except FILE.next are complete and readable
 * alone; between the two renames FILE.next is the future FILE.
 *
 * A part begins when all records taken from rings have been written. So the
 * block table then has the same state as the older parts together.
 *
 * I1: the sizes of all existing parts are within the limit, except for the
 *     chunk being written.
 * I2: each chunk goes to exactly one part; its number is in its INFO.
 *
 * The writer only.
 */
#include "cli/recorder/books/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "cli/recorder/base/failure.h"
#include "cli/recorder/process/owner.h"
#include "cli/recorder/books/parts_open.h"
#include "cli/recorder/base/pathname.h"
#include "cli/recorder/base/result.h"
#include "cli/recorder/writer_task.h"
#include "cli/recorder/base/zeroed.h"
#include "unwind/claim.h"

#define PARTS_RECORD 32		/* approximate bytes of a record in a ring */
#define PARTS_STEP_LEAST 256
#define PARTS_STEP_MOST 32768
#define PARTS_GRACE 16		/* a part may be larger by this fraction of
				 * it */
#define PARTS_LATE 64		/* checks: each after few events */
#define PARTS_STEP_LATE 64
#define PARTS_NAMES 1000	/* names tried */

static int parts_refuse(struct writer *w, const char *why, int err)
{
	failure_print(w->r->message, sizeof(w->r->message),
		      "cannot record %s within --limit: %s", w->output.path,
		      why);
	return err;
}

int parts_init(struct parts *parts, struct writer *w)
{
	parts->w = w;
	parts->limit = recording_options->number[OPTION_LIMIT];
	/* parts get somewhat larger, by a chunk and their closing chunks */
	parts->share = parts->limit / PARTS_KEPT - parts->limit / 32;
	CLAIM(parts->share > 0 && parts->share < parts->limit);
	parts->number = parts->oldest = 1;
	parts->opening = w->out.size;
	if (!w->output.regular)
		return parts_refuse(w, "old parts cannot be removed from a "
				       "pipe or a device: use a file",
				    -ESPIPE);
	parts->columns = zeroed_alloc(PARTS_COLUMNS);
	if (!parts->columns ||
	    emit_totals_init(&parts->emit, &w->out, &w->compress, &w->nodes))
		return parts_refuse(w, "no memory", -ENOMEM);
	return 0;
}

uint32_t parts_step(const struct parts *parts)
{
	if (parts->late)
		return PARTS_STEP_LATE;
	return base_max(base_min(parts->share / (4 * PARTS_RECORD),
				 PARTS_STEP_MOST), PARTS_STEP_LEAST);
}

/* ---- names ---- */

static bool parts_path(const struct parts *parts, char *path,
		       const char *mark, uint64_t number)
{
	const char *of = parts->w->output.path;

	if (!number)
		return pathname_print(path, GT_PATH_MAX, "%s%s", of, mark);
	return pathname_print(path, GT_PATH_MAX, "%s%s%" PRIu64, of, mark,
			      number);
}

static void parts_remove_oldest(struct parts *parts)
{
	char path[GT_PATH_MAX];

	CLAIM_FULL(parts->oldest < parts->number);
	/* a number without a size belongs to a file of others */
	if (parts->size[parts->oldest % PARTS_KEPT]) {
		parts_path(parts, path, ".part", parts->oldest);
		unlink(path);
		/* its index, if there is one */
		if (pathname_print(path, sizeof(path), "%s.part%" PRIu64 ".idx",
				   parts->w->output.path, parts->oldest))
			unlink(path);
	}
	parts->oldest++;
}

/* Bytes of all closed parts. */
static uint64_t parts_closed(const struct parts *parts)
{
	uint64_t sum = 0, i;

	CLAIM_FULL(parts->oldest <= parts->number);
	for (i = parts->oldest; i < parts->number; i++)
		sum += parts->size[i % PARTS_KEPT];
	return sum;
}

static void parts_make_room(struct parts *parts, uint64_t bytes)
{
	while (parts->oldest < parts->number &&
	       (parts->number - parts->oldest >= PARTS_KEPT - 1 ||
		parts_closed(parts) + bytes + parts->beside > parts->limit))
		parts_remove_oldest(parts);
	CLAIM_FULL(parts->number - parts->oldest < PARTS_KEPT);
}

void parts_beside(struct parts *parts, uint64_t bytes)
{
	uint64_t newest = base_max(parts->w->out.size, parts->share);

	parts->beside = bytes;
	while (parts->oldest < parts->number &&
	       parts_closed(parts) + newest + bytes > parts->limit)
		parts_remove_oldest(parts);
}

static long parts_rename(const char *from, const char *to, unsigned flags)
{
	return result_of(renameat2(AT_FDCWD, from, AT_FDCWD, to, flags));
}

/* Gives the old part its new name. It keeps the trace's name as well, so that
 * the trace always exists. Not every file system has hard links or
 * RENAME_NOREPLACE. */
static long parts_name_old(struct parts *parts, const char *part)
{
	const char *path = parts->w->output.path;
	long err = result_of(linkat(AT_FDCWD, path, AT_FDCWD, part, 0));

	parts->linked = !err;
	if (!err || err == -EEXIST)
		return err;
	err = parts_rename(path, part, RENAME_NOREPLACE);
	return err == -EINVAL ? parts_rename(path, part, 0) : err;
}

/* Names FILE also FILE.partN, where N is parts->number. If another file has
 * that name, N is increased. */
static long parts_step_back(struct parts *parts)
{
	char path[GT_PATH_MAX];
	long err = -EEXIST;
	unsigned i;

	for (i = 0; err == -EEXIST && i < PARTS_NAMES; i++) {
		if (!parts_path(parts, path, ".part", parts->number))
			return -ENAMETOOLONG;
		err = parts_name_old(parts, path);
		if (err != -EEXIST)
			break;
		/* another file has the name: skip this number */
		if (parts->oldest == parts->number)
			parts->oldest++;
		while (parts->oldest < parts->number &&
		       parts->number + 1 - parts->oldest >= PARTS_KEPT)
			parts_remove_oldest(parts);
		parts->size[(parts->number + 1) % PARTS_KEPT] =
			parts->size[parts->number % PARTS_KEPT];
		parts->size[parts->number % PARTS_KEPT] = 0;
		parts->number++;
	}
	CLAIM_FULL(parts->oldest <= parts->number);
	return err;
}

/* There is no next part: the old part keeps only the trace's name. */
static void parts_step_forth(const struct parts *parts, uint64_t number)
{
	char path[GT_PATH_MAX];

	if (!parts_path(parts, path, ".part", number))
		return;
	if (parts->linked)
		unlink(path);
	else	/* a new file of that name is kept */
		parts_rename(path, parts->w->output.path, RENAME_NOREPLACE);
}

/* ---- from one part to the next ---- */

static long parts_open_next(struct parts *parts, char *path)
{
	long fd;

	if (!parts_path(parts, path, ".next", 0))
		return -ENAMETOOLONG;
	unlink(path);	/* of an interrupted rotation */
	fd = result_of(open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
					  O_CLOEXEC, 0600));
	if (fd < 0)
		return fd;
	/* no other process has it open */
	flock((int)fd, LOCK_EX | LOCK_NB);
	owner_apply((int)fd);	/* a failure was reported for the first part */
	return fd;
}

static void parts_close(struct parts *parts)
{
	struct writer *w = parts->w;

	emit_info_counters(&w->info, &w->feed);
	emit_info_end(&w->info, &w->feed, "part", NULL, -1);
	chunk_close(&w->out);
	parts->size[parts->number % PARTS_KEPT] = w->out.size;
}

/* Ends the recording; the old part stays as it is. */
static void parts_fail(struct parts *parts, long err)
{
	parts->w->out.err = err;
}

/* Continues the trace in `fd`, and writes the next part's opening. */
static void parts_begin(struct parts *parts, int fd)
{
	struct writer *w = parts->w;

	parts->number++;
	/* each closed part has its own entry in `size` */
	assert(parts->number - parts->oldest <= PARTS_KEPT);
	w->feed.events_before = w->feed.events;
	w->output.fd = fd;
	w->info.part = parts->number;
	if (chunk_begin(&w->out, fd) == 0)
		parts_write_opening(parts);
	parts->opening = w->out.size;
}

/*
 * Begins the next part. It gets the trace's name only with a complete opening:
 * if the recorder is killed before, all parts are complete.
 */
static void parts_roll(struct parts *parts)
{
	struct writer *w = parts->w;
	int old = w->out.fd;
	char next[GT_PATH_MAX];
	long fd, err;

	CLAIM_FULL(parts->rolling);
	parts_make_room(parts, w->out.size + parts->share +
				       parts->share / PARTS_GRACE);
	fd = parts_open_next(parts, next);
	if (fd < 0) {
		parts_fail(parts, fd);
		return;
	}
	parts_close(parts);
	err = w->out.err ? w->out.err : parts_step_back(parts);
	if (err) {
		unlink(next);
		close(fd);
		parts_fail(parts, err);
		return;
	}
	parts_begin(parts, fd);
	close(old);
	if (!w->out.err)
		err = parts_rename(next, w->output.path, 0);
	if (w->out.err || err) {
		unlink(next);
		parts_step_forth(parts, parts->number - 1);
	}
	if (err)
		parts_fail(parts, err);
	else if (!w->out.err && parts->opening > parts->limit / 2)
		parts_say_small(parts);
}

/* Bytes of records that were taken and not written yet. */
static uint64_t parts_pending(const struct parts *parts)
{
	const struct feed *feed = &parts->w->feed;
	uint32_t count = feed_count(feed), id;
	uint64_t sum = 0;

	for (id = 0; id < count; id++)
		if (feed_active(&feed->r->rings[id]) && feed->rings[id].known)
			sum += feed->rings[id].taken -
			       feed->r->given[id].tail;
	if (feed->sequence->cull)
		sum += (uint64_t)feed->sequence->cull->used * PARTS_RECORD;
	return sum;
}

/* Whether there is a pending realloc: its begin was taken, its end was not.
 * Both should be in one part, if the end comes soon. */
static bool parts_within_realloc(const struct parts *parts)
{
	struct edges *edges = &parts->w->books.ledger.edges;
	uint32_t count = feed_count(&parts->w->feed), id;

	for (id = 0; id < count; id++)
		if (edges_moving_of(edges, id)->active)
			return true;
	return false;
}

void parts_look(struct parts *parts)
{
	struct writer *w = parts->w;
	uint64_t size = w->out.size + parts_pending(parts);

	if (parts->rolling || w->out.err || size < parts->share ||
	    size < 2 * parts->opening)
		return;
	/* not forever: there may always be a pending realloc */
	if (parts_within_realloc(parts) && parts->late++ < PARTS_LATE)
		return;
	parts->late = 0;
	/* the calls below may call parts_look again */
	parts->rolling = true;
	feed_pass(&w->feed, FEED_ALL);
	if (w->books.sequence.cull) {
		cull_flush(&w->books.cull);
		if (w->books.cull.totals.count)
			cull_tell(&w->books.cull);
	}
	if (!w->out.err)
		parts_roll(parts);
	parts->rolling = false;
}
