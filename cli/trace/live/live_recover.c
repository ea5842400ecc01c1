/*
 * live_recover.c: appends the events left in a live file to its trace.
 *
 * A recorder that was killed together with its target leaves a trace without an
 * END chunk, perhaps with half a chunk at its end, and a live file.
 * live_recover_trace takes the trace's lock (flock; the recorder holds it while
 * it lives), reads the chunks, cuts off the torn tail, appends the events at
 * positions that the trace lacks, then END. Only then it removes the live file.
 *
 *  I1  The live file is removed only after everything was written and synced. A
 *      closed part (--limit) names the live file, too, but its events belong to
 *      later parts.
 *  I2  If it is killed at any point, the next attempt completes the work: a
 *      torn chunk is cut off again, chunks already written are skipped by
 *      position.
 *
 * Called by the main thread.
 */
#include "cli/trace/live/live_recover.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/table.h"
#include "cli/base/io_full.h"
#include "cli/trace/decode/records.h"
#include "cli/trace/format/trace_format.h"
#include "cli/trace/live/live_read.h"
#include "cli/trace/write/compose.h"
#include "unwind/base/assertion.h"

#define LAST_WORDS_ROOM 16384	/* COUNTERS and END */
#define INFO_LOOK_CHUNKS 4	/* INFO is the first or among the first */
/* No INFO is searched beyond. Its longest value has 64 KiB. */
#define INFO_LOOK_BYTES (UINT64_C(8) << 20)

static void take_program(struct trace_facts *facts, const char *path)
{
	const char *slash = strrchr(path, '/');

	snprintf(facts->program, sizeof(facts->program), "%s",
		 slash ? slash + 1 : path);
}

static void take_fact(struct trace_facts *facts, const char *key,
		      const char *value)
{
	if (strcmp(key, "pid") == 0)
		facts->pid = (pid_t)strtol(value, NULL, 10);
	else if (strcmp(key, "ppid") == 0)
		facts->parent = (pid_t)strtol(value, NULL, 10);
	else if (strcmp(key, "starttime") == 0)
		facts->start_time = strtoull(value, NULL, 10);
	else if (strcmp(key, "start_realtime_ns") == 0)
		facts->begin_ns = strtoull(value, NULL, 10);
	else if (strcmp(key, "part") == 0)
		facts->part = strtoull(value, NULL, 10);
	else if (strcmp(key, "files_of") == 0)
		facts->companion = true;
	else if (strcmp(key, "exe") == 0)
		take_program(facts, value);
	else if (strcmp(key, "live") == 0)
		snprintf(facts->live, sizeof(facts->live), "%s", value);
}

static void read_info(struct scan *reader, struct trace_facts *facts)
{
	char *line = grow_alloc(RECORDS_LINE_MAX);
	struct inflater inflater = { 0 };
	struct chunk chunk;

	if (reader->source.file_size > INFO_LOOK_BYTES)
		reader->source.file_size = INFO_LOOK_BYTES;
	for (int i = 0; i < INFO_LOOK_CHUNKS; i++) {
		const char *key, *value;
		struct cursor c;

		if (!scan_next(reader, &chunk))
			break;
		if (chunk.type != GT_INFO ||
		    inflater_payload(&inflater, &chunk, &c) != 0)
			continue;
		while (records_line(&c, line, &key, &value))
			take_fact(facts, key, value);
		break;
	}
	inflater_free(&inflater);
	free(line);
}

int live_recover_facts(const char *path, struct trace_facts *facts)
{
	struct scan reader;
	struct stat status;
	int fd;

	memset(facts, 0, sizeof(*facts));
	if (stat(path, &status) != 0)
		return -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	/* A pipe can be read only once: nothing can be read yet. */
	if (!S_ISREG(status.st_mode))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	facts->result = scan_open(&reader, fd);
	facts->error = reader.source.error;
	facts->major = reader.major;
	facts->trace_id = reader.trace_id;
	if (facts->result == SCAN_OPEN_OK)
		read_info(&reader, facts);
	scan_close(&reader);
	return 0;
}

bool live_recover_is_locked(const char *path)
{
	struct stat status;
	bool locked;
	int fd;

	/* Opening and closing a pipe would stop its writer. */
	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	locked = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	close(fd);
	return locked;
}

/* The end of the trace, and the last position of each ring in it. */
struct trace_end {
	struct table rings;		/* ring -> index below */
	struct { uint32_t generation; uint64_t last; } *seen;
	size_t count;
	size_t capacity;
	uint64_t sequence;
	uint64_t good_end;
	bool ended;
	/* An END with a message: the recorder had to stop early, and the rest
	 * is in the live file. A new END is written after that. */
	bool gave_up;
	bool at_exit;			/* and only after the program ended */
	bool at_part;			/* another part continues the
					 * recording */
	struct buffer last_words;	/* END's lines; without the message if
					 * no events are missing any more */
	uint64_t last_offset, last_sequence;	/* of the closing chunks */
	bool closing;
};

