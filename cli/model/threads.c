/*
 * threads.c: see threads.h. A thread has one ring, and a second one once a
 * signal handler allocated while a hook was at work; both records carry its
 * tid. Tids and rings are used again by later threads.
 *
 * Called by the reader's thread.
 */
#include "cli/model/threads.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"

static uint32_t add_thread(struct threads *threads, uint32_t tid,
			   uint32_t flags, uint64_t start)
{
	struct thread *thread;

	GROW(threads->list, threads->count, threads->capacity);
	thread = &threads->list[threads->count];
	memset(thread, 0, sizeof(*thread));
	thread->tid = tid;
	thread->flags = flags;
	thread->start = start;
	return (uint32_t)threads->count++;
}

void threads_init(struct threads *threads)
{
	memset(threads, 0, sizeof(*threads));
	add_thread(threads, 0, 0, 0);
}

static struct ring_use *ring_entry(struct threads *threads, uint32_t ring)
{
	uint32_t i = table_get(&threads->by_ring, ring);
	struct ring_use *use;

	if (i != TABLE_NONE)
		return &threads->rings[i];
	GROW(threads->rings, threads->ring_count, threads->ring_capacity);
	table_set(&threads->by_ring, ring, (uint32_t)threads->ring_count);
	use = &threads->rings[threads->ring_count++];
	memset(use, 0, sizeof(*use));
	use->ended = true;
	return use;
}

static void start(struct threads *threads, const struct trace_thread *record)
{
	struct ring_use *use = ring_entry(threads, record->ring);
	bool nested = record->flags & GT_THREAD_NESTED;
	uint32_t i = table_get(&threads->by_tid, record->tid);

	/* Told twice: by the trace and by the live file. */
	if (use->thread != 0 && use->start == record->stamp &&
	    threads->list[use->thread].tid == record->tid)
		return;
	if (i == TABLE_NONE || threads->list[i].end != 0 || !nested) {
		i = add_thread(threads, record->tid,
			       record->flags & ~(uint32_t)GT_THREAD_NESTED,
			       record->stamp);
		table_set(&threads->by_tid, record->tid, i);
	}
	use->thread = i;
	use->nested = nested;
	use->ended = false;
	use->start = record->stamp;
}

void threads_record(struct threads *threads,
		    const struct trace_thread *record)
{
	struct ring_use *use;
	struct thread *thread;
	size_t size;

	if (record->what == GT_THREAD_START)
		start(threads, record);
	use = ring_entry(threads, record->ring);
	thread = &threads->list[use->thread];
	if (use->thread == 0)
		return;
	if (record->what == GT_THREAD_END) {
		use->ended = true;
		if (!use->nested)
			thread->end = record->stamp;
	}
	size = record->name_size;
	if (size == 0)
		return;
	if (size > THREAD_NAME_BYTES - 1)
		size = THREAD_NAME_BYTES - 1;
	memset(thread->name, 0, sizeof(thread->name));
	memcpy(thread->name, record->name, size);
}

/* A ring that nobody has says nothing of who had it before. */
void threads_capture(struct threads *threads,
		     const struct trace_capture *record)
{
	const struct ring_use *use = ring_entry(threads, record->ring);
	struct thread *thread = &threads->list[use->thread];

	if (use->thread == 0 || use->ended || use->nested)
		return;
	thread->described = true;
	thread->capture = *record;
}

uint32_t threads_of_ring(struct threads *threads, uint32_t ring, bool *nested)
{
	struct ring_use *use = ring_entry(threads, ring);

	if (use->thread == 0)	/* its record was in a damaged chunk */
		use->thread = add_thread(threads, 0, 0, 0);
	*nested = use->nested;
	return use->thread;
}

void threads_free(struct threads *threads)
{
	free(threads->list);
	free(threads->rings);
	table_free(&threads->by_ring);
	table_free(&threads->by_tid);
	memset(threads, 0, sizeof(*threads));
}
