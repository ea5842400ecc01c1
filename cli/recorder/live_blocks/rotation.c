/*
 * rotation.c: see rotation.h.
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
 * The recorder only.
 */
#include "cli/recorder/live_blocks/rotation.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "cli/recorder/base/failure.h"
#include "cli/recorder/process/file_owner.h"
#include "cli/recorder/live_blocks/rotation_open.h"
#include "cli/recorder/base/pathname.h"
#include "cli/recorder/base/result.h"
#include "cli/recorder/recorder.h"
#include "cli/recorder/base/zeroed.h"
#include "unwind/base/assertion.h"

#define ROTATION_RECORD 32	/* approximate bytes of a record in a ring */
#define ROTATION_STEP_MIN 256
#define ROTATION_STEP_MAX 32768
#define ROTATION_GRACE 16	/* a part may be larger by this fraction of
				 * it */
#define ROTATION_LATE 64		/* checks: each after few events */
#define ROTATION_STEP_LATE 64
#define ROTATION_NAMES 1000	/* names tried */

static int rotation_refuse(struct recorder *rec, const char *why, int err)
{
	failure_print(rec->r->message, sizeof(rec->r->message),
		      "cannot record %s within --limit: %s", rec->output.path,
		      why);
	return err;
}

int rotation_init(struct rotation *rotation, struct recorder *rec)
{
	rotation->rec = rec;
	rotation->limit = recording_options->number[OPTION_LIMIT];
	/* parts get somewhat larger, by a chunk and their closing chunks */
	rotation->share =
		rotation->limit / ROTATION_KEPT - rotation->limit / 32;
	ASSERT(rotation->share > 0 && rotation->share < rotation->limit);
	rotation->number = rotation->oldest = 1;
	rotation->opening = rec->out.size;
	if (!rec->output.regular)
		return rotation_refuse(rec, "old parts cannot be removed from a "
				       "pipe or a device: use a file",
				       -ESPIPE);
	rotation->columns = zeroed_alloc(ROTATION_COLUMNS);
	if (!rotation->columns || emit_totals_init(&rotation->emit, &rec->out,
						   &rec->compress, &rec->nodes))
		return rotation_refuse(rec, "no memory", -ENOMEM);
	return 0;
}

uint32_t rotation_step(const struct rotation *rotation)
{
	if (rotation->late)
		return ROTATION_STEP_LATE;
	return base_max(base_min(rotation->share / (4 * ROTATION_RECORD),
				 ROTATION_STEP_MAX), ROTATION_STEP_MIN);
}

/* ---- names ---- */

static bool rotation_path(const struct rotation *rotation, char *path,
			  const char *mark, uint64_t number)
{
	const char *of = rotation->rec->output.path;

	if (!number)
		return pathname_print(path, GT_PATH_MAX, "%s%s", of, mark);
	return pathname_print(path, GT_PATH_MAX, "%s%s%" PRIu64, of, mark,
			      number);
}

static void rotation_remove_oldest(struct rotation *rotation)
{
	char path[GT_PATH_MAX];

	DEBUG_ASSERT(rotation->oldest < rotation->number);
	/* a number without a size belongs to a file of others */
	if (rotation->size[rotation->oldest % ROTATION_KEPT]) {
		rotation_path(rotation, path, ".part", rotation->oldest);
		unlink(path);
		/* its index, if there is one */
		if (pathname_print(path, sizeof(path), "%s.part%" PRIu64 ".idx",
				   rotation->rec->output.path,
				   rotation->oldest))
			unlink(path);
	}
	rotation->oldest++;
}

/* Bytes of all closed parts. */
static uint64_t rotation_closed(const struct rotation *rotation)
{
	uint64_t sum = 0, i;

	DEBUG_ASSERT(rotation->oldest <= rotation->number);
	for (i = rotation->oldest; i < rotation->number; i++)
		sum += rotation->size[i % ROTATION_KEPT];
	return sum;
}

