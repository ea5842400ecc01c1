/*
 * kinship.c: distinguishes traces of this run from traces of earlier runs.
 *
 * A file last written before a process began is older. A file written later may
 * still be of a program that ended just now: then its INFO has that program's
 * start time. Both times are in the kernel's ticks. Equal ticks count as the
 * same run: one trace too many is better than a lost one.
 *
 * Called by the writer.
 */
#include "cli/recorder/process/kinship.h"

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

#define KINSHIP_TICK_NS UINT64_C(10000000)	/* of /proc/PID/stat */
#define KINSHIP_INFO 512	/* bytes that hold INFO's first lines */
#define KINSHIP_READ 4096
#define KINSHIP_ENTRY (GT_PATH_MAX + 64)	/* longest variable compared */

struct kinship_look {
	const char *pattern;
	char entry[KINSHIP_ENTRY];	/* the current variable */
	size_t size;
	bool output, preload;
};

static void kinship_variable(struct kinship_look *look)
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
static void kinship_piece(struct kinship_look *look, const char *piece,
			  size_t n, bool ends)
{
	n = base_min(n, sizeof(look->entry) - 1 - look->size);
	memcpy(look->entry + look->size, piece, n);
	look->size += n;
	if (!ends)
		return;
	look->entry[look->size] = '\0';
	kinship_variable(look);
	look->size = 0;
}

bool kinship_is_child(int pid, const char *pattern)
{
	struct kinship_look look;
	char path[64], buffer[KINSHIP_READ], *at, *end;
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
			kinship_piece(&look, at, end - at, true);
		}
		kinship_piece(&look, at, buffer + n - at, false);
	}
	close(fd);
	return look.output && look.preload;
}

uint64_t kinship_start_ns(int pid)
{
	uint64_t ticks, ago;

	if (!proc_stat(pid, PROC_STAT_STARTTIME, &ticks))
		return 0;
	ago = time_ns_of(CLOCK_BOOTTIME) - ticks * KINSHIP_TICK_NS;
	return time_ns_of(CLOCK_REALTIME) - ago;
}

struct kinship_info {
	uint64_t pid, start_time;
};

static void kinship_line(struct kinship_info *info, const char *line)
{
	static const char pid[] = "pid=", start[] = "starttime=";

	if (strncmp(line, pid, sizeof(pid) - 1) == 0) {
		info->pid = strtoull(line + sizeof(pid) - 1, NULL, 10);
	} else if (strncmp(line, start, sizeof(start) - 1) == 0) {
		info->start_time = strtoull(line + sizeof(start) - 1, NULL, 10);
	}
}

/* False: the file does not begin like a trace. */
static bool kinship_read(int fd, struct kinship_info *info)
{
	char start[KINSHIP_INFO];
	const char *at;
	long n = pread(fd, start, sizeof(start) - 1, 0);

	memset(info, 0, sizeof(*info));
	if (n <= GT_HEADER_SIZE + GT_CHUNK_SIZE ||
	    memcmp(start, GT_MAGIC, GT_MAGIC_SIZE) != 0)
		return false;
	start[n] = '\0';
	for (at = start + GT_HEADER_SIZE + GT_CHUNK_SIZE; *at; at++)
		if (at[-1] == '\n')
			kinship_line(info, at);
	return info->pid && info->start_time;
}

bool kinship_is_own(const char *path, int pid)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct kinship_info info;
	uint64_t start_time;
	struct stat st;
	bool own;

	if (fd < 0)
		return false;
	own = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	      kinship_read(fd, &info) && info.pid == (uint64_t)pid &&
	      proc_stat(pid, PROC_STAT_STARTTIME, &start_time) &&
	      info.start_time == start_time;
	close(fd);
	return own;
}

bool kinship_is_older(int fd, int pid, uint64_t start_ns)
{
	struct kinship_info info;
	uint64_t start_time;
	struct stat st;

	if (fstat(fd, &st))
		return false;
	if (st.st_mtim.tv_sec * (uint64_t)TIME_NS_SECOND +
		    st.st_mtim.tv_nsec <
	    start_ns)
		return true;
	return kinship_read(fd, &info) &&
	       proc_stat(pid, PROC_STAT_STARTTIME, &start_time) &&
	       info.start_time < start_time;
}