static void note_position(struct trace_end *end, const struct chunk *chunk)
{
	uint32_t i = table_get(&end->rings, chunk->ring);

	if (i == TABLE_NONE) {
		GROW(end->seen, end->count, end->capacity);
		i = (uint32_t)end->count++;
		table_set(&end->rings, chunk->ring, i);
		end->seen[i].generation = chunk->generation;
		end->seen[i].last = 0;
	}
	DEBUG_ASSERT(i < end->count);
	if (chunk->generation > end->seen[i].generation) {
		end->seen[i].generation = chunk->generation;
		end->seen[i].last = 0;
	}
	if (chunk->generation == end->seen[i].generation &&
	    chunk->last > end->seen[i].last)
		end->seen[i].last = chunk->last;
}

static bool is_known(const struct trace_end *end, const struct chunk *chunk)
{
	uint32_t i = table_get(&end->rings, chunk->ring);

	if (i == TABLE_NONE || chunk->generation > end->seen[i].generation)
		return false;
	DEBUG_ASSERT(i < end->count);
	return chunk->generation < end->seen[i].generation ||
		chunk->last <= end->seen[i].last;
}

static void read_last_words(struct trace_end *end, const struct chunk *chunk)
{
	char *line = grow_alloc(RECORDS_LINE_MAX);
	struct inflater inflater = { 0 };
	const char *key, *value;
	struct buffer message = { 0 };
	struct cursor c;

	buffer_clear(&end->last_words);
	if (inflater_payload(&inflater, chunk, &c) == 0)
		while (records_line(&c, line, &key, &value)) {
			bool is_message = strcmp(key, "message") == 0;

			if (strcmp(key, "reason") == 0)
				end->at_part = strcmp(value, "part") == 0;
			if (strcmp(key, "reason") == 0)
				end->at_exit = strcmp(value, "exit") == 0 ||
					strcmp(value, "exec") == 0;
			compose_line(is_message ? &message : &end->last_words,
				     key, value);
		}
	end->gave_up = message.size > 0;
	if (!end->at_exit && message.size > 0)
		buffer_add(&end->last_words, message.data, message.size);
	buffer_free(&message);
	inflater_free(&inflater);
	free(line);
}

/* Note the place of COUNTERS and END, the last two chunks. */
static void note_closing(struct trace_end *end, const struct chunk *chunk)
{
	bool closing = chunk->type == GT_COUNTERS || chunk->type == GT_END;

	if (closing && !end->closing) {
		end->last_offset = chunk->offset;
		end->last_sequence = chunk->sequence;
	}
	end->closing = closing;
	if (chunk->type == GT_END)
		read_last_words(end, chunk);
}

static int walk_trace(int fd, struct trace_end *end)
{
	struct scan reader;
	struct chunk chunk;
	int copy = dup(fd);

	if (copy < 0)
		return -errno;
	if (lseek(copy, 0, SEEK_SET) < 0 ||
	    scan_open(&reader, copy) != SCAN_OPEN_OK) {
		close(copy);
		return -EBADMSG;
	}
	while (scan_next(&reader, &chunk)) {
		end->ended = chunk.type == GT_END;
		if (chunk.type == GT_EVENTS)
			note_position(end, &chunk);
		note_closing(end, &chunk);
	}
	end->sequence = reader.sequence;
	end->good_end = reader.good_end;
	scan_close(&reader);
	return 0;
}

static int append(int fd, struct trace_end *end, struct chunk *chunk,
		  const struct buffer *payload, uint64_t trace_id)
{
	struct buffer bytes = { 0 };
	int error;

	assert(end->good_end >= GT_HEADER_SIZE);
	chunk->sequence = end->sequence++;
	compose_chunk(&bytes, chunk, trace_id, payload);
	error = io_full_write_at(fd, bytes.data, bytes.size, end->good_end);
	end->good_end += bytes.size;
	buffer_free(&bytes);
	return error;
}

/* The END for a recorder that was killed, or had no room for its own. */
static void compose_end(struct buffer *payload,
			const struct live_read_snapshot *live)
{
	uint32_t stopped = live->error;
	char message[128];
	int status;

	compose_line(payload, "reason", stopped ? "stopped" : "killed");
	if (!stopped) {
		status = live_read_process_status(live->pid, live->start_time);
		snprintf(message, sizeof(message), "%d", status);
		if (status >= 0)
			compose_line(payload, "exit_code", message);
		return;
	}
	snprintf(message, sizeof(message),
		 "the trace could not be written: %s: recording has stopped",
		 strerror((int)stopped));
	compose_line(payload, "message", message);
}

