/*
 * writer_warn.c: messages to the user while the program runs: about lost
 * events, and static allocators that no hook sees. The recorder only.
 *
 * I1: each message is printed once.
 */
#include "cli/recorder/writer_task.h"

#include "cli/recorder/base/futex.h"
#include "cli/recorder/base/time_ns.h"
#include "cli/recorder/output/log_file.h"
#include "preload/ring/gate.h"

#define WRITER_UNSEEN_NS (5 * UINT64_C(1000000000))

void writer_warn_drops(struct writer *w)
{
	if (w->reported_drops ||
	    !atomic_load_explicit(&w->r->live->dropped, memory_order_relaxed))
		return;
	w->reported_drops = true;
	log_file_report(OPTION_LOG_WARN,
			"the trace cannot be written fast enough, or --memory "
			"is used up: events are dropped and counted");
}

void writer_warn_mutes(struct writer *w)
{
	if (w->reported_mutes ||
	    !atomic_load_explicit(&w->r->shared->mutes, memory_order_relaxed))
		return;
	w->reported_mutes = w->reported_drops = true;
	log_file_report(OPTION_LOG_WARN,
			"a thread has disabled its access to the time counter "
			"(PR_SET_TSC): its events are dropped and counted");
}

static void writer_static_report(struct writer *w)
{
	char message[GT_PATH_MAX];

	static_allocator_describe(&w->static_allocator, message,
				  sizeof(message));
	log_file_report(OPTION_LOG_WARN, message);
}

static void writer_static_done(struct writer *w)
{
	w->static_allocator.state = STATIC_ALLOCATOR_NONE;
	atomic_store_explicit(&w->r->shared->static_checked, 1,
			      memory_order_release);
	futex_wake(&w->r->shared->static_checked);
}

void writer_static_begin(struct writer *w)
{
	w->start_ns = time_ns_now();
	w->static_allocator.patched = &w->r->shared->patched;
	if (!w->r->forked)
		static_allocator_poll(&w->static_allocator, w->exe);
	if (w->static_allocator.state == STATIC_ALLOCATOR_SURE)
		writer_static_report(w);
	if (w->static_allocator.state == STATIC_ALLOCATOR_NONE ||
	    w->static_allocator.state == STATIC_ALLOCATOR_SURE)
		writer_static_done(w);
}

/* Symbols did not show whether the allocator is seen: decides by the events
 * recorded so far. */
void writer_static_poll(struct writer *w, uint64_t now_ns)
{
	bool ends = atomic_load_explicit(&w->r->shared->hurry,
					 memory_order_relaxed);

	/* time while the gate is shut does not count */
	if (gate_is_shut(w->r->shared) && !ends)
		w->start_ns = now_ns;
	if (w->static_allocator.state == STATIC_ALLOCATOR_NONE ||
	    (!ends && now_ns - w->start_ns < WRITER_UNSEEN_NS))
		return;
	drain_sync(&w->drain, DRAIN_ALL);
	if (!gate_is_shut(w->r->shared) && !w->drain.blocks &&
	    !(ends && w->static_allocator.state == STATIC_ALLOCATOR_PATCHED))
		writer_static_report(w);
	writer_static_done(w);
}
