/*
 * writer.c: the main loop of the recorder, in its only thread.
 *
 *	started ─▶ open the trace ─▶ ready
 *	             ┌───────────────┘
 *	             ▼
 *	      drain, sync, sleep ◀──┐
 *	             ├──────────────┘
 *	             ├─ target dead or in another program ─▶ drain all, END
 *	             └─ cannot write ─▶ END, recording off
 *
 * writer_begin.c has the work before the loop, writer_warn.c the messages to
 * the user.
 *
 * I1: all signals are blocked.
 */
#include "cli/recorder/writer_task.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/recorder/thread_list.h"
#include "cli/recorder/process/exit_status_find.h"
#include "cli/recorder/base/failure.h"
#include "cli/recorder/base/futex.h"
#include "cli/recorder/output/log_file.h"
#include "cli/recorder/requests.h"
#include "cli/recorder/base/time_ns.h"
#include "preload/base/ban.h"
#include "cli/recorder/final_scan.h"
#include "preload/ring/gate.h"
#include "preload/ring/ring_shared.h"
#include "cli/recorder/turn.h"
#include "unwind/assertion.h"

/* producers wake the recorder */
#define WRITER_NAP_MIN_NS (8 * UINT64_C(1000000))
#define WRITER_NAP_HURRY_NS UINT64_C(1000000)	/* the target is ending */
#define WRITER_STOPPED "the program has stopped its recording"
#define WRITER_ENDS_NAPS 200
#define WRITER_GOES_ON_NAPS 20
#define WRITER_NAP_MAX_NS (50 * UINT64_C(1000000))
#define WRITER_POLL_NS (100 * UINT64_C(1000000))

static bool writer_poll_maps(struct writer *w, uint64_t now_ns)
{
	return maps_watch_step(
		&w->maps, now_ns,
		atomic_load_explicit(&w->r->shared->maps_hints,
				     memory_order_relaxed));
}

/* Time until the next work is due. */
static uint64_t writer_rest_ns(const struct writer *w)
{
	uint64_t ns = base_min(w->nap_ns, control_wait_ns(w));

	ns = base_min(ns, stats_wait_ns(&w->tracker.stats));
	return base_min(ns, snapshot_wait_ns(&w->snapshot));
}

static void writer_sleep(struct writer *w, uint32_t seen, bool worked)
{
	struct gl_shared *shared = w->r->shared;

	if (worked)
		w->nap_ns = WRITER_NAP_MIN_NS;
	else if (w->nap_ns < WRITER_NAP_MAX_NS)
		w->nap_ns = base_min(2 * w->nap_ns, WRITER_NAP_MAX_NS);
	if (atomic_load_explicit(&shared->hurry, memory_order_relaxed) ||
	    !recording_may(w->r, UNWIND_NO_WAIT))
		w->nap_ns = WRITER_NAP_HURRY_NS;
	DEBUG_ASSERT(w->nap_ns >= WRITER_NAP_HURRY_NS &&
		     w->nap_ns <= WRITER_NAP_MAX_NS);
	/* see recorder_wake */
	atomic_store_explicit(&shared->asleep, 1, memory_order_seq_cst);
	w->drain.rested = atomic_load_explicit(&shared->wake,
					       memory_order_seq_cst) == seen;
	if (w->drain.rested)
		futex_wait(&shared->wake, seen, writer_rest_ns(w));
	atomic_store_explicit(&shared->asleep, 0, memory_order_relaxed);
}

/* Work to do at intervals. True: the target has executed another program. */
static bool writer_poll(struct writer *w, uint64_t now_ns)
{
	if (now_ns - w->looked_ns < WRITER_POLL_NS)
		return false;
	w->looked_ns = now_ns;
	if (!target_same(&w->target))
		return true;
	log_file_thread(target_task(&w->target));
	writer_warn_mutes(w);
	writer_warn_drops(w);
	thread_list_poll(&w->drain, false, now_ns);
	thread_list_names(&w->drain, now_ns);
	seccomp_watch_poll(&w->seccomp, w->r);
	/* early: only the recorder knows full paths, and it may be killed */
	emit_image_flush(&w->images);
	return false;
}

/* Whether rings are scarce, so that rings of ended threads are needed. */
static bool writer_rings_scarce(struct gl_shared *shared)
{
	return atomic_exchange_explicit(&shared->ring_short, 0,
					memory_order_relaxed) ||
	       atomic_load_explicit(&shared->ring_wanted[RECORDER_PRIMARY],
				    memory_order_relaxed);
}

/* A process that is short of memory may be killed at any time: writes all
 * events first, then takes a snapshot. */
