/*
 * recorder.c: the main loop of the recorder, in its only thread.
 *
 *	started ─▶ open the trace ─▶ ready
 *	             ┌───────────────┘
 *	             ▼
 *	      drain, sync, sleep ◀──┐
 *	             ├──────────────┘
 *	             ├─ target dead or in another program ─▶ drain all, END
 *	             └─ cannot write ─▶ END, recording off
 *
 * recorder_begin.c has the work before the loop, recorder_warn.c the messages to
 * the user.
 *
 * I1: all signals are blocked.
 */
#include "cli/recorder/recorder.h"

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
#include "unwind/base/assertion.h"

/* producers wake the recorder */
#define RECORDER_NAP_MIN_NS (8 * UINT64_C(1000000))
#define RECORDER_NAP_HURRY_NS UINT64_C(1000000)	/* the target is ending */
#define RECORDER_STOPPED "the program has stopped its recording"
#define RECORDER_ENDS_NAPS 200
#define RECORDER_GOES_ON_NAPS 20
#define RECORDER_NAP_MAX_NS (50 * UINT64_C(1000000))
#define RECORDER_POLL_NS (100 * UINT64_C(1000000))

static bool recorder_poll_maps(struct recorder *rec, uint64_t now_ns)
{
	return maps_watch_step(
		&rec->maps, now_ns,
		atomic_load_explicit(&rec->r->shared->maps_hints,
				     memory_order_relaxed));
}

/* Time until the next work is due. */
static uint64_t recorder_rest_ns(const struct recorder *rec)
{
	uint64_t ns = base_min(rec->nap_ns, control_wait_ns(rec));

	ns = base_min(ns, stats_wait_ns(&rec->tracker.stats));
	return base_min(ns, snapshot_wait_ns(&rec->snapshot));
}

static void recorder_sleep(struct recorder *rec, uint32_t seen, bool worked)
{
	struct gl_shared *shared = rec->r->shared;

	if (worked)
		rec->nap_ns = RECORDER_NAP_MIN_NS;
	else if (rec->nap_ns < RECORDER_NAP_MAX_NS)
		rec->nap_ns = base_min(2 * rec->nap_ns, RECORDER_NAP_MAX_NS);
	if (atomic_load_explicit(&shared->hurry, memory_order_relaxed) ||
	    !recording_may(rec->r, UNWIND_NO_WAIT))
		rec->nap_ns = RECORDER_NAP_HURRY_NS;
	DEBUG_ASSERT(rec->nap_ns >= RECORDER_NAP_HURRY_NS &&
		     rec->nap_ns <= RECORDER_NAP_MAX_NS);
	/* see recorder_wake */
	atomic_store_explicit(&shared->asleep, 1, memory_order_seq_cst);
	rec->drain.rested = atomic_load_explicit(&shared->wake,
					       memory_order_seq_cst) == seen;
	if (rec->drain.rested)
		futex_wait(&shared->wake, seen, recorder_rest_ns(rec));
	atomic_store_explicit(&shared->asleep, 0, memory_order_relaxed);
}

/* Work to do at intervals. True: the target has executed another program. */
static bool recorder_poll(struct recorder *rec, uint64_t now_ns)
{
	if (now_ns - rec->looked_ns < RECORDER_POLL_NS)
		return false;
	rec->looked_ns = now_ns;
	if (!target_same(&rec->target))
		return true;
	log_file_thread(target_task(&rec->target));
	recorder_warn_mutes(rec);
	recorder_warn_drops(rec);
	thread_list_poll(&rec->drain, false, now_ns);
	thread_list_names(&rec->drain, now_ns);
	seccomp_watch_poll(&rec->seccomp, rec->r);
	/* early: only the recorder knows full paths, and it may be killed */
	emit_image_flush(&rec->images);
	return false;
}

/* Whether rings are scarce, so that rings of ended threads are needed. */
static bool recorder_rings_scarce(struct gl_shared *shared)
{
	return atomic_exchange_explicit(&shared->ring_short, 0,
					memory_order_relaxed) ||
	       atomic_load_explicit(&shared->ring_wanted[RECORDER_PRIMARY],
				    memory_order_relaxed);
}

/* A process that is short of memory may be killed at any time: writes all
 * events first, then takes a snapshot. */
static void recorder_poll_pressure(struct recorder *rec, uint64_t now_ns)
{
	char name[SNAPSHOT_NAME_MAX];

	/* a snapshot in progress is finished first */
	if (rec->snapshot.busy || !pressure_poll(&rec->pressure, now_ns, name))
		return;
	drain_sync(&rec->drain, DRAIN_ALL);
	snapshot_begin(&rec->snapshot, GT_SNAPSHOT_ASKED, name);
}

