/*
 * store_readahead.c: see store_readahead.h.
 *
 *	chunks    0 … first-1 │ at … next-1        │ next … chunks-1
 *	          own cursor  │ in a slot, or      │ not taken yet
 *	                      │ being unpacked     │
 *
 * Chunk i has slot i % place_count, from the time when a thread takes it until
 * the caller has used its rows.
 *
 *  I1  next - at <= place_count: no two chunks share a slot.
 *  I2  A slot belongs to the thread that took its chunk until it is ready, and
 *      to the caller from then on.
 *  I3  Threads report no errors. If a thread cannot read a chunk, the caller's
 *      cursor reads it again and reports the error in the right order. Threads
 *      have ended by then.
 */
#include "cli/store/store_readahead.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/deep_call.h"
#include "cli/base/grow.h"
#include "cli/base/parallel.h"
#include "cli/store/store_cursor.h"
#include "cli/store/store_select.h"
#include "unwind/base/assertion.h"

/* A chunk's selected rows: STORE_CHUNK_ROWS values of each column. */
struct place {
	uint64_t *column[STORE_COLUMNS];	/* NULL: not requested */
	size_t count;
	int error;
	bool ready;
};

struct store_readahead {
	struct store *store;
	struct store quiet;		/* a copy that notes nothing */
	struct store_scan scan;
	uint32_t columns;
	unsigned threads_max;
	struct store_cursor *own;
	size_t first, chunks;
	struct store_batch batch;	/* in a slot */
	bool has_batch;			/* the caller uses chunk `at` */
	bool alone;			/* threads have ended */

	pthread_t threads[STORE_AHEAD_THREADS];
	unsigned thread_count;
	atomic_uint workers;		/* worker numbers given to threads */
	atomic_bool stop;
	pthread_mutex_t lock;		/* protects all below */
	pthread_cond_t ready, room;
	struct place *places;
	size_t place_count;
	size_t at, next;
	size_t end;			/* of the chunks that threads may
					 * take */
};

#ifdef GNOMON_DEBUG_ASSERTS
static bool ahead_is_valid(const struct store_readahead *ahead)
{
	return ahead->at <= ahead->next && ahead->next <= ahead->chunks &&
	       ahead->next - ahead->at <= ahead->place_count; /* I1 */
}
#endif

/* ---- chunks that may have rows ---- */

static size_t next_candidate(const struct store_readahead *ahead,
			     const struct store_filter *filter, size_t at)
{
	const struct store_chunk *chunks = ahead->store->directory.chunks;

	while (at < ahead->chunks &&
	       store_filter_bounds(filter, &chunks[at]) == STORE_NO_ROW)
		at++;
	return at;
}

/* The second candidate: where threads begin. */
static size_t find_first(const struct store_readahead *ahead)
{
	struct store_filter filter;
	size_t at;

	store_filter_init(&filter, &ahead->scan, NULL);
	at = next_candidate(ahead, &filter, 0);
	if (at < ahead->chunks)
		at = next_candidate(ahead, &filter, at + 1);
	store_filter_free(&filter);
	return at;
}

struct store_readahead *store_readahead_new(struct store *store,
					    const struct store_scan *scan,
					    uint32_t columns, unsigned threads)
{
	struct store_readahead *ahead = grow_zeroed(1, sizeof(*ahead));

	ASSERT(threads <= STORE_AHEAD_THREADS);
	ahead->store = store;
	ahead->quiet = *store;
	ahead->quiet.notes = NULL;
	ahead->scan = *scan;
	ahead->columns = columns;
	ahead->threads_max = threads;
	ahead->chunks = store_chunks(store);
	ahead->first = find_first(ahead);
	ahead->own = store_cursor_new(store, scan, columns);
	store_cursor_limit(ahead->own, ahead->first);
	return ahead;
}

/* ---- threads ---- */

static void copy_rows(struct place *place, const struct store_batch *batch)
{
	for (unsigned i = 0; i < STORE_COLUMNS; i++)
		if (place->column[i] != NULL)
			memcpy(place->column[i] + place->count,
			       batch->column[i],
			       batch->count * sizeof(uint64_t));
	place->count += batch->count;
	DEBUG_ASSERT(place->count <= STORE_CHUNK_ROWS);
}