static void writer_poll_pressure(struct writer *w, uint64_t now_ns)
{
	char name[SNAPSHOT_NAME_MAX];

	/* a snapshot in progress is finished first */
	if (w->snapshot.busy || !pressure_poll(&w->pressure, now_ns, name))
		return;
	drain_sync(&w->drain, DRAIN_ALL);
	snapshot_begin(&w->snapshot, GT_SNAPSHOT_ASKED, name);
}

/* Whether events are lost, or a thread waits for room. */
static bool writer_is_pressed(const struct writer *w)
{
	uint32_t id;

	for (id = 0; id < w->r->ring_count; id++)
		if (atomic_load_explicit(&w->r->rings[id].waiting,
					 memory_order_relaxed))
			return true;
	return atomic_load_explicit(&w->r->live->dropped,
				    memory_order_relaxed);
}

/*
 * The trace cannot be written any more. If the program ends just now, nothing
 * is lost: all events are in the trace or in the live file. Returns the reason
 * to end.
 */
static const char *writer_cannot_write(struct writer *w)
{
	const struct timespec nap = { 0, WRITER_NAP_HURRY_NS };
	unsigned naps, max = WRITER_GOES_ON_NAPS;

	DEBUG_ASSERT(w->out.err < 0);
	for (naps = 0; naps < max; naps++) {
		if (target_dead(&w->target))
			return "exit";
		if (!target_same(&w->target))
			return "exec";
		if (writer_is_pressed(w))
			break;
		if (final_scan_is_last(w))
			max = WRITER_ENDS_NAPS;
		nanosleep(&nap, NULL);
	}
	return "stopped";
}

/* The main loop. Returns the reason to end. */
static const char *writer_work(struct writer *w)
{
	struct recording *r = w->r;
	struct gl_shared *shared = r->shared;

	w->nap_ns = WRITER_NAP_MIN_NS;
	writer_static_begin(w);
	for (;;) {
		uint32_t seen = atomic_load_explicit(&shared->wake,
						     memory_order_seq_cst);
		uint64_t now_ns = time_ns_now(), bytes;
		bool more;

		atomic_fetch_add_explicit(&shared->beats, 1,
					  memory_order_relaxed);
		requests_poll(w);
		/* a program that the target executed may have ended before any
		 * check */
		if (target_dead(&w->target))
			return atomic_load_explicit(&shared->execs,
						    memory_order_acquire) ?
				       "exec" : "exit";
		if (r->damage)
			return "error";
		writer_reserve(w);
		if (writer_rings_scarce(shared))
			thread_list_poll(&w->drain, true, now_ns);
		ring_pool_refill(&w->pool);
		if (gate_is_off(shared) ||
		    atomic_load_explicit(&shared->stop, memory_order_acquire))
			return "error";
		final_scan_step(w);
		if (writer_poll(w, now_ns))
			return "exec";
		atomic_store_explicit(&shared->live_blocks,
				      drain_live_blocks(&w->drain),
				      memory_order_relaxed);
		control_step(w, now_ns);
		control_socket_step(w, now_ns);
		if (!gate_is_shut(shared))
			usage_poll(&w->usage, now_ns);
		emit_names_poll(&w->names, w->maps.dump, now_ns, false);
		writer_poll_pressure(w, now_ns);
		reporter_step(&w->reporter);
		more = snapshot_step(&w->snapshot, now_ns);
		more |= embedder_step(&w->embed, now_ns);
		bytes = drain_pass(&w->drain, DRAIN_ENOUGH);
		if (drain_sync_due(&w->drain, now_ns))
			drain_sync(&w->drain, DRAIN_ALL);
		if (!gate_is_shut(shared))
			more |= writer_poll_maps(w, now_ns);
		writer_static_poll(w, now_ns);
		tracker_poll(w, now_ns);
		if (w->out.err)
			return writer_cannot_write(w);
		if (!more)
			writer_sleep(w, seen, bytes != 0 || turn_given(shared));
	}
}

/* Wakes threads that wait for room: recording has ended. */
static void writer_release(struct recording *r)
{
	uint32_t id;

	for (id = 0; id < r->ring_count; id++)
		futex_wake(ring_tail_word(&r->rings[id]));
}

static void writer_give_up(struct writer *w, char *message, size_t size)
{
	char number[FAILURE_NUMBER];
	struct recording *r = w->r;

	DEBUG_ASSERT(w->out.err < 0);
	gate_shut_for_good(r->shared);
	writer_release(r);
	failure_print(message, size, "cannot write %s: %s: recording has "
		      "stopped, the trace so far stays readable",
		      w->output.path, failure_words(w->out.err, number));
	log_file_report(OPTION_LOG_ERROR, message);
	/* allow writing again, for the closing chunks: they have reserved
	 * room */
	w->gave_up = w->out.regular;
	w->out.err = w->out.regular ? 0 : w->out.err;
}