/* The closing chunks of the recorder, as far as their values are known. */
static int append_end(int fd, struct trace_end *end,
		      const struct live_read_snapshot *live)
{
	struct chunk chunk = { .type = GT_COUNTERS };
	struct buffer payload = { 0 };
	char number[24];
	int error;

	snprintf(number, sizeof(number), "%" PRIu64, live->dropped);
	compose_line(&payload, "dropped", number);
	error = append(fd, end, &chunk, &payload, live->trace_id);
	buffer_free(&payload);
	if (error != 0)
		return error;
	chunk.type = GT_END;
	if (end->gave_up)
		buffer_add(&payload, end->last_words.data,
			   end->last_words.size);
	else
		compose_end(&payload, live);
	error = append(fd, end, &chunk, &payload, live->trace_id);
	buffer_free(&payload);
	return error;
}

static bool is_missing(const struct trace_end *end,
		       const struct live_read_chunk *item)
{
	return item->payload.size > 0 &&
		(item->chunk.type != GT_EVENTS ||
		 !is_known(end, &item->chunk));
}

/* Reserve room for all before the trace is changed. If the file system cannot
 * reserve, try without. */
static int reserve(int fd, const struct trace_end *end,
		   const struct live_read_snapshot *live)
{
	uint64_t room = LAST_WORDS_ROOM;

	for (size_t i = 0; i < live->count; i++)
		if (is_missing(end, &live->chunks[i]))
			room += GT_CHUNK_SIZE + live->chunks[i].payload.size;
	if (fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)end->good_end,
		      (off_t)room) == 0 || errno == EOPNOTSUPP)
		return 0;
	return -errno;
}

static int append_all(int fd, struct trace_end *end,
		      struct live_read_snapshot *live)
{
	int error;

	if (end->ended && !end->gave_up)
		return 0;	/* only the removal was not done */
	if (end->ended) {
		assert(end->last_offset >= GT_HEADER_SIZE &&
		       end->last_offset < end->good_end);
		end->good_end = end->last_offset;
		end->sequence = end->last_sequence;
	}
	error = reserve(fd, end, live);
	if (error == 0 && ftruncate(fd, (off_t)end->good_end) != 0)
		error = -errno;
	for (size_t i = 0; i < live->count && error == 0; i++) {
		struct live_read_chunk *item = &live->chunks[i];

		if (is_missing(end, item))
			error = append(fd, end, &item->chunk, &item->payload,
				       live->trace_id);
	}
	if (error == 0)
		error = append_end(fd, end, live);
	/* Free what was reserved and not used. */
	if (error == 0 && ftruncate(fd, (off_t)end->good_end) != 0)
		error = -errno;
	if (error == 0 && fdatasync(fd) != 0)
		error = -errno;
	return error;
}

/* A thread of the target may still write to the rings. */
static bool is_in_use(const char *path, const struct live_read_snapshot *live)
{
	if (live->start_time == 0)
		return live_read_is_held(path);
	return live_read_process_exists(live->pid, live->start_time);
}

static enum live_recover_result
live_recover_locked(int fd, const struct trace_facts *facts, int *error)
{
	struct trace_end end = { 0 };
	struct live_read_snapshot live = { 0 };
	enum live_recover_result result = LIVE_RECOVER_FAILED;

	*error = walk_trace(fd, &end);
	if (*error == 0 && !(end.ended && end.at_part))
		*error = live_read_file(facts->live, facts->trace_id, &live);
	if (*error == -ENOENT || *error == -ESTALE ||
	    (end.ended && end.at_part)) {
		result = LIVE_RECOVER_NONE;
	} else if (*error == 0 && is_in_use(facts->live, &live)) {
		result = LIVE_RECOVER_BUSY;
	} else if (*error == 0) {
		*error = append_all(fd, &end, &live);
		if (*error == 0 && unlink(facts->live) != 0)
			*error = -errno;
		if (*error == 0)
			result = LIVE_RECOVER_DONE;
	}
	live_read_free(&live);
	table_free(&end.rings);
	buffer_free(&end.last_words);
	free(end.seen);
	return result;
}

enum live_recover_result live_recover_trace(const char *path,
					    const struct trace_facts *facts,
					    int *error)
{
	enum live_recover_result result;
	int fd;

	*error = 0;
	if (facts->live[0] == 0 || access(facts->live, F_OK) != 0)
		return live_recover_is_locked(path) ? LIVE_RECOVER_BUSY
						    : LIVE_RECOVER_NONE;
	fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		*error = -errno;
		return live_recover_is_locked(path) ? LIVE_RECOVER_BUSY
						    : LIVE_RECOVER_FAILED;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		*error = -errno;
		result = errno == EWOULDBLOCK ? LIVE_RECOVER_BUSY
					      : LIVE_RECOVER_FAILED;
	} else {
		result = live_recover_locked(fd, facts, error);
	}
	close(fd);
	return result;
}
