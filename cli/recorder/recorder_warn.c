/*
 * recorder_warn.c: messages to the user while the program runs: about lost
 * events, and static allocators that no hook sees. The recorder only.
 *
 * I1: each message is printed once.
 */
#include "cli/recorder/recorder.h"

#include "cli/recorder/base/futex.h"
#include "cli/recorder/base/time_ns.h"
#include "cli/recorder/output/log_file.h"
#include "preload/ring/gate.h"

#define RECORDER_UNSEEN_NS (5 * UINT64_C(1000000000))

void recorder_warn_drops(struct recorder *rec)
{
	if (rec->reported_drops ||
	    !atomic_load_explicit(&rec->r->live->dropped, memory_order_relaxed))
		return;
	rec->reported_drops = true;
	log_file_report(OPTION_LOG_WARN,
			"the trace cannot be written fast enough, or --memory "
			"is used up: events are dropped and counted");
}

void recorder_warn_mutes(struct recorder *rec)
{
	if (rec->reported_mutes ||
	    !atomic_load_explicit(&rec->r->shared->mutes, memory_order_relaxed))
		return;
	rec->reported_mutes = rec->reported_drops = true;
	log_file_report(OPTION_LOG_WARN,
			"a thread has disabled its access to the time counter "
			"(PR_SET_TSC): its events are dropped and counted");
}

static void recorder_static_report(struct recorder *rec)
{
	char message[GT_PATH_MAX];

	static_allocator_describe(&rec->static_allocator, message,
				  sizeof(message));
	log_file_report(OPTION_LOG_WARN, message);
}

static void recorder_static_done(struct recorder *rec)
{
	rec->static_allocator.state = STATIC_ALLOCATOR_NONE;
	atomic_store_explicit(&rec->r->shared->static_checked, 1,
			      memory_order_release);
	futex_wake(&rec->r->shared->static_checked);
}

void recorder_static_begin(struct recorder *rec)
{
	rec->start_ns = time_ns_now();
	rec->static_allocator.patched = &rec->r->shared->patched;
	if (!rec->r->forked)
		static_allocator_poll(&rec->static_allocator, rec->exe);
	if (rec->static_allocator.state == STATIC_ALLOCATOR_SURE)
		recorder_static_report(rec);
	if (rec->static_allocator.state == STATIC_ALLOCATOR_NONE ||
	    rec->static_allocator.state == STATIC_ALLOCATOR_SURE)
		recorder_static_done(rec);
}

/* Symbols did not show whether the allocator is seen: decides by the events
 * recorded so far. */
void recorder_static_poll(struct recorder *rec, uint64_t now_ns)
{
	bool ends = atomic_load_explicit(&rec->r->shared->hurry,
					 memory_order_relaxed);

	/* time while the gate is closed does not count */
	if (gate_is_closed(rec->r->shared) && !ends)
		rec->start_ns = now_ns;
	if (rec->static_allocator.state == STATIC_ALLOCATOR_NONE ||
	    (!ends && now_ns - rec->start_ns < RECORDER_UNSEEN_NS))
		return;
	drain_sync(&rec->drain, DRAIN_ALL);
	if (!gate_is_closed(rec->r->shared) && !rec->drain.blocks &&
	    !(ends && rec->static_allocator.state == STATIC_ALLOCATOR_PATCHED))
		recorder_static_report(rec);
	recorder_static_done(rec);
}
