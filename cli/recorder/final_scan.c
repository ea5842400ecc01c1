/*
 * final_scan.c: see final_scan.h, and process_end.c, which requests it.
 *
 * The most important data comes first and the slowest last: the process may end
 * before that is read. All data is written immediately, except for the end of
 * the snapshot, which makes it valid. If an exec fails, the process goes on,
 * and the snapshot is dropped.
 *
 * A killed process cannot request a final scan. Then there is no last snapshot,
 * and the last sizes and mappings are those read before its death: that its
 * memory is empty now is no information.
 */
#include "cli/recorder/final_scan.h"

#include "cli/recorder/base/futex.h"
#include "cli/recorder/base/time_ns.h"
#include "cli/recorder/writer_task.h"

/* A search for a program along PATH is a series of execs: data that was read
 * just before is good enough. */
#define FINAL_SCAN_AGAIN_NS (20 * UINT64_C(1000000))

static void final_scan_beat(struct writer *w)
{
	atomic_fetch_add_explicit(&w->r->shared->beats, 1,
				  memory_order_relaxed);
}

static void final_scan_take(struct writer *w)
{
	usage_now(&w->usage);
	final_scan_beat(w);
	maps_watch_whole(&w->maps);
	final_scan_beat(w);
	usage_last(&w->usage, snapshot_last(&w->snapshot));
	final_scan_beat(w);
	embedder_hold(&w->embed);
	w->last_ns = time_ns_now();
}

/* Whether the last data is still good, in a series of failed execs. */
static bool final_scan_lasts(const struct writer *w)
{
	return w->last_ns && time_ns_now() - w->last_ns < FINAL_SCAN_AGAIN_NS &&
	       w->snapshot.held &&
	       atomic_load_explicit(&w->r->shared->execs,
				    memory_order_relaxed);
}

void final_scan_step(struct writer *w)
{
	struct gl_shared *shared = w->r->shared;
	/* pairs with the release of process_end_failed; before `wanted` */
	uint32_t not_last = atomic_load_explicit(&shared->last_void,
						 memory_order_acquire);
	/* pairs with the release of ending_request */
	uint32_t wanted = atomic_load_explicit(&shared->last_wanted,
					       memory_order_acquire);

	if (w->last == wanted && not_last == wanted &&
	    time_ns_now() - w->last_ns >= FINAL_SCAN_AGAIN_NS)
		snapshot_drop(&w->snapshot);
	if (w->last == wanted)
		return;
	w->last = wanted;
	atomic_store_explicit(&shared->last_begun, wanted,
			      memory_order_relaxed);
	if (!final_scan_lasts(w)) {
		snapshot_drop(&w->snapshot);
		final_scan_take(w);
	}
	/* pairs with the acquire of process_end_reached */
	atomic_store_explicit(&shared->last_done, wanted,
			      memory_order_release);
	futex_wake(&shared->last_done);
}

bool final_scan_is_last(const struct writer *w)
{
	const struct gl_shared *shared = w->r->shared;
	uint32_t wanted = atomic_load_explicit(&shared->last_wanted,
					       memory_order_relaxed);

	return wanted && atomic_load_explicit(&shared->last_void,
					      memory_order_relaxed) != wanted;
}

void final_scan_finish(struct writer *w)
{
	const struct gl_shared *shared = w->r->shared;
	uint32_t not_last = atomic_load_explicit(&shared->last_void,
						 memory_order_acquire);

	if (w->last && not_last == w->last)
		snapshot_drop(&w->snapshot);
	snapshot_finish(&w->snapshot);
	usage_finish(&w->usage);
	maps_watch_finish(&w->maps);
}
