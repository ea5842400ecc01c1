/*
 * chunk.c: framing, checksum, and write. The recorder only.
 *
 * I1: out->size covers complete chunks only; after a failure the file is
 *     truncated to it.
 * I2: a chunk is only begun if out->last bytes are free after it, for the
 *     chunks that say how the recording ended. They are reserved on disk if the
 *     file system can do that, and within the file size limit (RLIMIT_FSIZE).
 */
#include "cli/recorder/emit/chunk.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/recorder/base/result.h"
#include "cli/recorder/base/zeroed.h"
#include "preload/base/base.h"
#include "cli/recorder/base/xxh64.h"
#include "unwind/base/assertion.h"

#define CHUNK_LAST_WORDS (16u << 10)	/* SYNC, COUNTERS, END … */
#define CHUNK_END_WORDS 512		/* of these, for END */
#define CHUNK_LAST_SHARE 8	/* … or this fraction of a limit */
#define CHUNK_AHEAD (64u << 10)	/* reserved at a time */

static uint8_t *chunk_put(uint8_t *to, uint64_t value, unsigned bytes)
{
	DEBUG_ASSERT(bytes <= sizeof(value));
	for (; bytes; bytes--, value >>= 8)
		*to++ = value;
	return to;
}

static int chunk_bytes(struct chunk_out *out, const uint8_t *data, size_t n)
{
	while (n) {
		long done = result_of(write(out->fd, data, n));

		if (done == -EINTR || done == -EAGAIN)
			continue;
		if (done <= 0)
			return done ? done : -EIO;
		assert((size_t)done <= n);
		data += done;
		n -= done;
	}
	return 0;
}

static int chunk_allocate(const struct chunk_out *out, uint64_t to)
{
	long err;

	assert(to > out->reserved);	/* I2 */
	do
		err = result_of(fallocate(out->fd, FALLOC_FL_KEEP_SIZE,
					  out->reserved, to - out->reserved));
	while (err == -EINTR);
	return err;
}

/* Reads the file size limit, and sets the bytes kept for closing chunks. */
static void chunk_limit(struct chunk_out *out)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };

	/* unknown: no limit */
	getrlimit(RLIMIT_FSIZE, &limit);
	out->limit = out->regular ? limit.rlim_cur : RLIM_INFINITY;
	out->last = base_min(out->limit / CHUNK_LAST_SHARE, CHUNK_LAST_WORDS);
}

/* I2. Some file systems cannot reserve: then a full disk may cost END. */
static int chunk_reserve(struct chunk_out *out, size_t n, bool is_end)
{
	uint64_t end = out->start + out->size + n;
	int err;

	if (out->last_words)
		return !is_end && end + base_min(out->last, CHUNK_END_WORDS) >
					  out->limit ? -EFBIG : 0;
	end += out->last;
	if (end > out->limit)
		return -EFBIG;
	if (!out->reserves || end <= out->reserved)
		return 0;
	if (!out->reserved)
		out->reserved = out->start + out->size;
	if (chunk_allocate(out, end + CHUNK_AHEAD) == 0) {
		out->reserved = end + CHUNK_AHEAD;
		return 0;
	}
	err = chunk_allocate(out, end);
	if (!err)
		out->reserved = end;
	else if (err == -EOPNOTSUPP || err == -ENOSYS || err == -ENODEV)
		out->reserves = false;
	return out->reserves ? err : 0;
}

static int chunk_emit(struct chunk_out *out, size_t n, bool is_end)
{
	bool torn;
	int err;

	assert(n <= GT_CHUNK_SIZE + out->room);
	if (out->err)
		return out->err;
	err = chunk_reserve(out, n, is_end);
	torn = !err;
	DEBUG_ASSERT(err || out->last_words || !out->reserves ||
		     out->reserved >= out->start + out->size + n); /* I2 */
	if (!err)
		err = chunk_bytes(out, out->buffer, n);
	if (!err) {
		out->size += n;
		DEBUG_ASSERT(chunk_out_is_valid(out));
		return 0;
	}
	/* after a closing chunk that did not fit, a shorter one may fit */
	if (!out->last_words)
		out->err = err;
	if (torn && out->regular) {
		/* I1; if even this fails, the reader stops at the torn chunk */
		ftruncate(out->fd, out->start + out->size);
		lseek(out->fd, out->start + out->size, SEEK_SET);
	}
	return err;
}

