/*
 * index_location.h: where the index of a trace is, who may make it, and which
 * file there is trusted.
 *
 *	TRACE.idx		beside the trace, if its folder is writable
 *	~/.cache/gnomon/ID.idx	else, by the trace's id; $XDG_CACHE_HOME/gnomon if
 *				that is set
 *	….idx.new		while it is made: locked (flock) by its maker,
 *				renamed when complete
 *	….idx.part		the unfinished state of a large index
 *				(index_checkpoint.h); only the holder of the lock of
 *				.new uses it
 *
 * A file is trusted if it is a regular file of ours that only we can write, and
 * has one link. A maker that is killed leaves a file without a lock: the next
 * maker takes it, or index_cache_make_room removes it.
 *
 * Any thread, any number of processes.
 */
#ifndef GNOMON_INDEX_LOCATION_H
#define GNOMON_INDEX_LOCATION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/base/notes.h"

enum index_at { INDEX_BESIDE, INDEX_CACHED, INDEX_LOCATIONS };

/* The path of an index, to be freed; NULL: there is no such place (no home
 * directory, or the trace has no path of its own). */
char *index_location(enum index_at at, const char *trace, uint64_t trace_id);

/* Opens the file at this path for reading, if it is trusted: a descriptor;
 * -ENOENT; -EPERM: not trusted; or -errno. */
int index_location_open(const char *path);

/* The path of its part, to be freed. */
char *index_location_part(const char *path);

/*
 * Begin to make an index at `path`: a descriptor of a file locked by us, empty
 * or left by a maker that was killed. Waits while another process makes the
 * same index, until `cancel` is set, and notes that. -EEXIST: the other process
 * has finished, search again; -ECANCELED; -EPERM: the existing file is not ours
 * to replace; or -errno (-EACCES, -EROFS: not in this folder).
 */
int index_location_begin(const char *path, const atomic_bool *cancel,
			 struct notes *notes);
/* Rename it to its final name. 0 or -errno: then the file is removed. Closes
 * the descriptor. */
int index_location_done(const char *path, int fd);
/* Abandon it: removes what was written and closes the descriptor. A maker that
 * only closes the descriptor leaves the file to the next one. */
void index_location_undo(const char *path, int fd);
/* Remove the file at `path`, if it is still the one of `fd`. 0 or -errno. */
int index_location_remove(const char *path, int fd);

/* Bytes of the files of a maker of this index that is running or was killed. */
uint64_t index_location_left(const char *path);
/* Bytes that the file system has for the file, including those it uses now;
 * UINT64_MAX: not known. */
uint64_t index_location_free(int fd);

#endif
