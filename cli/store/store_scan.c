/*
 * store_scan.c: see store_scan.h. Workers take chunks in the order of the file,
 * each the next when it has finished the one before.
 */
#include "cli/store/store_scan.h"

#include <errno.h>
#include <pthread.h>

#include "cli/base/parallel.h"
#include "cli/store/store_select.h"
#include "unwind/base/assertion.h"

struct run {
	struct store *store;
	const struct store_scan *scan;
	uint32_t columns;
	const struct store_scan_order *order;
	void (*each)(void *owner, unsigned worker,
		     const struct store_batch *batch);
	void *owner;
	atomic_size_t next;	/* next chunk */
	atomic_int error;	/* the first one */
	pthread_mutex_t lock;	/* for progress */
	uint64_t done;		/* rows */
};

unsigned store_scan_workers(const struct store *store)
{
	size_t workers = parallel_threads(store_chunks(store));

	if (workers > STORE_WORKERS_MAX)
		workers = STORE_WORKERS_MAX;
	return workers > 0 ? (unsigned)workers : 1;
}

static void report_progress(struct run *run, const struct store_chunk *chunk)
{
	const struct store_scan *scan = run->scan;

	if (scan->progress == NULL)
		return;
	pthread_mutex_lock(&run->lock);
	run->done += chunk->rows;
	scan->progress(scan->progress_owner, run->done,
		       store_rows(run->store));
	pthread_mutex_unlock(&run->lock);
}

static int do_chunk(struct run *run, struct store_select *select,
		    const struct store_chunk *chunk)
{
	struct store_batch batch;
	int result;

	if (run->order->wanted != NULL &&
	    !run->order->wanted(run->owner, select->worker, chunk))
		return 0;
	result = store_select_go(select, chunk);
	if (result <= 0)
		return result;
	for (size_t b = 0; b * STORE_BLOCK < chunk->rows; b++) {
		result = store_select_block(select, b, 0, &batch);
		if (result < 0)
			return result;
		if (result > 0)
			run->each(run->owner, select->worker, &batch);
	}
	return 0;
}

static bool is_cancelled(const struct run *run)
{
	/* relaxed: the cancel flag publishes no other data */
	return run->scan->cancel != NULL &&
	       atomic_load_explicit(run->scan->cancel, memory_order_relaxed);
}

static void work(void *owner, size_t worker)
{
	struct run *run = owner;
	const struct store_directory *directory = &run->store->directory;
	struct store_select *select = store_select_new(run->store, run->scan,
					run->columns, (unsigned)worker);
	size_t at;
	int error = 0;

	/* Relaxed: chunks do not change, and pthread_join publishes what `each`
	 * writes. */
	while (error == 0 &&
	       atomic_load_explicit(&run->error, memory_order_relaxed) == 0 &&
	       (at = atomic_fetch_add_explicit(&run->next, 1,
					       memory_order_relaxed)) <
	       directory->chunk_count) {
		const struct store_chunk *chunk = &directory->chunks[
			run->order->order == NULL ? at :
						    run->order->order[at]];

		error = is_cancelled(run) ? -ECANCELED :
			do_chunk(run, select, chunk);
		if (error == 0)
			report_progress(run, chunk);
	}
	if (error != 0) {
		int none = 0;

		atomic_compare_exchange_strong_explicit(&run->error, &none,
				error, memory_order_relaxed,
				memory_order_relaxed);
	}
	store_select_free(select);
}

int store_scan_ordered(struct store *store, const struct store_scan *scan,
		       uint32_t columns, const struct store_scan_order *order,
		       void (*each)(void *owner, unsigned worker,
				    const struct store_batch *batch),
		       void *owner)
{
	struct run run = {
		.store = store, .scan = scan, .columns = columns,
		.order = order, .each = each, .owner = owner,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};

	ASSERT(columns < STORE_BIT(STORE_COLUMNS));
	parallel_each(store_scan_workers(store), work, &run);
	pthread_mutex_destroy(&run.lock);
	return run.error;
}

int store_scan_each(struct store *store, const struct store_scan *scan,
		    uint32_t columns,
		    void (*each)(void *owner, unsigned worker,
				 const struct store_batch *batch),
		    void *owner)
{
	static const struct store_scan_order as_they_are;

	return store_scan_ordered(store, scan, columns, &as_they_are, each,
				  owner);
}

/* ---- counting ---- */

/* Of a worker, in its own cache line. */
struct count {
	_Alignas(64) uint64_t rows;
	uint64_t bytes;
};

static void count_batch(void *owner, unsigned worker,
			const struct store_batch *batch)
{
	struct count *count = (struct count *)owner + worker;
	uint64_t bytes = 0;

	for (size_t i = 0; i < batch->count; i++)
		bytes += batch->column[STORE_SIZE][i];
	count->rows += batch->count;
	count->bytes += bytes;
}

int store_scan_count(struct store *store, const struct store_scan *scan,
		     uint64_t *rows, uint64_t *bytes)
{
	struct count counts[STORE_WORKERS_MAX] = { 0 };
	int error = store_scan_each(store, scan, STORE_BIT(STORE_SIZE),
				    count_batch, counts);

	*rows = *bytes = 0;
	for (size_t i = 0; i < STORE_WORKERS_MAX; i++) {
		*rows += counts[i].rows;
		*bytes += counts[i].bytes;
	}
	return error;
}

uint64_t store_scan_estimate(const struct store *store,
			     const struct store_scan *scan)
{
	const struct store_directory *directory = &store->directory;
	struct store_filter filter;
	uint64_t rows = 0;

	store_filter_init(&filter, scan, NULL);
	for (size_t i = 0; i < directory->chunk_count; i++)
		if (store_filter_bounds(&filter, &directory->chunks[i]) !=
		    STORE_NO_ROW)
			rows += directory->chunks[i].rows;
	store_filter_free(&filter);
	return rows;
}
