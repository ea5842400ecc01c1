/*
 * leftover.h: what a live file holds that its trace may not: the events that the
 * writer had not written yet, and the context nodes, images and threads that
 * they refer to. They come out as chunks, ready to be read or to be appended
 * to the trace; whoever takes them skips positions that the trace has.
 */
#ifndef GNOMON_LEFTOVER_H
#define GNOMON_LEFTOVER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/base/text/buffer.h"
#include "cli/trace/decode/scan.h"

struct leftover_chunk {
	struct chunk chunk;
	struct buffer payload;
};

struct leftover_snapshot {
	uint64_t trace_id;
	pid_t pid;
	uint64_t start_time;
	uint64_t dropped;
	uint32_t error;		/* errno that ended the recording, or 0 */
	uint64_t damaged_rings;
	struct leftover_chunk *chunks;	/* in the order to be read */
	size_t count;
	size_t capacity;
};

/*
 * -ENOENT: no such file; -EBADMSG: not a live file, or its maker was killed
 * before it was complete; -ESTALE: of another trace; or errno of open.
 */
int leftover_read(const char *path, uint64_t trace_id,
	      struct leftover_snapshot *snapshot);
/* The same for an open file, which stays open. */
int leftover_read_fd(int fd, uint64_t trace_id,
		     struct leftover_snapshot *snapshot);
void leftover_free(struct leftover_snapshot *snapshot);

/* Is the process with this start time (field 22 of /proc/PID/stat) there? Of
 * an unknown one (0) the live file's lock tells (leftover_is_held). */
int leftover_process_exists(pid_t pid, uint64_t start_time);
/* The status of one that has ended, and was not waited for yet; -1: it is not
 * known. */
int leftover_process_status(pid_t pid, uint64_t start_time);
/* Has anybody this live file open, or mapped: a program, or its writer? */
int leftover_is_held(const char *path);

#endif
