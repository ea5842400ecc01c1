/*
 * trace_owner.c: distinguishes traces of this run from traces of earlier runs.
 *
 * A file last written before a process began is older. A file written later may
 * still be of a program that ended just now: then its INFO has that program's
 * start time. Both times are in the kernel's ticks. Equal ticks count as the
 * same run: one trace too many is better than a lost one.
 *
 * Called by the recorder.
 */
#include "cli/recorder/process/trace_owner.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/recorder/base/proc_stat.h"
#include "cli/recorder/base/time_ns.h"
#include "cli/trace/format/trace_format.h"
#include "preload/base/base.h"

#define TRACE_OWNER_TICK_NS UINT64_C(10000000)	/* of /proc/PID/stat */
#define TRACE_OWNER_INFO 512	/* bytes that hold INFO's first lines */
#define TRACE_OWNER_READ 4096
#define TRACE_OWNER_ENTRY (GT_PATH_MAX + 64)	/* longest variable compared */

struct trace_owner_read_trace {
	const char *pattern;
	char entry[TRACE_OWNER_ENTRY];	/* the current variable */
	size_t size;
	bool output, preload;
};

static void trace_owner_variable(struct trace_owner_read_trace *look)
{
	const char *entry = look->entry;
	static const char output[] = "GNOMON_OUTPUT=";
	static const char preload[] = "LD_PRELOAD=";

	if (strncmp(entry, output, sizeof(output) - 1) == 0)
		look->output = strcmp(entry + sizeof(output) - 1,
				      look->pattern) == 0;
	else if (strncmp(entry, preload, sizeof(preload) - 1) == 0)
		look->preload = entry[sizeof(preload) - 1] != '\0';
}

/* Adds a piece of a variable, perhaps its last; a long variable is
 * truncated. */
static void trace_owner_piece(struct trace_owner_read_trace *look,
			      const char *piece, size_t n, bool ends)
{
	n = base_min(n, sizeof(look->entry) - 1 - look->size);
	memcpy(look->entry + look->size, piece, n);
	look->size += n;
	if (!ends)
		return;
	look->entry[look->size] = '\0';
	trace_owner_variable(look);
	look->size = 0;
}

bool trace_owner_is_child(int pid, const char *pattern)
{
	struct trace_owner_read_trace look;
	char path[64], buffer[TRACE_OWNER_READ], *at, *end;
	uint64_t parent;
	long fd, n;

	if (!proc_stat(pid, PROC_STAT_PPID, &parent))
		return false;
	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/environ", parent);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;	/* of another user, or ended */
	look.pattern = pattern;
	look.size = 0;
	look.output = look.preload = false;
	while ((n = read(fd, buffer, sizeof(buffer))) > 0) {
		for (at = buffer; at < buffer + n; at = end + 1) {
			end = memchr(at, '\0', buffer + n - at);
			if (!end)
				break;
			trace_owner_piece(&look, at, end - at, true);
		}
		trace_owner_piece(&look, at, buffer + n - at, false);
	}
	close(fd);
	return look.output && look.preload;
}

uint64_t trace_owner_start_ns(int pid)
{
	uint64_t ticks, ago;

	if (!proc_stat(pid, PROC_STAT_STARTTIME, &ticks))
		return 0;
	ago = time_ns_of(CLOCK_BOOTTIME) - ticks * TRACE_OWNER_TICK_NS;
	return time_ns_of(CLOCK_REALTIME) - ago;
}

struct trace_owner_info {
	uint64_t pid, start_time;
};

static void trace_owner_line(struct trace_owner_info *info, const char *line)
{
	static const char pid[] = "pid=", start[] = "starttime=";

	if (strncmp(line, pid, sizeof(pid) - 1) == 0) {
		info->pid = strtoull(line + sizeof(pid) - 1, NULL, 10);
	} else if (strncmp(line, start, sizeof(start) - 1) == 0) {
		info->start_time = strtoull(line + sizeof(start) - 1, NULL, 10);
	}
}

/* False: the file does not begin like a trace. */
static bool trace_owner_read(int fd, struct trace_owner_info *info)
{
	char start[TRACE_OWNER_INFO];
	const char *at;
	long n = pread(fd, start, sizeof(start) - 1, 0);

	memset(info, 0, sizeof(*info));
	if (n <= GT_HEADER_SIZE + GT_CHUNK_SIZE ||
	    memcmp(start, GT_MAGIC, GT_MAGIC_SIZE) != 0)
		return false;
	start[n] = '\0';
	for (at = start + GT_HEADER_SIZE + GT_CHUNK_SIZE; *at; at++)
		if (at[-1] == '\n')
			trace_owner_line(info, at);
	return info->pid && info->start_time;
}

bool trace_owner_is_own(const char *path, int pid)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct trace_owner_info info;
	uint64_t start_time;
	struct stat st;
	bool own;

	if (fd < 0)
		return false;
	own = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	      trace_owner_read(fd, &info) && info.pid == (uint64_t)pid &&
	      proc_stat(pid, PROC_STAT_STARTTIME, &start_time) &&
	      info.start_time == start_time;
	close(fd);
	return own;
}

bool trace_owner_is_older(int fd, int pid, uint64_t start_ns)
{
	struct trace_owner_info info;
	uint64_t start_time;
	struct stat st;

	if (fstat(fd, &st))
		return false;
	if (st.st_mtim.tv_sec * (uint64_t)TIME_NS_SECOND +
		    st.st_mtim.tv_nsec <
	    start_ns)
		return true;
	return trace_owner_read(fd, &info) &&
	       proc_stat(pid, PROC_STAT_STARTTIME, &start_time) &&
	       info.start_time < start_time;
}
