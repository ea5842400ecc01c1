/*
 * sweep.c: live files outlive everything by design, also the trace that they
 * belong to, if somebody removes it. Those that do are removed here.
 *
 *  I1  A file stays unless all of this holds: it is ours, its writer's lock is
 *      free, no process has the pid and start time of its program, and at the
 *      path of its trace there is nothing or another trace.
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

#include "cli/trace/fold.h"
#include "cli/trace/leftover.h"
#include "preload/format.h"

#define NAMES_MAX 1000		/* the end of a run must not take long */

static bool trace_is_gone(const struct gl_header *header)
{
	struct trace_facts facts;
	struct stat status;

	if (memchr(header->trace_path, 0, sizeof(header->trace_path)) == NULL ||
	    header->trace_path[0] != '/')
		return false;
	if (lstat(header->trace_path, &status) != 0)
		return errno == ENOENT;
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