/* Message for a recording that hooks stopped. The text is untrusted, like all
 * of the mapping. */
static void writer_stopped(const struct gl_shared *shared, char *message,
			   size_t size)
{
	char assertion[GL_ASSERTION + 1] = "";
	unsigned i;
	char c;

	/* the target may write there: each byte is read once */
	for (i = 0; i < GL_ASSERTION && (c = shared->assertion[i]) != '\0'; i++)
		assertion[i] = c < ' ' || c > '~' ? '?' : c;
	snprintf(message, size, "%s%s", i ? ASSERTION_FAILED : WRITER_STOPPED,
		 assertion);
}

/* The mapping is damaged: the target goes on without recording. */
static void writer_damaged(struct recording *r)
{
	gate_shut_for_good(r->shared);
	writer_release(r);
	log_file_report(OPTION_LOG_ERROR, r->message);
}

/* Writes the last events, and data that is only known at the end. */
static void writer_finish_events(struct writer *w)
{
	final_scan_finish(w);
	drain_sync(&w->drain, DRAIN_LAST);
	tracker_finish(w);
	emit_names_poll(&w->names, w->maps.dump, time_ns_now(), true);
	w->info.names_skipped = emit_names_skipped(&w->names);
	/* last, as it takes longest and the trace has all else */
	embedder_finish(&w->embed);
}

static void writer_finish(struct writer *w, const char *reason)
{
	char message[GT_PATH_MAX];
	int code = -1;

	message[0] = '\0';
	control_socket_close(w);
	if (strcmp(reason, "exit") == 0)
		code = target_exit_code(&w->target);
	if (w->out.err) {
		/* in case the trace has no room to say so */
		if (strcmp(reason, "stopped") == 0)
			atomic_store_explicit(&w->r->live->error, -w->out.err,
					      memory_order_relaxed);
		writer_give_up(w, message, sizeof(message));
	} else if (strcmp(reason, "error") == 0) {
		memcpy(message, w->r->message, sizeof(w->r->message));
		if (!message[0])
			writer_stopped(w->r->shared, message, sizeof(message));
	} else {
		writer_finish_events(w);
	}
	if (w->r->damage) {
		memcpy(message, w->r->message, sizeof(w->r->message));
		writer_damaged(w->r);
	}
	/* the disk may have become full meanwhile */
	if (w->out.err && !message[0])
		writer_give_up(w, message, sizeof(message));
	/* late, as the parent may not have reported it yet */
	if (code < 0 && strcmp(reason, "exit") == 0)
		code = exit_status_find(w->r);
	w->out.last_words = true;
	emit_info_counters(&w->info, &w->drain);
	log_file_number(OPTION_LOG_INFO, "events", w->drain.events);
	log_file_number(OPTION_LOG_INFO, "dropped",
			atomic_load_explicit(&w->r->live->dropped,
					     memory_order_relaxed));
	emit_info_end(&w->info, &w->drain, reason, message[0] ? message : NULL,
		      code);
	chunk_close(&w->out);
	/* events that could not be written stay in the live file */
	if (!w->gave_up)
		live_unlink(&w->live);
	reporter_finish(&w->reporter);
	close(w->output.fd);
}

static void writer_report(struct recording *r, uint32_t state)
{
	DEBUG_ASSERT(state > GL_RECORDER_STARTING && state <= GL_RECORDER_DONE);
	/* pairs with the acquire of parent_forks */
	atomic_store_explicit(&r->shared->recorder_state, state,
			      memory_order_release);
	futex_wake(&r->shared->recorder_state);
}

void writer_run(struct writer *w)
{
	const char *reason;

	if (writer_begin(w)) {
		gate_shut_for_good(w->r->shared);
		writer_release(w->r);
		live_unlink(&w->live);
		writer_log_start(w);
		writer_report(w->r, GL_RECORDER_FAILED);
		return;
	}
	writer_log_start(w);
	log_file_print(OPTION_LOG_INFO, "records", w->exe);
	log_file_print(OPTION_LOG_INFO, "trace", w->output.path);
	writer_report(w->r, GL_RECORDER_READY);
	reason = writer_work(w);
	log_file_print(OPTION_LOG_INFO, "ends", reason);
	writer_finish(w, reason);
	writer_report(w->r, GL_RECORDER_DONE);
}
