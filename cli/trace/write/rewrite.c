/*
 * rewrite.c: see the header. If the file system can, the file is made without a
 * name (O_TMPFILE), so that nothing is left however we end. Otherwise it has a
 * temporary name beside the result.
 *
 *  I1  An existing file with the result's name is not touched before
 *      rewrite_commit, and without `force` not even then.
 *
 * One thread for each.
 */
#include "cli/trace/write/rewrite.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "cli/base/grow.h"
#include "cli/base/io_full.h"

#define PENDING_BYTES (1u << 20)
#define COMPRESS_MIN 128	/* smaller payloads gain nothing */

static bool is_same_file(const char *input, const struct stat *output)
{
	struct stat status;

	return stat(input, &status) == 0 && status.st_dev == output->st_dev &&
	       status.st_ino == output->st_ino;
}

/* Whether the result may take that name. */
static bool may_take(const char *input, const char *path, bool force,
		     struct notes *notes)
{
	struct stat status;

	if (stat(path, &status) == 0) {
		if (is_same_file(input, &status)) {
			notes_error(notes, "%s: is the input trace: give the "
				    "result another name", path);
			return false;
		}
		if (!S_ISREG(status.st_mode)) {
			notes_error(notes, "%s: is not a regular file: give "
				    "another name with -o", path);
			return false;
		}
	} else if (lstat(path, &status) != 0) {
		return true;
	}
	if (!force)
		notes_error(notes, "%s: exists already: give another name with "
			    "-o, or replace it with --force", path);
	return force;
}

/* The directory of the result; the caller frees it. */
static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		return grow_copy(".", 1);
	return grow_copy(path, slash == path ? 1 : (size_t)(slash - path));
}

static int open_named(struct rewrite *rewrite)
{
	rewrite->temporary = grow_format("%s.XXXXXX", rewrite->path);
	rewrite->fd = mkostemp(rewrite->temporary, O_CLOEXEC);
	if (rewrite->fd >= 0)
		return 0;
	free(rewrite->temporary);
	rewrite->temporary = NULL;
	return -errno;
}

bool rewrite_open(struct rewrite *rewrite, const char *input,
		  const char *path, bool force, int level,
		  struct notes *notes)
{
	char *directory = directory_of(path);
	int error = 0;

	*rewrite = (struct rewrite){
		.path = path, .fd = -1, .force = force, .level = level,
		.notes = notes,
	};
	if (!may_take(input, path, force, notes)) {
		free(directory);
		return false;
	}
	if (access("/proc/self/fd", X_OK) == 0)	/* give_name needs it */
		rewrite->fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC,
				   0600);
	free(directory);
	if (rewrite->fd < 0)
		error = open_named(rewrite);
	if (error == 0)
		return true;
	notes_error(notes, "%s: cannot be written: %s: give another name with "
		    "-o", path, strerror(-error));
	return false;
}

static void flush(struct rewrite *rewrite)
{
	if (rewrite->error == 0)
		rewrite->error = -io_full_write(rewrite->fd,
						rewrite->pending.data,
						rewrite->pending.size);
	if (rewrite->error == 0)
		rewrite->written += rewrite->pending.size;
	buffer_clear(&rewrite->pending);
}

void rewrite_header(struct rewrite *rewrite, uint64_t trace_id)
{
	assert(rewrite->sequence == 0 && rewrite->written == 0);
	rewrite->trace_id = trace_id;
	compose_header(&rewrite->pending, trace_id);
}

/* Compress into rewrite->packed; false: it would not be smaller. */
static bool pack(struct rewrite *rewrite, const struct buffer *payload)
{
	struct buffer *packed = &rewrite->packed;
	size_t room = ZSTD_compressBound(payload->size), size;

	if (payload->size < COMPRESS_MIN)
		return false;
	if (packed->capacity < room) {
		packed->data = grow_resize(packed->data, room, 1);
		packed->capacity = room;
	}
	size = ZSTD_compress(packed->data, room, payload->data, payload->size,
			     rewrite->level);
	packed->size = ZSTD_isError(size) ? 0 : size;
	return !ZSTD_isError(size) && size < payload->size;
}