/* Whether events are lost, or a thread waits for room. */
static bool recorder_is_pressed(const struct recorder *rec)
{
	uint32_t id;

	for (id = 0; id < rec->r->ring_count; id++)
		if (atomic_load_explicit(&rec->r->rings[id].waiting,
					 memory_order_relaxed))
			return true;
	return atomic_load_explicit(&rec->r->live->dropped,
				    memory_order_relaxed);
}

/*
 * The trace cannot be written any more. If the program ends just now, nothing
 * is lost: all events are in the trace or in the live file. Returns the reason
 * to end.
 */
static const char *recorder_cannot_write(struct recorder *rec)
{
	const struct timespec nap = { 0, RECORDER_NAP_HURRY_NS };
	unsigned naps, max = RECORDER_GOES_ON_NAPS;

	DEBUG_ASSERT(rec->out.err < 0);
	for (naps = 0; naps < max; naps++) {
		if (target_dead(&rec->target))
			return "exit";
		if (!target_same(&rec->target))
			return "exec";
		if (recorder_is_pressed(rec))
			break;
		if (final_scan_is_last(rec))
			max = RECORDER_ENDS_NAPS;
		nanosleep(&nap, NULL);
	}
	return "stopped";
}

/* The main loop. Returns the reason to end. */
static const char *recorder_work(struct recorder *rec)
{
	struct recording *r = rec->r;
	struct gl_shared *shared = r->shared;

	rec->nap_ns = RECORDER_NAP_MIN_NS;
	recorder_static_begin(rec);
	for (;;) {
		uint32_t seen = atomic_load_explicit(&shared->wake,
						     memory_order_seq_cst);
		uint64_t now_ns = time_ns_now(), bytes;
		bool more;

		atomic_fetch_add_explicit(&shared->beats, 1,
					  memory_order_relaxed);
		requests_poll(rec);
		/* a program that the target executed may have ended before any
		 * check */
		if (target_dead(&rec->target))
			return atomic_load_explicit(&shared->execs,
						    memory_order_acquire) ?
				       "exec" : "exit";
		if (r->damage)
			return "error";
		recorder_reserve(rec);
		if (recorder_rings_scarce(shared))
			thread_list_poll(&rec->drain, true, now_ns);
		ring_pool_refill(&rec->pool);
		if (gate_is_closed_for_good(shared) ||
		    atomic_load_explicit(&shared->stop, memory_order_acquire))
			return "error";
		final_scan_step(rec);
		if (recorder_poll(rec, now_ns))
			return "exec";
		atomic_store_explicit(&shared->live_blocks,
				      drain_live_blocks(&rec->drain),
				      memory_order_relaxed);
		control_step(rec, now_ns);
		control_socket_step(rec, now_ns);
		if (!gate_is_closed(shared))
			usage_poll(&rec->usage, now_ns);
		emit_names_poll(&rec->names, rec->maps.dump, now_ns, false);
		recorder_poll_pressure(rec, now_ns);
		reporter_step(&rec->reporter);
		more = snapshot_step(&rec->snapshot, now_ns);
		more |= embedder_step(&rec->embed, now_ns);
		bytes = drain_pass(&rec->drain, DRAIN_ENOUGH);
		if (drain_sync_due(&rec->drain, now_ns))
			drain_sync(&rec->drain, DRAIN_ALL);
		if (!gate_is_closed(shared))
			more |= recorder_poll_maps(rec, now_ns);
		recorder_static_poll(rec, now_ns);
		tracker_poll(rec, now_ns);
		if (rec->out.err)
			return recorder_cannot_write(rec);
		if (!more)
			recorder_sleep(rec, seen,
				       bytes != 0 || turn_given(shared));
	}
}

/* Wakes threads that wait for room: recording has ended. */
static void recorder_release(struct recording *r)
{
	uint32_t id;

	for (id = 0; id < r->ring_count; id++)
		futex_wake(ring_tail_word(&r->rings[id]));
}

static void recorder_give_up(struct recorder *rec, char *message, size_t size)
{
	char number[FAILURE_NUMBER];
	struct recording *r = rec->r;

	DEBUG_ASSERT(rec->out.err < 0);
	gate_close_for_good(r->shared);
	recorder_release(r);
	failure_print(message, size, "cannot write %s: %s: recording has "
		      "stopped, the trace so far stays readable",
		      rec->output.path, failure_words(rec->out.err, number));
	log_file_report(OPTION_LOG_ERROR, message);
	/* allow writing again, for the closing chunks: they have reserved
	 * room */
	rec->gave_up = rec->out.regular;
	rec->out.err = rec->out.regular ? 0 : rec->out.err;
}

