/*
 * writer_say.c: messages to the user while the program runs: about lost events,
 * and static allocators that no hook sees. The writer only.
 *
 * I1: each message is printed once.
 */
#include "cli/recorder/writer_task.h"

#include "cli/recorder/base/futex.h"
#include "cli/recorder/base/time_ns.h"
#include "cli/recorder/output/log.h"
#include "preload/ring/gate.h"

#define WRITER_UNSEEN_NS (5 * UINT64_C(1000000000))

void writer_say_drops(struct writer *w)
{
	if (w->told_drops ||
	    !atomic_load_explicit(&w->r->live->dropped, memory_order_relaxed))
		return;
	w->told_drops = true;
	log_tell(OPTION_LOG_WARN,
		 "the trace cannot be written fast enough, or --memory "
		 "is used up: events are dropped and counted");
}

void writer_say_mutes(struct writer *w)
{
	if (w->told_mutes ||
	    !atomic_load_explicit(&w->r->shared->mutes, memory_order_relaxed))
		return;
	w->told_mutes = w->told_drops = true;
	log_tell(OPTION_LOG_WARN,
		 "a thread has disabled its access to the time counter "
		 "(PR_SET_TSC): its events are dropped and counted");
}

static void writer_foreign_tell(struct writer *w)
{
	char message[GT_PATH_MAX];

	foreign_describe(&w->foreign, message, sizeof(message));
	log_tell(OPTION_LOG_WARN, message);
}

static void writer_foreign_done(struct writer *w)
{
	w->foreign.state = FOREIGN_NONE;
	atomic_store_explicit(&w->r->shared->foreign_done, 1,
			      memory_order_release);
	futex_wake(&w->r->shared->foreign_done);
}

void writer_foreign_begin(struct writer *w)
{
	w->start_ns = time_ns_now();
	w->foreign.patched = &w->r->shared->patched;
	if (!w->r->forked)
		foreign_look(&w->foreign, w->exe);
	if (w->foreign.state == FOREIGN_SURE)
		writer_foreign_tell(w);
	if (w->foreign.state == FOREIGN_NONE ||
	    w->foreign.state == FOREIGN_SURE)
		writer_foreign_done(w);
}

/* Symbols did not show whether the allocator is seen: decides by the events
 * recorded so far. */
void writer_foreign_look(struct writer *w, uint64_t now_ns)
{
	bool ends = atomic_load_explicit(&w->r->shared->hurry,
					 memory_order_relaxed);

	/* time while the gate is shut does not count */
	if (gate_is_shut(w->r->shared) && !ends)
		w->start_ns = now_ns;
	if (w->foreign.state == FOREIGN_NONE ||
	    (!ends && now_ns - w->start_ns < WRITER_UNSEEN_NS))
		return;
	feed_sync(&w->feed, FEED_ALL);
	if (!gate_is_shut(w->r->shared) && !w->feed.blocks &&
	    !(ends && w->foreign.state == FOREIGN_PATCHED))
		writer_foreign_tell(w);
	writer_foreign_done(w);
}