int chunk_begin(struct chunk_out *out, int fd)
{
	struct xxh64 hash;
	struct stat st;
	uint8_t *at;
	long start;

	out->fd = fd;
	out->sequence = out->start = out->size = out->reserved = 0;
	out->regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	if (out->regular) {
		start = lseek(fd, 0, SEEK_CUR);
		out->start = start > 0 ? start : 0;
	}
	chunk_limit(out);
	memcpy(out->buffer, GT_MAGIC, GT_MAGIC_SIZE);
	at = chunk_put(out->buffer + GT_MAGIC_SIZE, GT_MAJOR, 2);
	at = chunk_put(at, GT_MINOR, 2);
	at = chunk_put(at, GT_HEADER_SIZE, 4);
	at = chunk_put(at, out->trace_id, 8);
	xxh64_init(&hash, 0);
	xxh64_update(&hash, out->buffer, at - out->buffer);
	at = chunk_put(at, xxh64_digest(&hash), 8);
	assert(at - out->buffer == GT_HEADER_SIZE);
	return chunk_emit(out, at - out->buffer, false);
}

int chunk_open(struct chunk_out *out, int fd, uint64_t trace_id, size_t room)
{
	memset(out, 0, sizeof(*out));
	out->trace_id = trace_id;
	out->room = room;
	out->buffer = zeroed_alloc(GT_CHUNK_SIZE + room);
	return out->buffer ? chunk_begin(out, fd) : -ENOMEM;
}

int chunk_write(struct chunk_out *out, enum gt_chunk_type type,
		const uint8_t *end, const struct chunk_range *range)
{
	static const struct chunk_range none;
	uint8_t *payload = chunk_payload(out);
	size_t n = end - payload;
	struct xxh64 hash;
	uint8_t *at;
	int err;

	assert(end >= payload && n <= out->room && type < GT_CHUNK_TYPES);
	DEBUG_ASSERT(chunk_out_is_valid(out));
	if (!range)
		range = &none;
	assert(range->first <= range->last);
	at = chunk_put(out->buffer, GT_CHUNK_MAGIC, 4);
	at = chunk_put(at, type, 2);
	at = chunk_put(at, 0, 2);	/* flags: columns compress alone */
	at = chunk_put(at, n, 4);
	at = chunk_put(at, n, 4);
	at = chunk_put(at, range->ring, 4);
	at = chunk_put(at, range->generation, 4);
	at = chunk_put(at, range->first, 8);
	at = chunk_put(at, range->last, 8);
	at = chunk_put(at, out->sequence, 8);
	xxh64_init(&hash, out->trace_id);
	xxh64_update(&hash, out->buffer, at - out->buffer);
	xxh64_update(&hash, payload, n);
	assert(at - out->buffer + 8 == GT_CHUNK_SIZE);
	chunk_put(at, xxh64_digest(&hash), 8);
	err = chunk_emit(out, GT_CHUNK_SIZE + n, type == GT_END);
	if (err)
		return err;
	out->sequence++;
	out->bytes[type] += GT_CHUNK_SIZE + n;
	return 0;
}

void chunk_close(struct chunk_out *out)
{
	/* space that stays reserved is lost to other files */
	if (out->reserves)
		ftruncate(out->fd, out->start + out->size);
}

#ifdef GNOMON_DEBUG_ASSERTS
bool chunk_out_is_valid(const struct chunk_out *out)
{
	return out->buffer && out->err <= 0 &&
	       (out->size == 0 || out->size >= GT_HEADER_SIZE) &&
	       out->sequence * GT_CHUNK_SIZE <= out->size &&
	       out->last <= CHUNK_LAST_WORDS &&
	       (!out->reserved || out->reserved >= out->start);
}
#endif
