/*
 * live_cleanup.c: a live file outlives its recorder and its program by design,
 * so that its events can be recovered into the trace. It also outlives a trace
 * that the user removes. Such live files are removed here.
 *
 * Only directories of live files and the headers of live files are read, not
 * the traces: there may be a hundred thousand of them.
 *
 *  I1  A file is removed only if all of this holds: it is ours; its lock is
 *      free (held by its recorder and by a program that lives); no process has
 *      the pid and start time of its program; the path of its trace has no file
 *      or another trace; and no file in that directory is the trace, after all
 *      were checked. The path is as the recorder sees it: with another mount
 *      view (a container that shares /dev/shm) the file stays.
 *
 * Called by the main thread.
 */
#include "cli/trace/live/live_cleanup.h"

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
#include "cli/base/mount_view.h"
#include "cli/trace/format/trace_format.h"
#include "cli/trace/live/live_recover.h"
#include "cli/trace/live/live_read.h"
#include "cli/trace/live/live_order.h"

/* This must not take long: limits for names read and files opened. */
#define NAMES_MAX 200000
#define FILES_MAX 1000

static bool is_of(const char *path, uint64_t trace_id)
{
	struct trace_facts facts;
	struct stat status;

	return lstat(path, &status) == 0 && S_ISREG(status.st_mode) &&
		live_recover_facts(path, &facts) == 0 &&
		facts.result == SCAN_OPEN_OK && facts.trace_id == trace_id;
}

/* Whether the trace may have been renamed in its directory. */
static bool may_be_renamed(const struct gl_header *header)
{
	const char *slash = strrchr(header->trace_path, '/');
	char *place = grow_copy(header->trace_path,
				(size_t)(slash - header->trace_path) + 1);
	DIR *names = opendir(place);
	struct dirent *entry;
	bool found = false;

	for (int i = 0; names != NULL && !found; i++) {
		char *path;

		entry = readdir(names);
		if (entry == NULL)
			break;
		if (i == FILES_MAX) {
			found = true;	/* too many to check */
			break;
		}
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

	if (lstat(header->trace_path, &status) != 0)
		return errno == ENOENT && !may_be_renamed(header);
	/* A trace written to a pipe may be stored anywhere. */
	return S_ISREG(status.st_mode) &&
		live_recover_facts(header->trace_path, &facts) == 0 &&
		facts.result != SCAN_OPEN_ERROR &&
		facts.trace_id != header->trace_id;
}

enum fate { FATE_STAYS, FATE_RECOVERED, FATE_REMOVED };

static bool lies_in(const struct gl_header *header, const struct stat *place)
{
	const char *slash = strrchr(header->trace_path, '/');
	char *directory = grow_copy(header->trace_path,
				    (size_t)(slash - header->trace_path) + 1);
	struct stat status;
	bool same = stat(directory, &status) == 0 &&
		status.st_dev == place->st_dev &&
		status.st_ino == place->st_ino;

	free(directory);
	return same;
}

/* Target and recorder were killed before the recorder had a trace (it writes
 * the magic last): there is no trace to append to. The target locked the file
 * before it wrote the version. */
static bool never_begun(const struct gl_header *header)
{
	return header->magic == 0 && header->version == GL_VERSION &&
		header->header_size == sizeof(*header);
}

/* traces: the directory whose traces are to be completed. */
static enum fate fate_of(int fd, const struct stat *traces,
			 struct gl_header *header)
{
	struct stat status;

	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
	    status.st_uid != geteuid() || flock(fd, LOCK_EX | LOCK_NB) != 0 ||
	    pread(fd, header, sizeof(*header), 0) !=
	    (ssize_t)sizeof(*header))
		return FATE_STAYS;
	live_order_header(header);
	if (never_begun(header))
		return FATE_REMOVED;
	if (header->magic != GL_MAGIC || header->version != GL_VERSION ||
	    memchr(header->trace_path, 0, sizeof(header->trace_path)) == NULL ||
	    header->trace_path[0] != '/' ||
	    header->view == 0 || header->view != mount_view() ||
	    live_read_process_exists(header->pid, header->start_time))
		return FATE_STAYS;
	if (trace_is_gone(header))
		return FATE_REMOVED;
	return lies_in(header, traces) ? FATE_RECOVERED : FATE_STAYS;
}

/* If this fails, the file stays, and reading the trace reports why. */
static void recover_into(const struct gl_header *header)
{
	struct trace_facts facts;
	int error;

	if (is_of(header->trace_path, header->trace_id) &&
	    live_recover_facts(header->trace_path, &facts) == 0)
		live_recover_trace(header->trace_path, &facts, &error);
}

/* False: it could not be opened. */
static bool look_at(int directory, const char *name, const struct stat *traces)
{
	struct gl_header header;
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
			O_NONBLOCK);
	enum fate fate;

	if (fd < 0)
		return false;
	fate = fate_of(fd, traces, &header);
	/* If it cannot be removed, the next run tries again. */
	if (fate == FATE_REMOVED)
		unlinkat(directory, name, 0);
	close(fd);	/* frees the lock for live_recover_trace */
	if (fate == FATE_RECOVERED)
		recover_into(&header);
	return true;
}

void live_cleanup_files(const char *directory, const char *traces)
{
	DIR *names = opendir(directory);
	struct dirent *entry;
	struct stat place;
	int files = 0;

	if (names == NULL)
		return;
	if (stat(traces, &place) != 0)
		memset(&place, 0, sizeof(place));
	for (int i = 0; i < NAMES_MAX && files < FILES_MAX; i++) {
		entry = readdir(names);
		if (entry == NULL)
			break;
		if (fnmatch("gnomon-*-*.live", entry->d_name, 0) == 0)
			files += look_at(dirfd(names), entry->d_name, &place);
	}
	closedir(names);
}
