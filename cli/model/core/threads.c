/*
 * threads.c: see threads.h. A thread has one ring, and a second one once a
 * signal handler allocated inside of a hook; both records carry its tid. Later
 * threads reuse tids, pthread_t values and rings. So which thread one of these
 * means depends on the time, and each thread has a link to the previous one
 * with the same tid or pthread_t.
 *
 * Records come in the order of the file, events later, in the order of stamps.
 * So names may arrive out of order.
 *
 * Called by the reader's thread.
 */
#include "cli/model/core/threads.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/search.h"
#include "cli/base/sort.h"
#include "unwind/base/assertion.h"

#define NAMES_MAX 4096		/* per thread; later ones are dropped */
/* How many earlier threads with the same tid or pthread_t are searched: events
 * come late, but not by so many threads. */
#define OLDER_MAX 128

static uint32_t add_thread(struct threads *threads, uint32_t tid,
			   uint32_t flags, uint64_t start)
{
	struct thread *thread;

	assert(threads->count <= UINT32_MAX >> 1); /* model_lane */
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
	uint32_t i = table_number(&threads->by_ring, ring, threads->ring_count);

	DEBUG_ASSERT(i <= threads->ring_count);
	if (i < threads->ring_count)
		return &threads->rings[i];
	GROW(threads->rings, threads->ring_count, threads->ring_capacity);
	threads->rings[i] = (struct ring_use){ .ended = true };
	return &threads->rings[threads->ring_count++];
}

static uint32_t latest(const struct table *table, uint64_t key)
{
	uint32_t i = table_get(table, key);

	return i == TABLE_NONE ? 0 : i;
}

/* ---- names ---- */

const char *threads_name(const struct thread *thread)
{
	return thread->name_count == 0 ? "" :
	       thread->names[thread->name_count - 1].text;
}

/* Of two consecutive records of the same name, the first counts. */
static void put_name(struct thread *thread, uint64_t since, const char *text,
		     size_t size)
{
	struct thread_name name = { .since = since };
	struct thread_name *at;
	size_t i = thread->name_count;

	if (size > sizeof(name.text) - 1)
		size = sizeof(name.text) - 1;
	memcpy(name.text, text, size);
	while (i > 0 && thread->names[i - 1].since > since)
		i--;
	if (i > 0 && strcmp(thread->names[i - 1].text, name.text) == 0)
		return;
	if (i < thread->name_count &&
	    strcmp(thread->names[i].text, name.text) == 0) {
		thread->names[i].since = since;
		return;
	}
	if (thread->name_count == NAMES_MAX)
		return;
	GROW(thread->names, thread->name_count, thread->name_capacity);
	at = thread->names + i;
	memmove(at + 1, at, (thread->name_count++ - i) * sizeof(*at));
	*at = name;
	DEBUG_ASSERT(i == 0 || at[-1].since <= since);
	DEBUG_ASSERT(i + 1 == thread->name_count || at[1].since > since);
}

/* ---- lookup by pthread_t and tid ---- */

/* The thread with this pthread_t at that time; 0: none. */
static uint32_t had_pointer(const struct threads *threads, uint64_t pointer,
			    uint64_t stamp)
{
	uint32_t i = latest(&threads->by_pointer, pointer);

	for (unsigned n = 0; i != 0 && threads->list[i].start > stamp; n++)
		i = n < OLDER_MAX ? threads->list[i].older_pointer : 0;
	DEBUG_ASSERT(i < threads->count);
	return i;
}

/* The thread that was running at that time with this tid; 0: none is known. */
static uint32_t had_tid(const struct threads *threads, uint32_t tid,
			uint64_t stamp)
{
	uint32_t i = latest(&threads->by_tid, tid);

	for (unsigned n = 0; i != 0 && threads->list[i].start > stamp; n++)
		i = n < OLDER_MAX ? threads->list[i].older_tid : 0;
	DEBUG_ASSERT(i < threads->count);
	if (i != 0 && threads->list[i].end != 0 &&
	    threads->list[i].end < stamp)
		return 0;
	return i;
}

/* ---- starts ---- */