/* Message for a recording that hooks stopped. The text is untrusted, like all
 * of the mapping. */
static void recorder_stopped(const struct gl_shared *shared, char *message,
			     size_t size)
{
	char assertion[GL_ASSERTION + 1] = "";
	unsigned i;
	char c;

	/* the target may write there: each byte is read once */
	for (i = 0; i < GL_ASSERTION && (c = shared->assertion[i]) != '\0'; i++)
		assertion[i] = c < ' ' || c > '~' ? '?' : c;
	snprintf(message, size, "%s%s", i ? ASSERTION_FAILED : RECORDER_STOPPED,
		 assertion);
}

/* The mapping is damaged: the target goes on without recording. */
static void recorder_damaged(struct recording *r)
{
	gate_close_for_good(r->shared);
	recorder_release(r);
	log_file_report(OPTION_LOG_ERROR, r->message);
}

/* Writes the last events, and data that is only known at the end. */
static void recorder_finish_events(struct recorder *rec)
{
	final_scan_finish(rec);
	drain_sync(&rec->drain, DRAIN_LAST);
	tracker_finish(rec);
	emit_names_poll(&rec->names, rec->maps.dump, time_ns_now(), true);
	rec->info.names_skipped = emit_names_skipped(&rec->names);
	/* last, as it takes longest and the trace has all else */
	embedder_finish(&rec->embed);
}

static void recorder_finish(struct recorder *rec, const char *reason)
{
	char message[GT_PATH_MAX];
	int code = -1;

	message[0] = '\0';
	control_socket_close(rec);
	if (strcmp(reason, "exit") == 0)
		code = target_exit_code(&rec->target);
	if (rec->out.err) {
		/* in case the trace has no room to say so */
		if (strcmp(reason, "stopped") == 0)
			atomic_store_explicit(&rec->r->live->error,
					      -rec->out.err,
					      memory_order_relaxed);
		recorder_give_up(rec, message, sizeof(message));
	} else if (strcmp(reason, "error") == 0) {
		memcpy(message, rec->r->message, sizeof(rec->r->message));
		if (!message[0])
			recorder_stopped(rec->r->shared, message,
					 sizeof(message));
	} else {
		recorder_finish_events(rec);
	}
	if (rec->r->damage) {
		memcpy(message, rec->r->message, sizeof(rec->r->message));
		recorder_damaged(rec->r);
	}
	/* the disk may have become full meanwhile */
	if (rec->out.err && !message[0])
		recorder_give_up(rec, message, sizeof(message));
	/* late, as the parent may not have reported it yet */
	if (code < 0 && strcmp(reason, "exit") == 0)
		code = exit_status_find(rec->r);
	rec->out.last_words = true;
	emit_info_counters(&rec->info, &rec->drain);
	log_file_number(OPTION_LOG_INFO, "events", rec->drain.events);
	log_file_number(OPTION_LOG_INFO, "dropped",
			atomic_load_explicit(&rec->r->live->dropped,
					     memory_order_relaxed));
	emit_info_end(&rec->info, &rec->drain, reason,
		      message[0] ? message : NULL, code);
	chunk_close(&rec->out);
	/* events that could not be written stay in the live file */
	if (!rec->gave_up)
		live_unlink(&rec->live);
	reporter_finish(&rec->reporter);
	close(rec->output.fd);
}

static void recorder_report(struct recording *r, uint32_t state)
{
	DEBUG_ASSERT(state > GL_RECORDER_STARTING && state <= GL_RECORDER_DONE);
	/* pairs with the acquire of parent_forks */
	atomic_store_explicit(&r->shared->recorder_state, state,
			      memory_order_release);
	futex_wake(&r->shared->recorder_state);
}

void recorder_run(struct recorder *rec)
{
	const char *reason;

	if (recorder_begin(rec)) {
		gate_close_for_good(rec->r->shared);
		recorder_release(rec->r);
		live_unlink(&rec->live);
		recorder_log_start(rec);
		recorder_report(rec->r, GL_RECORDER_FAILED);
		return;
	}
	recorder_log_start(rec);
	log_file_print(OPTION_LOG_INFO, "records", rec->exe);
	log_file_print(OPTION_LOG_INFO, "trace", rec->output.path);
	recorder_report(rec->r, GL_RECORDER_READY);
	reason = recorder_work(rec);
	log_file_print(OPTION_LOG_INFO, "ends", reason);
	recorder_finish(rec, reason);
	recorder_report(rec->r, GL_RECORDER_DONE);
}
