/*
 * rows_place.h: where the store of a trace lies, who may make it, and which
 * file there is trusted.
 *
 *	TRACE.idx		beside the trace, where its folder can be written
 *	~/.cache/gnomon/ID.idx	else, by the trace's id; $XDG_CACHE_HOME/gnomon
 *				where that is set
 *	….idx.new		while it is made: locked (flock) by who makes it,
 *				and renamed when it is whole
 *	….idx.part		what there is of a large one so far (rows_part.h);
 *				only who has the lock of .new touches it
 *
 * A file is trusted if it is a regular file of ours that only we can write, and
 * has one name. Who is killed while he makes a store leaves a file that nobody
 * has locked: the next one takes it, or rows_cache_make_room removes it.
 *
 * Any thread, any number of processes.
 */
#ifndef GNOMON_ROWS_PLACE_H
#define GNOMON_ROWS_PLACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/base/notes.h"

enum rows_at { ROWS_BESIDE, ROWS_CACHED, ROWS_PLACES };

/* The path of a store, to be freed; NULL: there is no such place (no home, or
 * the trace has no path of its own). */
char *rows_place(enum rows_at at, const char *trace, uint64_t trace_id);

/* The file at this path for reading, if it is trusted: a descriptor; or -ENOENT;
 * -EPERM: it is not trusted; or -errno. */
int rows_place_open(const char *path);

/* Where a part of it is kept, to be freed. */
char *rows_place_part(const char *path);

/*
 * Begin to make a store at `path`: a descriptor of a file that is locked by us.
 * It is empty, or what somebody who was killed has left. Waits while another one
 * makes the same, up to `cancel`, and says so in the notes. -EEXIST: he was done
 * meanwhile, look again; -ECANCELED; -EPERM: what is there is not ours to
 * replace; or -errno (-EACCES, -EROFS: not in this folder).
 */
int rows_place_begin(const char *path, const atomic_bool *cancel,
		     struct notes *notes);
/* Give it its name. 0 or -errno; the descriptor is closed, the file is gone
 * then. */
int rows_place_done(const char *path, int fd);
/* It is not to be: what there is of it is removed. The descriptor is closed. Who
 * just closes it leaves it to the next one. */
void rows_place_undo(const char *path, int fd);
/* Remove the file at `path`, if it is still this one. 0 or -errno. */
int rows_place_remove(const char *path, int fd);

/* Bytes that files take of a maker of this one who is at work, or was killed. */
uint64_t rows_place_left(const char *path);
/* Bytes that the file may have there, with those that it takes now;
 * UINT64_MAX: not known. */
uint64_t rows_place_free(int fd);

#endif
