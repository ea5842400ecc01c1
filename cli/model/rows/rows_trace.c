/*
 * rows_trace.c: see rows_trace.h.
 */
#include "cli/model/rows/rows_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cli/base/whole.h"
#include "cli/trace/decode/scan.h"
#include "cli/trace/format/trace_format.h"

#define TAIL_BYTES 4096u	/* that the digest is made of, before its end */
/* Bytes that are looked at to tell how many events there are. */
#define LOOK_BYTES (UINT64_C(16) << 20)
/* Of a ring: half the events are allocations (docs/FORMAT.md). */
#define RING_EVENT_BYTES 20

int rows_trace_open(const char *path, struct rows_trace *trace)
{
	enum scan_open_result result;
	struct stat status;
	struct scan scan;
	int fd, own;

	/* a pipe must not be opened once more */
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
	*trace = (struct rows_trace){
		.fd = own, .trace_id = scan.trace_id,
		.version = (uint32_t)scan.major << 16 | scan.minor,
		.bytes = (uint64_t)status.st_size,
	};
	scan_close(&scan);
	if (result == SCAN_OPEN_OK)
		return 0;
	rows_trace_close(trace);
	return -EBADMSG;
}

void rows_trace_close(struct rows_trace *trace)
{
	close(trace->fd);
	trace->fd = -1;
}

bool rows_trace_digest(const struct rows_trace *trace, uint64_t prefix,
		       uint64_t *digest)
{
	uint8_t head[GT_HEADER_SIZE], tail[TAIL_BYTES];
	uint64_t from = prefix > TAIL_BYTES ? prefix - TAIL_BYTES : 0;
	size_t size = (size_t)(prefix - from);

	if (whole_read_at(trace->fd, head, sizeof(head), 0) !=
	    (ssize_t)sizeof(head) ||
	    whole_read_at(trace->fd, tail, size, from) != (ssize_t)size)
		return false;
	*digest = XXH64(tail, size, XXH64(head, sizeof(head), prefix));
	return true;
}

uint64_t rows_trace_damage(const struct reader_report *report,
			   uint64_t prefix)
{
	uint64_t digest = 0;

	for (size_t i = 0; i < SCAN_DAMAGE_SHOWN; i++) {
		const struct scan_damage *damage = &report->damage[i];
		const uint64_t words[] = { damage->kind, damage->offset,
					   damage->size };

		/* none is in the header: places that are not used have 0 */
		if (damage->offset > 0 && damage->offset < prefix)
			digest = XXH64(words, sizeof(words), digest);
	}
	return digest;
}

uint64_t rows_trace_events(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint64_t ring_bytes = 0, seen;
	struct chunk chunk;
	struct scan scan;
	double share = 1;

	if (fd < 0)
		return 0;
	if (scan_open(&scan, fd) == SCAN_OPEN_OK)
		while (scan.good_end < LOOK_BYTES && scan_next(&scan, &chunk))
			if (chunk.type == GT_EVENTS)
				ring_bytes += chunk.last - chunk.first;
	seen = scan.good_end;
	if (seen >= LOOK_BYTES)
		share = (double)scan.source.file_size / (double)seen;
	scan_close(&scan);
	return (uint64_t)(share * (double)(ring_bytes / RING_EVENT_BYTES));
}