static int fill(struct store_readahead *ahead, struct store_select *select,
		const struct store_chunk *chunk, struct place *place)
{
	struct store_batch batch;
	int result;

	place->count = 0;
	/* relaxed: the cancel flag publishes no other data */
	if (ahead->scan.cancel != NULL &&
	    atomic_load_explicit(ahead->scan.cancel, memory_order_relaxed))
		return -ECANCELED;
	result = store_select_go(select, chunk);
	if (result <= 0)
		return result;
	for (size_t b = 0; b * STORE_BLOCK < chunk->rows; b++) {
		if (atomic_load_explicit(&ahead->stop, memory_order_relaxed))
			return -ECANCELED;
		result = store_select_block(select, b, 0, &batch);
		if (result < 0)
			return result;
		if (result > 0)
			copy_rows(place, &batch);
	}
	return 0;
}

/* Takes the next chunk once there is a slot for it. False: there is none. */
static bool take_chunk(struct store_readahead *ahead, size_t *chunk)
{
	while (ahead->next < ahead->end &&
	       ahead->next - ahead->at == ahead->place_count)
		pthread_cond_wait(&ahead->room, &ahead->lock);
	if (ahead->next >= ahead->end)
		return false;
	*chunk = ahead->next++;
	DEBUG_ASSERT(ahead_is_valid(ahead));
	return true;
}

static void *run(void *argument)
{
	struct store_readahead *ahead = argument;
	/* Relaxed: the numbers only have to be distinct. */
	unsigned worker = 1 + atomic_fetch_add_explicit(&ahead->workers, 1,
						memory_order_relaxed);
	struct store_select *select = store_select_new(&ahead->quiet,
				&ahead->scan, ahead->columns, worker);
	size_t chunk;

	pthread_mutex_lock(&ahead->lock);
	while (take_chunk(ahead, &chunk)) {
		struct place *place = &ahead->places[chunk %
						     ahead->place_count];

		pthread_mutex_unlock(&ahead->lock);
		/* I2 */
		place->error = fill(ahead, select,
				    &ahead->store->directory.chunks[chunk],
				    place);
		pthread_mutex_lock(&ahead->lock);
		place->ready = true;
		if (place->error != 0)
			ahead->end = ahead->next;	/* I3 */
		pthread_cond_signal(&ahead->ready);
	}
	pthread_mutex_unlock(&ahead->lock);
	store_select_free(select);
	return NULL;
}

static void make_places(struct store_readahead *ahead, size_t threads)
{
	const size_t bytes = STORE_CHUNK_ROWS * sizeof(uint64_t);
	size_t columns = (size_t)__builtin_popcount(ahead->columns);
	size_t max = STORE_AHEAD_BYTES / (bytes * (columns ? columns : 1));
	size_t count = threads + 2;

	count = count > max ? max : count;
	ahead->place_count = count < 2 ? 2 : count;
	ahead->places = grow_zeroed(ahead->place_count,
				    sizeof(*ahead->places));
	for (size_t p = 0; p < ahead->place_count; p++)
		for (unsigned i = 0; i < STORE_COLUMNS; i++)
			if (ahead->columns & STORE_BIT(i))
				ahead->places[p].column[i] = grow_alloc(bytes);
}

static void free_places(struct store_readahead *ahead)
{
	for (size_t p = 0; p < ahead->place_count; p++)
		for (unsigned i = 0; i < STORE_COLUMNS; i++)
			free(ahead->places[p].column[i]);
	free(ahead->places);
	ahead->places = NULL;
	ahead->place_count = 0;
}

static void end_threads(struct store_readahead *ahead)
{
	if (ahead->thread_count == 0)
		return;
	atomic_store_explicit(&ahead->stop, true, memory_order_relaxed);
	pthread_mutex_lock(&ahead->lock);
	ahead->end = 0;
	pthread_cond_broadcast(&ahead->room);
	pthread_mutex_unlock(&ahead->lock);
	for (unsigned i = 0; i < ahead->thread_count; i++)
		pthread_join(ahead->threads[i], NULL);
	ahead->thread_count = 0;
	pthread_cond_destroy(&ahead->room);
	pthread_cond_destroy(&ahead->ready);
	pthread_mutex_destroy(&ahead->lock);
	free_places(ahead);
}