static void rotation_make_room(struct rotation *rotation, uint64_t bytes)
{
	while (rotation->oldest < rotation->number &&
	       (rotation->number - rotation->oldest >= ROTATION_KEPT - 1 ||
		rotation_closed(rotation) + bytes + rotation->beside >
			rotation->limit))
		rotation_remove_oldest(rotation);
	DEBUG_ASSERT(rotation->number - rotation->oldest < ROTATION_KEPT);
}

void rotation_beside(struct rotation *rotation, uint64_t bytes)
{
	uint64_t newest = base_max(rotation->rec->out.size, rotation->share);

	rotation->beside = bytes;
	while (rotation->oldest < rotation->number &&
	       rotation_closed(rotation) + newest + bytes > rotation->limit)
		rotation_remove_oldest(rotation);
}

static long rotation_rename(const char *from, const char *to, unsigned flags)
{
	return result_of(renameat2(AT_FDCWD, from, AT_FDCWD, to, flags));
}

/* Gives the old part its new name. It keeps the trace's name as well, so that
 * the trace always exists. Not every file system has hard links or
 * RENAME_NOREPLACE. */
static long rotation_name_old(struct rotation *rotation, const char *part)
{
	const char *path = rotation->rec->output.path;
	long err = result_of(linkat(AT_FDCWD, path, AT_FDCWD, part, 0));

	rotation->linked = !err;
	if (!err || err == -EEXIST)
		return err;
	err = rotation_rename(path, part, RENAME_NOREPLACE);
	return err == -EINVAL ? rotation_rename(path, part, 0) : err;
}

/* Names FILE also FILE.partN, where N is parts->number. If another file has
 * that name, N is increased. */
static long rotation_step_back(struct rotation *rotation)
{
	char path[GT_PATH_MAX];
	long err = -EEXIST;
	unsigned i;

	for (i = 0; err == -EEXIST && i < ROTATION_NAMES; i++) {
		if (!rotation_path(rotation, path, ".part", rotation->number))
			return -ENAMETOOLONG;
		err = rotation_name_old(rotation, path);
		if (err != -EEXIST)
			break;
		/* another file has the name: skip this number */
		if (rotation->oldest == rotation->number)
			rotation->oldest++;
		while (rotation->oldest < rotation->number &&
		       rotation->number + 1 - rotation->oldest >= ROTATION_KEPT)
			rotation_remove_oldest(rotation);
		rotation->size[(rotation->number + 1) % ROTATION_KEPT] =
			rotation->size[rotation->number % ROTATION_KEPT];
		rotation->size[rotation->number % ROTATION_KEPT] = 0;
		rotation->number++;
	}
	DEBUG_ASSERT(rotation->oldest <= rotation->number);
	return err;
}

/* There is no next part: the old part keeps only the trace's name. */
static void rotation_step_forth(const struct rotation *rotation,
				uint64_t number)
{
	char path[GT_PATH_MAX];

	if (!rotation_path(rotation, path, ".part", number))
		return;
	if (rotation->linked)
		unlink(path);
	else	/* a new file of that name is kept */
		rotation_rename(path, rotation->rec->output.path,
				RENAME_NOREPLACE);
}

/* ---- from one part to the next ---- */

static long rotation_open_next(struct rotation *rotation, char *path)
{
	long fd;

	if (!rotation_path(rotation, path, ".next", 0))
		return -ENAMETOOLONG;
	unlink(path);	/* of an interrupted rotation */
	fd = result_of(open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
					  O_CLOEXEC, 0600));
	if (fd < 0)
		return fd;
	/* no other process has it open */
	flock((int)fd, LOCK_EX | LOCK_NB);
	file_owner_apply(
		(int)fd); /* a failure was reported for the first part */
	return fd;
}

static void rotation_close(struct rotation *rotation)
{
	struct recorder *rec = rotation->rec;

	emit_info_counters(&rec->info, &rec->drain);
	emit_info_end(&rec->info, &rec->drain, "part", NULL, -1);
	chunk_close(&rec->out);
	rotation->size[rotation->number % ROTATION_KEPT] = rec->out.size;
}