uint64_t threads_without_memory(const struct threads *threads)
{
	uint64_t count = 0;

	for (size_t i = 1; i < threads->count; i++)
		count += threads->list[i].described &&
			threads->list[i].capture.value[GT_CAPTURE_WHY] ==
			GT_WHY_MEMORY;
	return count;
}

uint64_t threads_start(const struct thread *thread)
{
	return thread->created != 0 && thread->created < thread->start ?
	       thread->created : thread->start;
}

static int compare_starts(const void *left, const void *right, void *owner)
{
	const struct threads *threads = owner;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	uint64_t since_a = threads_start(&threads->list[a]);
	uint64_t since_b = threads_start(&threads->list[b]);

	return sort_up(since_a, since_b) ?: sort_up(a, b);
}

uint32_t *threads_by_start(const struct threads *threads)
{
	uint32_t *order = grow_zeroed(threads->count, sizeof(*order));

	for (size_t i = 1; i < threads->count; i++)
		order[i - 1] = (uint32_t)i;
	qsort_r(order, threads->count - 1, sizeof(*order), compare_starts,
		(void *)threads);
	return order;
}

/* ---- creation ---- */

static void created(struct threads *threads, uint32_t creator,
		    const struct trace_event *event)
{
	uint64_t took = event->args[1];

	GROW(threads->creations, threads->creation_count,
	     threads->creation_capacity);
	threads->creations[threads->creation_count++] = (struct creation){
		.pointer = event->address,
		.begin = took < event->stamp ? event->stamp - took : 0,
		.end = event->stamp,
		.creator = creator,
	};
}

static int compare_creations(const void *left, const void *right)
{
	const struct creation *a = left, *b = right;

	return sort_up(a->pointer, b->pointer) ?: sort_up(a->begin, b->begin);
}

/* The key of a search for the last creation before a stamp. */
struct sought {
	const struct creation *list;
	uint64_t pointer;
};

static bool is_behind(const void *owner, size_t i, uint64_t stamp)
{
	const struct sought *sought = owner;
	const struct creation *c = &sought->list[i];

	return c->pointer > sought->pointer ||
		(c->pointer == sought->pointer && c->begin > stamp);
}

/* The latest creation with this pthread_t that began at or before the stamp. */
static struct creation *creation_before(const struct threads *threads,
					uint64_t pointer, uint64_t stamp)
{
	struct sought sought = { threads->creations, pointer };
	size_t behind = search_first(&sought, threads->creation_count,
				     is_behind, stamp);

	if (behind == 0 || threads->creations[behind - 1].pointer != pointer)
		return NULL;
	return &threads->creations[behind - 1];
}

#ifdef GNOMON_DEBUG_ASSERTS
static bool names_are_valid(const struct thread *thread)
{
	for (size_t i = 1; i < thread->name_count; i++)
		if (thread->names[i].since < thread->names[i - 1].since)
			return false;
	return thread->name_count <= NAMES_MAX;
}

bool threads_is_valid(const struct threads *threads)
{
	for (size_t i = 0; i < threads->count; i++)
		if (!names_are_valid(&threads->list[i]) ||
		    threads->list[i].older_tid > i ||
		    threads->list[i].older_pointer >= threads->count)
			return false;
	for (size_t i = 0; i < threads->ring_count; i++)
		if (threads->rings[i].thread >= threads->count)
			return false;
	for (size_t i = 0; i < threads->number_count; i++)
		if (threads->by_number[i] >= threads->count)
			return false;
	return threads->count > 0;
}
#endif

/*
 * A thread's first event may come long after its creation. It may also come
 * before the record of its creation, which is made when pthread_create returns;
 * but never before pthread_create was called. And the next thread with the same
 * pthread_t is created after its end.
 */
void threads_settle(struct threads *threads)
{
	uint32_t *order = threads_by_start(threads);

	SORT(threads->creations, threads->creation_count, compare_creations);
	for (size_t i = 0; i + 1 < threads->count; i++) {
		struct thread *thread = &threads->list[order[i]];
		struct creation *creation = thread->pointer == 0 ? NULL :
			creation_before(threads, thread->pointer,
					thread->start);

		if (creation == NULL || creation->taken)
			continue;
		creation->taken = true;
		thread->created = creation->end;
		thread->creator = creation->creator;
	}
	free(order);
	DEBUG_ASSERT(threads_is_valid(threads));
}

