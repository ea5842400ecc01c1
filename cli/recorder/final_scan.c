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
#include "cli/recorder/recorder.h"

/* A search for a program along PATH is a series of execs: data that was read
 * just before is good enough. */
#define FINAL_SCAN_AGAIN_NS (20 * UINT64_C(1000000))

static void final_scan_beat(struct recorder *rec)
{
	atomic_fetch_add_explicit(&rec->r->shared->beats, 1,
				  memory_order_relaxed);
}

static void final_scan_take(struct recorder *rec)
{
	usage_now(&rec->usage);
	final_scan_beat(rec);
	maps_watch_whole(&rec->maps);
	final_scan_beat(rec);
	usage_last(&rec->usage, snapshot_last(&rec->snapshot));
	final_scan_beat(rec);
	embedder_hold(&rec->embed);
	rec->last_ns = time_ns_now();
}

/* Whether the last data is still good, in a series of failed execs. */
static bool final_scan_lasts(const struct recorder *rec)
{
	return rec->last_ns &&
	       time_ns_now() - rec->last_ns < FINAL_SCAN_AGAIN_NS &&
	       rec->snapshot.held &&
	       atomic_load_explicit(&rec->r->shared->execs,
				    memory_order_relaxed);
}

void final_scan_step(struct recorder *rec)
{
	struct gl_shared *shared = rec->r->shared;
	/* pairs with the release of process_end_failed; before `wanted` */
	uint32_t not_last = atomic_load_explicit(&shared->last_void,
						 memory_order_acquire);
	/* pairs with the release of ending_request */
	uint32_t wanted = atomic_load_explicit(&shared->last_wanted,
					       memory_order_acquire);

	if (rec->last == wanted && not_last == wanted &&
	    time_ns_now() - rec->last_ns >= FINAL_SCAN_AGAIN_NS)
		snapshot_drop(&rec->snapshot);
	if (rec->last == wanted)
		return;
	rec->last = wanted;
	atomic_store_explicit(&shared->last_begun, wanted,
			      memory_order_relaxed);
	if (!final_scan_lasts(rec)) {
		snapshot_drop(&rec->snapshot);
		final_scan_take(rec);
	}
	/* pairs with the acquire of process_end_reached */
	atomic_store_explicit(&shared->last_done, wanted,
			      memory_order_release);
	futex_wake(&shared->last_done);
}

bool final_scan_is_last(const struct recorder *rec)
{
	const struct gl_shared *shared = rec->r->shared;
	uint32_t wanted = atomic_load_explicit(&shared->last_wanted,
					       memory_order_relaxed);

	return wanted && atomic_load_explicit(&shared->last_void,
					      memory_order_relaxed) != wanted;
}

void final_scan_finish(struct recorder *rec)
{
	const struct gl_shared *shared = rec->r->shared;
	uint32_t not_last = atomic_load_explicit(&shared->last_void,
						 memory_order_acquire);

	if (rec->last && not_last == rec->last)
		snapshot_drop(&rec->snapshot);
	snapshot_finish(&rec->snapshot);
	usage_finish(&rec->usage);
	maps_watch_finish(&rec->maps);
}
