/*
 * sweep.c: live files outlive everything by design: a recorder that was killed,
 * so that what they hold is to be folded into the trace; and also the trace, if
 * somebody removes it. Then they are removed here.
 *
 * What is read are the names in the directories of live files and the heads of
 * these, not the traces: there may be a hundred thousand of them.
 *
 *  I1  A file stays unless all of this holds: it is ours, its lock is free
 *      (its writer holds it, and a program that lives), no process has the
 *      pid and start time of its program, and at the path of its trace there
 *      is nothing or another trace; and no trace in that directory is the one,
 *      all of which were looked at. The path is the recorder's: who sees other
 *      file systems (a container that shares /dev/shm) knows nothing of it.
 *
 * Called by the main thread.
 */
#include "cli/trace/live/sweep.h"

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
#include "cli/trace/live/fold.h"
#include "cli/trace/live/leftover.h"
#include "cli/trace/live/live_order.h"

/* A run must not take long. Names of a directory are read, of files opened. */
#define NAMES_MAX 200000
#define FILES_MAX 1000

static bool is_of(const char *path, uint64_t trace_id)
{
	struct trace_facts facts;
	struct stat status;

	return lstat(path, &status) == 0 && S_ISREG(status.st_mode) &&
		fold_facts(path, &facts) == 0 &&
		facts.result == SCAN_OPEN_OK && facts.trace_id == trace_id;
}

/* Whether the trace may have another name now, in the directory where it
 * was. */
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
			found = true;	/* nobody knows */
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
	/* What went into a pipe may lie anywhere. */
	return S_ISREG(status.st_mode) &&
		fold_facts(header->trace_path, &facts) == 0 &&
		facts.result != SCAN_OPEN_ERROR &&
		facts.trace_id != header->trace_id;
}

enum fate { FATE_STAYS, FATE_FOLDED, FATE_REMOVED };

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

/* Target and recorder were killed before that one had a trace (its magic is the
 * last that it writes): there is nowhere to fold it into. The target had locked
 * it before it gave it a version. */
static bool never_begun(const struct gl_header *header)
{
	return header->magic == 0 && header->version == GL_VERSION &&
		header->header_size == sizeof(*header);
}

/* traces: the directory whose traces are to be complete. */
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
	    leftover_process_exists(header->pid, header->start_time))
		return FATE_STAYS;
	if (trace_is_gone(header))
		return FATE_REMOVED;
	return lies_in(header, traces) ? FATE_FOLDED : FATE_STAYS;
}

/* What cannot be folded now stays for who reads the trace, and tells why. */
static void fold_into(const struct gl_header *header)
{
	struct trace_facts facts;
	int error;

	if (is_of(header->trace_path, header->trace_id) &&
	    fold_facts(header->trace_path, &facts) == 0)
		fold_trace(header->trace_path, &facts, &error);
}

/* False: it could not even be opened. */
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
	close(fd);	/* and its lock is free for who folds */
	if (fate == FATE_FOLDED)
		fold_into(&header);
	return true;
}

void sweep_live_files(const char *directory, const char *traces)
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