/* ---- records ---- */

static uint32_t new_thread(struct threads *threads,
			   const struct trace_thread *record)
{
	uint32_t older = latest(&threads->by_tid, record->tid);
	uint32_t i = add_thread(threads, record->tid,
				record->flags & ~(uint32_t)GT_THREAD_NESTED,
				record->stamp);

	DEBUG_ASSERT(older < i);
	threads->list[i].older_tid = older;
	table_set(&threads->by_tid, record->tid, i);
	return i;
}

/* The thread whose second ring this is; its first ring may not be known yet. */
static uint32_t owner_of_nested(struct threads *threads,
				const struct trace_thread *record)
{
	uint32_t i = had_tid(threads, record->tid, record->stamp);

	return i != 0 ? i : new_thread(threads, record);
}

static uint32_t owner_of_first(struct threads *threads,
			       const struct trace_thread *record)
{
	uint32_t i = latest(&threads->by_tid, record->tid);
	struct thread *thread;

	/* So far there was only a record of its second ring. */
	if (i == 0 || threads->list[i].known ||
	    threads->list[i].start < record->stamp)
		i = new_thread(threads, record);
	DEBUG_ASSERT(i != 0 && i < threads->count);
	thread = &threads->list[i];
	thread->known = true;
	thread->flags = record->flags;
	thread->start = record->stamp;
	if (record->pointer != 0) {
		thread->pointer = record->pointer;
		thread->older_pointer = latest(&threads->by_pointer,
					       record->pointer);
		table_set(&threads->by_pointer, record->pointer, i);
	}
	return i;
}

static void start(struct threads *threads, const struct trace_thread *record)
{
	struct ring_use *use = ring_entry(threads, record->ring);
	bool nested = record->flags & GT_THREAD_NESTED;

	/* A record that is in the trace and in the live file. */
	if (use->thread != 0 && use->start == record->stamp &&
	    threads->list[use->thread].tid == record->tid)
		return;
	use->thread = nested ? owner_of_nested(threads, record) :
			       owner_of_first(threads, record);
	DEBUG_ASSERT(use->thread > 0 && use->thread < threads->count);
	use->nested = nested;
	use->ended = false;
	use->start = record->stamp;
	if (nested)
		return;
	GROW(threads->by_number, threads->number_count,
	     threads->number_capacity);
	threads->by_number[threads->number_count++] = use->thread;
}

uint32_t threads_by_number(const struct threads *threads, uint32_t number)
{
	return number == 0 || number > threads->number_count ? 0 :
		threads->by_number[number - 1];
}

void threads_record(struct threads *threads,
		    const struct trace_thread *record)
{
	struct ring_use *use;
	struct thread *thread;

	if (record->what == GT_THREAD_START)
		start(threads, record);
	use = ring_entry(threads, record->ring);
	thread = &threads->list[use->thread];
	DEBUG_ASSERT(use->thread < threads->count);
	if (use->thread == 0)
		return;
	if (record->what == GT_THREAD_END) {
		use->ended = true;
		if (!use->nested)
			thread->end = record->stamp;
	} else if (record->name_size > 0 && !use->nested) {
		put_name(thread, record->stamp, record->name,
			 record->name_size);
	}
}

/* A record about a ring without a thread is ignored: it says nothing about an
 * earlier user of the ring. */
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

void threads_extra(struct threads *threads, uint32_t thread,
		   const struct trace_event *event)
{
	const char *name = (const char *)event->args;

	if (event->what == GT_EXTRA_CREATE)
		created(threads, thread, event);
	if (event->what != GT_EXTRA_NAME)
		return;
	if (event->address != 0)
		thread = had_pointer(threads, event->address, event->stamp);
	if (thread != 0)
		put_name(&threads->list[thread], event->stamp, name,
			 strnlen(name, GT_THREAD_NAME_MAX));
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
	for (size_t i = 0; i < threads->count; i++)
		free(threads->list[i].names);
	free(threads->list);
	free(threads->rings);
	free(threads->by_number);
	free(threads->creations);
	table_free(&threads->by_ring);
	table_free(&threads->by_tid);
	table_free(&threads->by_pointer);
	memset(threads, 0, sizeof(*threads));
}