static void make_threads(struct store_readahead *ahead, size_t wanted)
{
	pthread_attr_t attributes;

	if (pthread_attr_init(&attributes) != 0)
		return;
	pthread_attr_setstacksize(&attributes, DEEP_CALL_STACK);
	while (ahead->thread_count < wanted &&
	       pthread_create(&ahead->threads[ahead->thread_count],
			      &attributes, run, ahead) == 0)
		ahead->thread_count++;
	pthread_attr_destroy(&attributes);
}

/* False: there is only one processor, or no thread can be made. */
static bool begin_threads(struct store_readahead *ahead)
{
	size_t wanted = parallel_threads(STORE_AHEAD_THREADS);

	if (wanted < 2 || ahead->threads_max == 0)
		return false;
	if (wanted > ahead->threads_max)
		wanted = ahead->threads_max;
	if (wanted > ahead->chunks - ahead->first)
		wanted = ahead->chunks - ahead->first;
	make_places(ahead, wanted);
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->ready, NULL);
	pthread_cond_init(&ahead->room, NULL);
	ahead->at = ahead->next = ahead->first;
	ahead->end = ahead->chunks;
	make_threads(ahead, wanted);
	if (ahead->thread_count > 0)
		return true;
	free_places(ahead);
	return false;
}

/* The caller's cursor continues alone from this chunk on. */
static void go_alone(struct store_readahead *ahead, size_t chunk)
{
	const struct store_chunk *chunks = ahead->store->directory.chunks;

	ASSERT(!ahead->alone && chunk < ahead->chunks);
	end_threads(ahead);
	ahead->alone = true;
	store_cursor_limit(ahead->own, ahead->chunks);
	store_cursor_seek(ahead->own, chunks[chunk].first_row);
}

/* ---- rows ---- */

/* The caller has used the rows of a slot. */
static void pass_place(struct store_readahead *ahead, struct place *place)
{
	place->ready = false;
	ahead->at++;
	DEBUG_ASSERT(ahead_is_valid(ahead));
	pthread_cond_signal(&ahead->room);
}

static struct place *wait_place(struct store_readahead *ahead)
{
	struct place *place = &ahead->places[ahead->at % ahead->place_count];

	/* returns at once if the caller is using its rows */
	while (!place->ready)
		pthread_cond_wait(&ahead->ready, &ahead->lock);
	return place;
}

/* The next slot with rows, or with an error; NULL: the end. */
static struct place *next_place(struct store_readahead *ahead)
{
	struct place *place = NULL;

	pthread_mutex_lock(&ahead->lock);
	if (ahead->has_batch)
		pass_place(ahead, wait_place(ahead));
	ahead->has_batch = false;
	while (ahead->at < ahead->chunks) {
		place = wait_place(ahead);
		if (place->count > 0 || place->error != 0)
			break;
		pass_place(ahead, place);
		place = NULL;
	}
	pthread_mutex_unlock(&ahead->lock);
	return place;
}

/* 1; 0: no more; -EAGAIN: use the caller's cursor. */
static int take_place(struct store_readahead *ahead)
{
	struct place *place = next_place(ahead);

	if (place == NULL)
		return 0;
	if (place->error != 0) {
		go_alone(ahead, ahead->at);	/* I3 */
		return -EAGAIN;
	}
	ahead->has_batch = true;
	ahead->batch.count = place->count;
	for (unsigned i = 0; i < STORE_COLUMNS; i++)
		ahead->batch.column[i] = place->column[i];
	return 1;
}

int store_readahead_next(struct store_readahead *ahead,
			 const struct store_batch **batch)
{
	int result = ahead->thread_count > 0 ? -EAGAIN :
		store_cursor_next(ahead->own, batch);

	if (result == 0 && !ahead->alone && ahead->first < ahead->chunks) {
		if (!begin_threads(ahead))
			go_alone(ahead, ahead->first);
		result = -EAGAIN;
	}
	if (result != -EAGAIN)
		return result;
	*batch = &ahead->batch;
	result = ahead->thread_count > 0 ? take_place(ahead) : -EAGAIN;
	return result != -EAGAIN ? result : store_cursor_next(ahead->own, batch);
}

void store_readahead_free(struct store_readahead *ahead)
{
	if (ahead == NULL)
		return;
	end_threads(ahead);
	store_cursor_free(ahead->own);
	free(ahead);
}
