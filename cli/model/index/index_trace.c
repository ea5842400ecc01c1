/*
 * index_trace.c: see index_trace.h.
 */
#include "cli/model/index/index_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cli/base/io_full.h"
#include "cli/trace/decode/scan.h"
#include "cli/trace/format/trace_format.h"

#define TAIL_BYTES 4096u	/* included in the digest, before `prefix` */
/* Bytes that are sampled to estimate the number of events, at this many places:
 * the start of a program is not typical. */
#define LOOK_BYTES (UINT64_C(16) << 20)
#define LOOK_PLACES 16u
/* In a ring: half of the events are allocations (docs/FORMAT.md). */
#define RING_EVENT_BYTES 20

int index_trace_open(const char *path, struct index_trace *trace)
{
	enum scan_open_result result;
	struct stat status;
	struct scan scan;
	int fd, own;

	/* a pipe must not be opened twice */
	if (stat(path, &status) != 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -ESPIPE;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) != 0) {
		int error = -errno;

		close(fd);
		return error;
	}
	own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own < 0) {
		int error = -errno;

		close(fd);
		return error;
	}
	result = scan_open(&scan, fd);
	*trace = (struct index_trace){
		.fd = own, .trace_id = scan.trace_id,
		.version = (uint32_t)scan.major << 16 | scan.minor,
		.bytes = (uint64_t)status.st_size,
	};
	scan_close(&scan);
	if (result == SCAN_OPEN_OK)
		return 0;
	index_trace_close(trace);
	return -EBADMSG;
}

void index_trace_close(struct index_trace *trace)
{
	close(trace->fd);
	trace->fd = -1;
}

bool index_trace_digest(const struct index_trace *trace, uint64_t prefix,
			uint64_t *digest)
{
	uint8_t head[GT_HEADER_SIZE], tail[TAIL_BYTES];
	uint64_t from = prefix > TAIL_BYTES ? prefix - TAIL_BYTES : 0;
	size_t size = (size_t)(prefix - from);

	if (io_full_read_at(trace->fd, head, sizeof(head), 0) !=
	    (ssize_t)sizeof(head) ||
	    io_full_read_at(trace->fd, tail, size, from) != (ssize_t)size)
		return false;
	*digest = XXH64(tail, size, XXH64(head, sizeof(head), prefix));
	return true;
}

uint64_t index_trace_damage(const struct reader_report *report,
			    uint64_t prefix)
{
	uint64_t digest = 0;

	for (size_t i = 0; i < SCAN_DAMAGE_SHOWN; i++) {
		const struct scan_damage *damage = &report->damage[i];
		const uint64_t words[] = { damage->kind, damage->offset,
					   damage->size };

		/* damage is never in the header: unused entries have offset
		 * 0 */
		if (damage->offset > 0 && damage->offset < prefix)
			digest = XXH64(words, sizeof(words), digest);
	}
	return digest;
}

/* Reads chunks of up to this many bytes; returns the bytes of their ring
 * data. */
static uint64_t look_at(struct scan *scan, uint64_t bytes, uint64_t *seen)
{
	uint64_t ring_bytes = 0, had = 0;
	struct chunk chunk;

	while (had < bytes && scan_next(scan, &chunk)) {
		had += scan->good_end - chunk.offset;
		if (chunk.type == GT_EVENTS)
			ring_bytes += chunk.last - chunk.first;
	}
	*seen += had;
	return ring_bytes;
}

uint64_t index_trace_events(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint64_t ring_bytes, seen = 0, size;
	struct scan scan;
	double share = 1;

	if (fd < 0)
		return 0;
	if (scan_open(&scan, fd) != SCAN_OPEN_OK) {
		scan_close(&scan);
		return 0;
	}
	size = scan.source.file_size;
	ring_bytes = look_at(&scan, size <= LOOK_BYTES ? UINT64_MAX :
			     LOOK_BYTES / LOOK_PLACES, &seen);
	for (unsigned i = 1; i < LOOK_PLACES && size > LOOK_BYTES; i++) {
		uint64_t place = size / LOOK_PLACES * i;

		if (place < scan.source.offset + scan.pending_size)
			continue;	/* in a chunk that was already read */
		scan_jump(&scan, place);
		ring_bytes += look_at(&scan, LOOK_BYTES / LOOK_PLACES, &seen);
	}
	if (seen > 0 && size > LOOK_BYTES)
		share = (double)size / (double)seen;
	scan_close(&scan);
	return (uint64_t)(share * (double)(ring_bytes / RING_EVENT_BYTES));
}
