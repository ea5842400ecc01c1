/*
 * threads.h: the threads of the target and the rings that they write to.
 */
#ifndef GNOMON_THREADS_H
#define GNOMON_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/table.h"
#include "cli/trace/records.h"

#define THREAD_NAME_BYTES 16	/* the kernel's limit, with the NUL */

struct thread {
	uint32_t tid;
	uint32_t flags;		/* enum gt_thread_flags of its first ring */
	uint64_t start;		/* stamp */
	uint64_t end;		/* stamp; 0: not ended */
	uint64_t allocations;	/* so far: numbers its blocks */
	char name[THREAD_NAME_BYTES];
	bool described;		/* `capture` holds */
	struct trace_capture capture;
};

struct ring_use {
	uint32_t thread;
	bool nested;
	bool ended;
	uint64_t start;
};

struct threads {
	struct thread *list;	/* 0 is "unknown" */
	size_t count;
	size_t capacity;
	struct ring_use *rings;
	size_t ring_count;
	size_t ring_capacity;
	struct table by_ring;
	struct table by_tid;	/* tid -> latest thread that had it */
};

void threads_init(struct threads *threads);
void threads_record(struct threads *threads,
		    const struct trace_thread *record);
void threads_capture(struct threads *threads,
		     const struct trace_capture *record);
/* The thread that uses the ring now; made up if none was ever announced. */
uint32_t threads_of_ring(struct threads *threads, uint32_t ring, bool *nested);
void threads_free(struct threads *threads);

#endif
