/*
 * live_read.h: reads the live file that a crash left: the events that the
 * recorder had not written to the trace, and the context nodes, images and
 * threads that they refer to. The result is a list of chunks, to be read or
 * appended to the trace. The caller skips ring positions that the trace already
 * has.
 */
#ifndef GNOMON_LIVE_READ_H
#define GNOMON_LIVE_READ_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/base/text/buffer.h"
#include "cli/trace/decode/scan.h"

struct live_read_chunk {
	struct chunk chunk;
	struct buffer payload;
};

struct live_read_snapshot {
	uint64_t trace_id;
	pid_t pid;
	uint64_t start_time;
	uint64_t dropped;
	uint32_t error;		/* errno that ended the recording, or 0 */
	uint64_t damaged_rings;
	struct live_read_chunk *chunks;	/* in reading order */
	size_t count;
	size_t capacity;
};

/*
 * -ENOENT: no such file; -EBADMSG: not a live file, or the program was killed
 * before the file was complete; -ESTALE: it belongs to another trace; or -errno
 * of open.
 */
int live_read_file(const char *path, uint64_t trace_id,
	      struct live_read_snapshot *snapshot);
/* The same for an open file, which stays open. */
int live_read_fd(int fd, uint64_t trace_id,
		 struct live_read_snapshot *snapshot);
void live_read_free(struct live_read_snapshot *snapshot);

/* Does the process with this start time (field 22 of /proc/PID/stat) exist? If
 * the time is unknown (0), use live_read_is_held. */
int live_read_process_exists(pid_t pid, uint64_t start_time);
/* The exit status of a process that has ended but was not waited for yet; -1:
 * unknown. */
int live_read_process_status(pid_t pid, uint64_t start_time);
/* Does a process (program or recorder) have this live file open or mapped? */
int live_read_is_held(const char *path);

#endif