/* Ends the recording; the old part stays as it is. */
static void rotation_fail(struct rotation *rotation, long err)
{
	rotation->rec->out.err = err;
}

/* Continues the trace in `fd`, and writes the next part's opening. */
static void rotation_begin(struct rotation *rotation, int fd)
{
	struct recorder *rec = rotation->rec;

	rotation->number++;
	/* each closed part has its own entry in `size` */
	assert(rotation->number - rotation->oldest <= ROTATION_KEPT);
	rec->drain.events_before = rec->drain.events;
	rec->output.fd = fd;
	rec->info.part = rotation->number;
	if (chunk_begin(&rec->out, fd) == 0)
		rotation_write_opening(rotation);
	rotation->opening = rec->out.size;
}

/*
 * Begins the next part. It gets the trace's name only with a complete opening:
 * if the recorder is killed before, all parts are complete.
 */
static void rotation_roll(struct rotation *rotation)
{
	struct recorder *rec = rotation->rec;
	int old = rec->out.fd;
	char next[GT_PATH_MAX];
	long fd, err;

	DEBUG_ASSERT(rotation->rolling);
	rotation_make_room(rotation, rec->out.size + rotation->share +
				       rotation->share / ROTATION_GRACE);
	fd = rotation_open_next(rotation, next);
	if (fd < 0) {
		rotation_fail(rotation, fd);
		return;
	}
	rotation_close(rotation);
	err = rec->out.err ? rec->out.err : rotation_step_back(rotation);
	if (err) {
		unlink(next);
		close(fd);
		rotation_fail(rotation, err);
		return;
	}
	rotation_begin(rotation, fd);
	close(old);
	if (!rec->out.err)
		err = rotation_rename(next, rec->output.path, 0);
	if (rec->out.err || err) {
		unlink(next);
		rotation_step_forth(rotation, rotation->number - 1);
	}
	if (err)
		rotation_fail(rotation, err);
	else if (!rec->out.err && rotation->opening > rotation->limit / 2)
		rotation_report_small(rotation);
}

/* Bytes of records that were taken and not written yet. */
static uint64_t rotation_pending(const struct rotation *rotation)
{
	const struct ring_drain *drain = &rotation->rec->drain;
	uint32_t count = drain_count(drain), id;
	uint64_t sum = 0;

	for (id = 0; id < count; id++)
		if (drain_active(&drain->r->rings[id]) &&
		    drain->rings[id].known)
			sum += drain->rings[id].taken -
			       drain->r->given[id].tail;
	if (drain->merge->cull)
		sum += (uint64_t)drain->merge->cull->used * ROTATION_RECORD;
	return sum;
}

/* Whether there is a pending realloc: its begin was taken, its end was not.
 * Both should be in one part, if the end comes soon. */
static bool rotation_within_realloc(const struct rotation *rotation)
{
	struct edges *edges = &rotation->rec->tracker.table.edges;
	uint32_t count = drain_count(&rotation->rec->drain), id;

	for (id = 0; id < count; id++)
		if (edges_pending_of(edges, id)->active)
			return true;
	return false;
}

void rotation_poll(struct rotation *rotation)
{
	struct recorder *rec = rotation->rec;
	uint64_t size = rec->out.size + rotation_pending(rotation);

	if (rotation->rolling || rec->out.err || size < rotation->share ||
	    size < 2 * rotation->opening)
		return;
	/* not forever: there may always be a pending realloc */
	if (rotation_within_realloc(rotation) &&
	    rotation->late++ < ROTATION_LATE)
		return;
	rotation->late = 0;
	/* the calls below may call rotation_poll again */
	rotation->rolling = true;
	drain_pass(&rec->drain, DRAIN_ALL);
	if (rec->tracker.merge.cull) {
		cull_flush(&rec->tracker.cull);
		if (rec->tracker.cull.totals.count)
			cull_report(&rec->tracker.cull);
	}
	if (!rec->out.err)
		rotation_roll(rotation);
	rotation->rolling = false;
}