void rewrite_chunk(struct rewrite *rewrite, const struct chunk *chunk,
		   const struct buffer *payload, bool whole)
{
	struct chunk copy = *chunk;

	copy.sequence = rewrite->sequence++;
	copy.flags = 0;
	copy.raw = (uint32_t)payload->size;
	if (whole && pack(rewrite, payload)) {
		copy.flags = GT_COMPRESSED;
		payload = &rewrite->packed;
	}
	compose_chunk(&rewrite->pending, &copy, rewrite->trace_id, payload);
	if (rewrite->pending.size >= PENDING_BYTES)
		flush(rewrite);
}

/* Give the file a new name; -EEXIST if the name exists. */
static int give_name(const struct rewrite *rewrite, const char *name)
{
	char open_file[64];
	int failed;

	snprintf(open_file, sizeof(open_file), "/proc/self/fd/%d",
		 rewrite->fd);
	if (rewrite->temporary != NULL)
		failed = renameat2(AT_FDCWD, rewrite->temporary, AT_FDCWD,
				   name, RENAME_NOREPLACE);
	else
		failed = linkat(AT_FDCWD, open_file, AT_FDCWD, name,
				AT_SYMLINK_FOLLOW);
	return failed ? -errno : 0;
}

/* To replace a file, give a temporary name first, then rename. */
static int replace(struct rewrite *rewrite)
{
	int error = 0;

	assert(rewrite->force); /* I1 */
	for (unsigned i = 0; rewrite->temporary == NULL; i++) {
		char *name = grow_format("%s.%d.%u", rewrite->path,
					 (int)getpid(), i);

		error = give_name(rewrite, name);
		if (error == 0)
			rewrite->temporary = name;
		else
			free(name);
		if (error != 0 && error != -EEXIST)
			return error;
	}
	return rename(rewrite->temporary, rewrite->path) == 0 ? 0 : -errno;
}

/* For file systems that cannot rename without replacing. */
static int link_named(const struct rewrite *rewrite)
{
	assert(!rewrite->force && rewrite->temporary != NULL);
	if (link(rewrite->temporary, rewrite->path) != 0)
		return -errno;
	/* If this fails, the result has a second name: no harm. */
	unlink(rewrite->temporary);
	return 0;
}

bool rewrite_commit(struct rewrite *rewrite)
{
	int error;

	assert(rewrite->fd >= 0);
	flush(rewrite);
	error = -rewrite->error;
	if (error == 0 && fsync(rewrite->fd) != 0)
		error = -errno;
	if (error == 0 && rewrite->force)
		error = replace(rewrite);
	else if (error == 0)
		error = give_name(rewrite, rewrite->path);
	if (error == -EINVAL && rewrite->temporary != NULL && !rewrite->force)
		error = link_named(rewrite);
	if (error == 0) {
		free(rewrite->temporary);
		rewrite->temporary = NULL;
	} else if (error == -EEXIST) {
		notes_error(rewrite->notes, "%s: exists now: give another "
			    "name with -o, or replace it with --force",
			    rewrite->path);
	} else {
		notes_error(rewrite->notes, "%s: cannot be written: %s: no "
			    "file was left", rewrite->path, strerror(-error));
	}
	return error == 0;
}

void rewrite_close(struct rewrite *rewrite)
{
	if (rewrite->temporary != NULL)
		unlink(rewrite->temporary);
	free(rewrite->temporary);
	if (rewrite->fd >= 0)
		close(rewrite->fd);
	buffer_free(&rewrite->pending);
	buffer_free(&rewrite->packed);
	rewrite->temporary = NULL;
	rewrite->fd = -1;
}
