/*
 * sweep.c: live files outlive everything by design, also the trace that they
 * belong to, if somebody removes it. Those that do are removed here.
 *
 *  I1  A file stays unless all of this holds: it is ours, its lock is free
 *      (its writer holds it, and a program that lives), no process has the
 *      pid and start time of its program, and at the path of its trace there
 *      is nothing or another trace; and no trace in that directory is the one.
 *
 * Called by the main thread.
 */
#include "cli/trace/sweep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/trace/fold.h"
#include "cli/trace/leftover.h"
#include "preload/format.h"

#define NAMES_MAX 1000		/* the end of a run must not take long */

static bool is_of(const char *path, uint64_t trace_id)
{
	struct trace_facts facts;
	struct stat status;

	return lstat(path, &status) == 0 && S_ISREG(status.st_mode) &&
		fold_facts(path, &facts) == 0 &&
		facts.result == SCAN_OPEN_OK && facts.trace_id == trace_id;
}

/* Whether the trace has another name now, in the directory where it was. */
static bool was_renamed(const struct gl_header *header)
{
	const char *slash = strrchr(header->trace_path, '/');
	char *place = grow_copy(header->trace_path,
				(size_t)(slash - header->trace_path) + 1);
	DIR *names = opendir(place);
	struct dirent *entry;
	bool found = false;

	for (int i = 0; names != NULL && !found && i < NAMES_MAX; i++) {
		char *path;

		entry = readdir(names);
		if (entry == NULL)
			break;
		path = grow_format("%s%s", place, entry->d_name);
		found = is_of(path, header->trace_id);
		free(path);
	}
	if (names != NULL)
		closedir(names);
	free(place);
	return found;
}

static bool trace_is_gone(const struct gl_header *header)
{
	struct trace_facts facts;
	struct stat status;

	if (memchr(header->trace_path, 0, sizeof(header->trace_path)) == NULL ||
	    header->trace_path[0] != '/')
		return false;
	if (lstat(header->trace_path, &status) != 0)
		return errno == ENOENT && !was_renamed(header);
	/* What went into a pipe may lie anywhere. */
	return S_ISREG(status.st_mode) &&
		fold_facts(header->trace_path, &facts) == 0 &&
		facts.result != SCAN_OPEN_ERROR &&
		facts.trace_id != header->trace_id;
}

static bool is_needed(int fd)
{
	static struct gl_header header;
	struct stat status;

	return fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
		status.st_uid != geteuid() ||
		flock(fd, LOCK_EX | LOCK_NB) != 0 ||
		pread(fd, &header, sizeof(header), 0) !=
		(ssize_t)sizeof(header) ||
		header.magic != GL_MAGIC || header.version != GL_VERSION ||
		leftover_process_exists(header.pid, header.start_time) ||
		!trace_is_gone(&header);
}

void sweep_live_files(const char *directory)
{
	DIR *names = opendir(directory);
	struct dirent *entry;

	for (int i = 0; names != NULL && i < NAMES_MAX; i++) {
		int fd;

		entry = readdir(names);
		if (entry == NULL)
			break;
		if (fnmatch("gnomon-*-*.live", entry->d_name, 0) != 0)
			continue;
		fd = openat(dirfd(names), entry->d_name, O_RDONLY | O_CLOEXEC |
			    O_NOFOLLOW | O_NONBLOCK);
		if (fd < 0)
			continue;
		/* If it cannot be removed, the next run tries again. */
		if (!is_needed(fd))
			unlinkat(dirfd(names), entry->d_name, 0);
		close(fd);
	}
	if (names != NULL)
		closedir(names);
}
