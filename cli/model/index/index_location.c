/*
 * index_location.c: see index_location.h.
 *
 *  I1  Only the process that holds the lock of PATH.new, and has checked that
 *      the locked file still has that name, writes or renames that file, and
 *      uses PATH.part.
 */
#include "cli/model/index/index_location.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/model/index/index_cache.h"

#define WAIT_NS 20000000	/* between two attempts to lock */
#define BLOCK_BYTES 512		/* of st_blocks */

/* ---- names ---- */

char *index_location(enum index_at at, const char *trace, uint64_t trace_id)
{
	char *folder, *path;

	if (at == INDEX_BESIDE) {
		char *real = realpath(trace, NULL);

		path = real == NULL ? NULL : grow_format("%s.idx", real);
		free(real);
		return path;
	}
	folder = index_cache_folder();
	path = folder == NULL ? NULL :
		grow_format("%s/%016" PRIx64 ".idx", folder, trace_id);
	free(folder);
	return path;
}

static char *name_of_new(const char *path)
{
	return grow_format("%s.new", path);
}

char *index_location_part(const char *path)
{
	return grow_format("%s.part", path);
}

/* Also removes a part that was not complete. */
static void remove_checkpoint(const char *path)
{
	char *part = index_location_part(path), *new = name_of_new(part);

	unlink(new);
	unlink(part);
	free(new);
	free(part);
}

/* ---- reading ---- */

static bool is_trusted(const struct stat *status)
{
	return S_ISREG(status->st_mode) && status->st_uid == geteuid() &&
	       status->st_nlink == 1 && (status->st_mode & 022) == 0;
}

int index_location_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat status;

	if (fd < 0)
		return errno == ELOOP ? -EPERM : -errno;
	if (fstat(fd, &status) == 0 && is_trusted(&status))
		return fd;
	close(fd);
	return -EPERM;
}

/* ---- making ---- */

/* Whether the name is still that of the open file. */
static bool is_named(const char *name, int fd)
{
	struct stat open, named;

	return fstat(fd, &open) == 0 && lstat(name, &named) == 0 &&
	       open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

/* Whether the existing file may be replaced by another file of ours. */
static bool is_replaceable(const char *path)
{
	struct stat status;

	if (lstat(path, &status) != 0)
		return errno == ENOENT;
	return S_ISREG(status.st_mode) && status.st_uid == geteuid();
}

/* 0: locked; 1: try again; or -errno. */
static int try_lock(const char *name, int *fd)
{
	struct stat status;
	int error;

	*fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
		   0600);
	if (*fd < 0)
		return errno == ELOOP ? -EPERM : -errno;
	if (fstat(*fd, &status) != 0)
		error = -errno;
	else if (status.st_nlink == 0)
		error = 1;	/* it was renamed or removed just now */
	else if (!is_trusted(&status))
		error = -EPERM;
	else if (flock(*fd, LOCK_EX | LOCK_NB) != 0)
		error = errno == EWOULDBLOCK ? -EWOULDBLOCK : -errno;
	else if (!is_named(name, *fd))
		error = 1;
	else
		error = 0;
	if (error != 0)
		close(*fd);
	return error;
}

static bool is_empty(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && status.st_size == 0;
}

int index_location_begin(const char *path, const atomic_bool *cancel,
			 struct notes *notes)
{
	const struct timespec nap = { .tv_nsec = WAIT_NS };
	char *name;
	bool waited = false;
	int fd, error;

	if (!is_replaceable(path))
		return -EPERM;
	name = name_of_new(path);
	for (;;) {
		error = try_lock(name, &fd);
		/* the other maker has finished; otherwise the file is not
		 * empty */
		if (error == 0 && waited && is_empty(fd)) {
			index_location_undo(path, fd);
			error = -EEXIST;
		}
		if (error == 1)
			continue;
		if (error != -EWOULDBLOCK)
			break;
		if (!waited)
			notes_hint(notes, "%s: another process makes it: "
				   "waiting for it", path);
		waited = true;
		if (cancel != NULL && atomic_load(cancel)) {
			error = -ECANCELED;
			break;
		}
		nanosleep(&nap, NULL);
	}
	free(name);
	return error == 0 ? fd : error;
}

int index_location_done(const char *path, int fd)
{
	char *name = name_of_new(path);
	int error = 0;

	remove_checkpoint(path);	/* before renaming: I1 */
	if (rename(name, path) != 0) {
		error = -errno;
		unlink(name);
	}
	close(fd);
	free(name);
	return error;
}

void index_location_undo(const char *path, int fd)
{
	char *name = name_of_new(path);

	/* while it is locked: I1 */
	remove_checkpoint(path);
	unlink(name);
	close(fd);
	free(name);
}

int index_location_remove(const char *path, int fd)
{
	if (!is_named(path, fd))
		return -ENOENT;
	return unlink(path) == 0 ? 0 : -errno;
}

static uint64_t taken_by(char *name)
{
	struct stat status;
	uint64_t bytes = lstat(name, &status) != 0 ? 0 :
		(uint64_t)status.st_blocks * BLOCK_BYTES;

	free(name);
	return bytes;
}

uint64_t index_location_left(const char *path)
{
	return taken_by(name_of_new(path)) +
	       taken_by(index_location_part(path));
}

uint64_t index_location_free(int fd)
{
	struct statvfs status;
	struct stat file;

	if (fstatvfs(fd, &status) != 0 || status.f_frsize == 0 ||
	    fstat(fd, &file) != 0)
		return UINT64_MAX;
	return (uint64_t)status.f_bavail * status.f_frsize +
	       (uint64_t)file.st_blocks * BLOCK_BYTES;
}
