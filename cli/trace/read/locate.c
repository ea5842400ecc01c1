/*
 * locate.c: see locate.h. A trace is recognised by its first bytes: --output
 * may have given it any name. Called by the main thread.
 *
 *  I1  A directory entry is opened only if it is a regular file, and with
 *      O_NONBLOCK: it may be replaced by a pipe at any time.
 */
#include "cli/trace/read/locate.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/trace/format/trace_format.h"
#include "cli/trace/live/live_recover.h"
#include "cli/trace/live/live_read.h"
#include "cli/trace/live/live_order.h"

#define MAPS_LINE (GT_PATH_MAX + 256)	/* of /proc/PID/maps */

struct found {
	char *path;
	struct timespec written;
};

struct found_list {
	struct found *list;
	size_t count;
	size_t capacity;
};

bool locate_is_trace(const char *path)
{
	char magic[GT_MAGIC_SIZE];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	bool is;

	if (fd < 0)
		return false;
	is = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
		pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
		memcmp(magic, GT_MAGIC, sizeof(magic)) == 0;
	close(fd);
	return is;
}

/* Whether it is a trace that can be read by itself. */
static bool is_whole_trace(const char *path)
{
	struct trace_facts facts;
	const char *end = strrchr(path, '.');

	return locate_is_trace(path) &&
		(end == NULL || strcmp(end, ".files") != 0 ||
		 live_recover_facts(path, &facts) != 0 || !facts.companion);
}

static char *join(const char *directory, const char *name)
{
	size_t size = strlen(directory);

	if (strcmp(directory, ".") == 0)
		return grow_copy(name, strlen(name));
	return grow_format("%s%s%s", directory, size > 0 &&
			   directory[size - 1] == '/' ? "" : "/", name);
}

bool locate_is_part(const char *name)
{
	const char *end = strrchr(name, '.');

	if (end == NULL)
		return false;
	if (strcmp(end, ".next") == 0)
		return true;
	return strncmp(end, ".part", 5) == 0 && end[5] != 0 &&
		end[5 + strspn(end + 5, "0123456789")] == 0;
}

/* All regular files, of any content. 0 or -errno. */
static int list_files(const char *directory, struct found_list *files,
		      bool *more)
{
	DIR *names = opendir(directory);
	struct dirent *entry;

	*more = false;
	if (names == NULL)
		return -errno;
	while ((entry = readdir(names)) != NULL) {
		struct found *file;
		struct stat status;

		if (locate_is_part(entry->d_name) ||
		    fstatat(dirfd(names), entry->d_name, &status, 0) != 0 ||
		    !S_ISREG(status.st_mode))
			continue;
		if (files->count == LOCATE_MAX) {
			*more = true;
			break;
		}
		GROW(files->list, files->count, files->capacity);
		file = &files->list[files->count++];
		file->path = join(directory, entry->d_name);
		file->written = status.st_mtim;
	}
	closedir(names);
	return 0;
}

static void free_files(struct found_list *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->list[i].path);
	free(files->list);
}

/* Newest first. If equal, the last by name: counters in names go up. */
static int by_age(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->written.tv_sec != y->written.tv_sec)
		return x->written.tv_sec > y->written.tv_sec ? -1 : 1;
	if (x->written.tv_nsec != y->written.tv_nsec)
		return x->written.tv_nsec > y->written.tv_nsec ? -1 : 1;
	return -strcmp(x->path, y->path);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct found *)a)->path,
		      ((const struct found *)b)->path);
}

static void sort_files(struct found_list *files,
		       int (*compare)(const void *, const void *))
{
	if (files->count > 0)
		qsort(files->list, files->count, sizeof(*files->list),
		      compare);
}

/* The newest for which `wanted` returns true, or NULL. */
static char *newest(const char *directory,
		    bool (*wanted)(const char *path, pid_t pid), pid_t pid)
{
	struct found_list files = { 0 };
	char *path = NULL;
	bool more;

	if (list_files(directory, &files, &more) != 0)
		return NULL;
	sort_files(&files, by_age);
	for (size_t i = 0; i < files.count && path == NULL; i++)
		if (is_whole_trace(files.list[i].path) &&
		    wanted(files.list[i].path, pid)) {
			path = files.list[i].path;
			files.list[i].path = NULL;
		}
	free_files(&files);
	return path;
}

