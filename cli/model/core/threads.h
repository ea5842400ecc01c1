/*
 * threads.h: the threads of the target, their names, and the rings that they
 * write to.
 */
#ifndef GNOMON_THREADS_H
#define GNOMON_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/table.h"
#include "cli/trace/decode/records.h"

struct thread_name {
	uint64_t since;		/* stamp */
	char text[GT_THREAD_NAME_MAX];
};

struct thread {
	uint32_t tid;
	uint32_t flags;		/* enum gt_thread_flags, of its first ring */
	uint64_t start;		/* stamp of its first event */
	uint64_t end;		/* stamp; 0: has not ended */
	uint64_t pointer;	/* pthread_t; 0: unknown */
	uint64_t created;	/* stamp: pthread_create returned; 0: unknown */
	uint32_t creator;	/* thread; 0: unknown */
	bool known;		/* there was a record of its first ring */
	/* The previous threads with the same tid and with the same pointer; 0:
	 * none. */
	uint32_t older_tid;
	uint32_t older_pointer;
	uint64_t events;	/* so far */
	uint64_t allocations;	/* so far: the number of its next block */
	struct thread_name *names;	/* by time; neighbours differ */
	size_t name_count;
	size_t name_capacity;
	bool described;		/* `capture` is set */
	struct trace_capture capture;
};

struct ring_use {
	uint32_t thread;
	bool nested;
	bool ended;
	uint64_t start;
};

/* A call of pthread_create. */
struct creation {
	uint64_t pointer;
	uint64_t begin;		/* stamps */
	uint64_t end;
	uint32_t creator;
	bool taken;
};

struct threads {
	struct thread *list;	/* 0 is "unknown" */
	size_t count;
	size_t capacity;
	struct ring_use *rings;
	size_t ring_count;
	size_t ring_capacity;
	struct table by_ring;
	struct table by_tid;	/* -> the latest thread with this tid */
	struct table by_pointer;
	uint32_t *by_number;	/* by the number of its first ring's START in
				 * the file */
	size_t number_count, number_capacity;
	struct creation *creations;
	size_t creation_count;
	size_t creation_capacity;
};

void threads_init(struct threads *threads);
void threads_record(struct threads *threads,
		    const struct trace_thread *record);
void threads_capture(struct threads *threads,
		     const struct trace_capture *record);
/* Takes GT_EXTRA_NAME and _CREATE of this thread; ignores other events. */
void threads_extra(struct threads *threads, uint32_t thread,
		   const struct trace_event *event);
/* All records and events were read: finds out which thread created which. */
void threads_settle(struct threads *threads);
/* The thread that uses the ring now; a new one if the ring has no record. */
uint32_t threads_of_ring(struct threads *threads, uint32_t ring, bool *nested);
/* The thread of the n-th START of a first ring, from 1; 0: unknown. */
uint32_t threads_by_number(const struct threads *threads, uint32_t number);
/* Its last name, "" if not known. */
const char *threads_name(const struct thread *thread);
/* Stamp of its start, as far as known. */
uint64_t threads_start(const struct thread *thread);
/* How many threads had no memory of their own for capturing stacks. */
uint64_t threads_without_memory(const struct threads *threads);
/* Numbers of all threads except 0, by start; the caller frees them. */
uint32_t *threads_by_start(const struct threads *threads);
void threads_free(struct threads *threads);

/* Names are by time; rings, numbers and tids refer to threads in the list. With
 * GNOMON_DEBUG_ASSERTS. */
bool threads_is_valid(const struct threads *threads);

#endif
