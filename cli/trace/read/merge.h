/*
 * merge.h: merges the events of many rings into the order of their stamps.
 *
 * Chunks are added in file order and kept compressed until a SYNC chunk says
 * that nothing earlier can follow. Then one chunk of each ring is open at a
 * time, with one batch of its events decoded.
 */
#ifndef GNOMON_MERGE_H
#define GNOMON_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/table.h"
#include "cli/trace/decode/format_errors.h"
#include "cli/trace/decode/records.h"

struct merge_stream;

struct merge_sink {
	void *owner;
	/* A run of events of one ring; `lane`: as passed with their chunk. */
	void (*events)(void *owner, uint32_t lane,
		       const struct trace_event *events, size_t count);
};

/* The first chunk of a ring with events not yet delivered. A later reading of
 * the same file resumes there. */
struct merge_point {
	uint32_t ring, generation;
	uint64_t first;		/* position in the ring at which it begins */
	uint64_t given;		/* events of it that were delivered */
};

struct merge {
	struct merge_sink sink;
	bool extras_only;		/* deliver only GT_EXTRA events */
	bool part;			/* of a trace: rings begin anywhere */
	const _Atomic bool *cancelled;	/* set by another thread; or NULL */
	struct format_errors *errors;		/* for format errors; or NULL */
	struct merge_stream **streams;
	size_t stream_count;
	size_t stream_capacity;
	struct table by_ring;		/* ring -> stream */
	struct merge_stream *unused;	/* free for reuse */
	struct merge_stream **heap;	/* streams that have events to
					 * deliver */
	size_t heap_count;
	size_t heap_capacity;
	struct inflater inflater;
	uint64_t given;			/* events of the next chunk that an
					 * earlier reading delivered */
	uint64_t buffered;		/* bytes of chunks that wait */
	uint64_t open_bytes;		/* of chunks that are being decoded */
	uint64_t taken;			/* bytes of all chunks so far */
	/* for the report */
	uint64_t events;		/* decoded, or skipped */
	uint64_t repeated;		/* bytes of rings skipped:
					 * repetitions */
	uint64_t lost_bytes;		/* bytes of rings that are in no
					 * chunk */
	uint64_t lost_offset;		/* of the first chunk after such a
					 * gap */
	uint64_t bad_chunks;		/* valid checksum, malformed content */
	uint64_t forced;		/* times the buffer was full */
	uint64_t cut;			/* chunks of which too much was pending
					 * at once */
};

void merge_init(struct merge *merge, const struct merge_sink *sink);
/* Copies the payload. `chunk` is an EVENTS chunk; `nested` says whether its
 * ring has records of equal length. */
void merge_add(struct merge *merge, const struct chunk *chunk, uint32_t lane,
	       bool nested);
/* Deliver every event with a stamp below `limit`. */
void merge_run(struct merge *merge, uint64_t limit);
void merge_finish(struct merge *merge);	/* deliver all that is left */
/* Where a later reading can resume: a point for each stream with undelivered
 * events, unordered; the caller frees the list. False: chunks were cut, which
 * have no such points. */
bool merge_points(const struct merge *merge, struct merge_point **points,
		  size_t *count);
void merge_free(struct merge *merge);

/* I1, I2 and I4 of merge.c. With GNOMON_DEBUG_ASSERTS (unwind/base/assertion.h). */
bool merge_is_valid(const struct merge *merge);

#endif