static bool any(const char *path, pid_t pid)
{
	(void)path, (void)pid;
	return true;
}

char *locate_newest(const char *directory)
{
	return newest(directory, any, 0);
}

int locate_all(const char *directory, char ***paths, size_t *count,
	       bool *more)
{
	struct found_list files = { 0 };
	int error = list_files(directory, &files, more);

	*paths = NULL;
	*count = 0;
	if (error != 0)
		return error;
	sort_files(&files, by_name);
	*paths = grow_zeroed(files.count + 1, sizeof(**paths));
	for (size_t i = 0; i < files.count; i++)
		if (is_whole_trace(files.list[i].path)) {
			(*paths)[(*count)++] = files.list[i].path;
			files.list[i].path = NULL;
		}
	assert(*count <= files.count);
	free_files(&files);
	return 0;
}

/* ---- of a process ---- */

static bool is_of_process(const char *path, pid_t pid)
{
	struct trace_facts facts;

	return live_recover_facts(path, &facts) == 0 &&
		facts.result == SCAN_OPEN_OK && facts.pid == pid;
}

static bool is_recording_process(const char *path, pid_t pid)
{
	struct trace_facts facts;

	return live_recover_facts(path, &facts) == 0 &&
		facts.result == SCAN_OPEN_OK && facts.pid == pid &&
		live_recover_is_locked(path);
}

static bool is_this_one(const char *path, uint64_t trace_id)
{
	struct trace_facts facts;

	return live_recover_facts(path, &facts) == 0 &&
		facts.result == SCAN_OPEN_OK && facts.trace_id == trace_id;
}

/* The trace that the live file names. The path is as the recorded process sees
 * it; its file system may differ from ours. */
static char *trace_of_live(const char *live, pid_t pid)
{
	struct gl_header header;
	int fd = open(live, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *path;
	ssize_t n;

	if (fd < 0)
		return NULL;
	n = pread(fd, &header, sizeof(header), 0);
	close(fd);
	if (n != (ssize_t)sizeof(header))
		return NULL;
	live_order_header(&header);
	if (header.magic != GL_MAGIC || header.version != GL_VERSION ||
	    header.trace_path[0] != '/' ||
	    memchr(header.trace_path, 0, sizeof(header.trace_path)) == NULL)
		return NULL;
	if (is_this_one(header.trace_path, header.trace_id))
		return grow_copy(header.trace_path,
				 strlen(header.trace_path));
	path = grow_format("/proc/%d/root%s", (int)pid, header.trace_path);
	if (is_this_one(path, header.trace_id))
		return path;
	free(path);
	return NULL;
}

/* A line of /proc/PID/maps that names a live file: the file's path in it. */
static const char *live_name(char *line)
{
	char *path = strchr(line, '/'), *slash;

	if (path == NULL)
		return NULL;
	path[strcspn(path, "\n")] = 0;
	slash = strrchr(path, '/');
	assert(slash != NULL);
	return fnmatch("gnomon-*-*.live", slash + 1, 0) == 0 ? path : NULL;
}

/* NULL if it has none; NULL and -errno in *error if its maps cannot be read. */
static char *trace_of_maps(pid_t pid, int *error)
{
	char line[MAPS_LINE];
	char *list = grow_format("/proc/%d/maps", (int)pid), *trace = NULL;
	FILE *maps = fopen(list, "re");

	free(list);
	if (maps == NULL) {
		*error = errno == ENOENT ? -ESRCH : -errno;
		return NULL;
	}
	*error = -ENOENT;
	while (trace == NULL && fgets(line, sizeof(line), maps) != NULL) {
		const char *path = live_name(line);
		char *live;

		if (path == NULL)
			continue;
		live = grow_format("/proc/%d/root%s", (int)pid, path);
		trace = trace_of_live(live, pid);
		free(live);
	}
	/* A process that has ended in the meantime has no mappings. */
	if (ferror(maps))
		*error = -ESRCH;
	fclose(maps);
	return trace;
}

char *locate_process(pid_t pid, int *error)
{
	char *trace = trace_of_maps(pid, error);

	if (trace == NULL)
		trace = newest(".", is_recording_process, pid);
	if (trace == NULL)
		trace = newest(".", is_of_process, pid);
	if (trace != NULL)
		*error = 0;
	return trace;
}
