/*
 * writer.c: the life of the writer.
 *
 * It is a task made by a raw clone with CLONE_VM and hardly anything else: it
 * shares the target's memory, but not its descriptors, directory, signal
 * handlers or thread group. So nothing that the target does to itself reaches
 * it: kill, _exit, exec, closing all descriptors, chroot, seccomp filters.
 *
 *	clone ─▶ open the trace, make the live file ─▶ ready
 *	             ┌──────────────────────────────────┘
 *	             ▼
 *	      drain, sync, sleep ◀──┐
 *	             ├──────────────┘
 *	             ├─ target dead or in another program ─▶ drain all, END
 *	             └─ cannot write ─▶ END, recording off
 *
 * It is nobody's child in the target (birth.c).
 *
 * Where such a clone is refused it is a thread by raw clone, which dies with
 * its process; the end of the program then waits for it (writer_join).
 *
 * What it does before its loop is in writer_begin.c, what it tells the user in
 * writer_say.c, what the target's threads have to do with it in
 * writer_start.c.
 *
 * I1: all signals are blocked from before the clone on.
 * I2: no function of the C library is entered; its thread pointer points to a
 *     block of ours, because compiled code may look for a canary there.
 */
#include "preload/writer_task.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>

#include "preload/aside.h"
#include "preload/census.h"
#include "preload/exit_status.h"
#include "preload/guard.h"
#include "preload/guard_end.h"
#include "preload/log.h"
#include "preload/serve.h"
#include "preload/sys.h"
#include "preload/text.h"
#include "preload/turn.h"

#define WRITER_NAP_MIN_NS (8 * UINT64_C(1000000))	/* producers wake us */
#define WRITER_NAP_HURRY_NS UINT64_C(1000000)	/* the target is ending */
#define WRITER_NAP_MAX_NS (50 * UINT64_C(1000000))
#define WRITER_LOOK_NS (100 * UINT64_C(1000000))

static bool writer_look_at_maps(struct writer *w, uint64_t now_ns)
{
	return maps_watch_step(
		&w->maps, now_ns,
		atomic_load_explicit(&w->r->shared->maps_hints,
				     memory_order_relaxed));
}

/* Until something is due. */
static uint64_t writer_rest_ns(const struct writer *w)
{
	uint64_t ns = base_min(w->nap_ns, control_wait_ns(w));

	ns = base_min(ns, stats_wait_ns(&w->books.stats));
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
	    !unwind_may(UNWIND_NO_WAIT))
		w->nap_ns = WRITER_NAP_HURRY_NS;
	/* see recorder_wake */
	atomic_store_explicit(&shared->asleep, 1, memory_order_seq_cst);
	w->feed.rested = atomic_load_explicit(&shared->wake,
					      memory_order_seq_cst) == seen;
	if (w->feed.rested)
		sys_futex_wait(&shared->wake, seen, writer_rest_ns(w));
	atomic_store_explicit(&shared->asleep, 0, memory_order_relaxed);
}

/* What has to be looked after now and then. True: the target has gone on to
 * another program. */
static bool writer_look(struct writer *w, uint64_t now_ns)
{
	if (now_ns - w->looked_ns < WRITER_LOOK_NS)
		return false;
	w->looked_ns = now_ns;
	if (!target_same(&w->target))
		return true;
	log_thread(target_task(&w->target));
	writer_say_mutes(w);
	writer_say_drops(w);
	census_look(&w->feed, false, now_ns);
	census_names(&w->feed, now_ns);
	seccomp_look(&w->seccomp, w->r);
	/* early: only we know their whole paths, should we be killed */
	emit_image_flush(&w->images);
	return false;
}

/* Rings are scarce: those of threads that have ended are wanted. */
static bool writer_hungry(struct gl_shared *shared)
{
	return atomic_exchange_explicit(&shared->ring_short, 0,
					memory_order_relaxed) ||
	       atomic_load_explicit(&shared->ring_hungry[RECORDER_PRIMARY],
				    memory_order_relaxed);
}

/* A process that is short of memory may be killed any moment: what it has done
 * so far is written first. */
static void writer_look_at_pressure(struct writer *w, uint64_t now_ns)
{
	char name[SNAPSHOT_NAME_MAX];

	/* one that is under way is finished first */
	if (w->snapshot.busy || !pressure_look(&w->pressure, now_ns, name))
		return;
	feed_sync(&w->feed, FEED_ALL);
	snapshot_begin(&w->snapshot, GT_SNAPSHOT_ASKED, name);
}

/* Until there is a reason to end, which it returns; NULL: only this task
 * does (writer_step_aside). */
static const char *writer_work(struct writer *w)
{
	struct recorder *r = w->r;
	struct gl_shared *shared = r->shared;

	w->nap_ns = WRITER_NAP_MIN_NS;
	if (!w->again)
		writer_foreign_begin(w);
	for (;;) {
		uint32_t seen = atomic_load_explicit(&shared->wake,
						     memory_order_seq_cst);
		uint64_t now_ns = sys_now_ns(), bytes;
		bool more;

		atomic_fetch_add_explicit(&shared->beats, 1,
					  memory_order_relaxed);
		serve_pending(w);
		if (atomic_load_explicit(&r->aside, memory_order_acquire))
			return NULL;
		writer_reserve(w);
		if (writer_hungry(shared))
			census_look(&w->feed, true, now_ns);
		pool_refill(&w->pool);
		/* what it had become by exec may have ended before a look */
		if (target_dead(&w->target))
			return atomic_load_explicit(&shared->execs,
						    memory_order_acquire) ?
				       "exec" : "exit";
		if (atomic_load_explicit(&r->too_late, memory_order_relaxed))
			gate_shut_for_good(shared);
		if (gate_is_off(shared) ||
		    atomic_load_explicit(&shared->stop, memory_order_acquire))
			return w->target.thread ? "exit" : "error";
		if (writer_look(w, now_ns))
			return "exec";
		atomic_store_explicit(&shared->live_blocks,
				      feed_live_blocks(&w->feed),
				      memory_order_relaxed);
		control_step(w, now_ns);
		control_socket_step(w, now_ns);
		if (!aside_dormant())
			usage_look(&w->usage, now_ns);
		emit_names_look(&w->names, w->maps.dump, now_ns, false);
		writer_look_at_pressure(w, now_ns);
		reporter_step(&w->reporter);
		more = snapshot_step(&w->snapshot, now_ns);
		more |= embedder_step(&w->embed, now_ns);
		bytes = feed_pass(&w->feed, FEED_ENOUGH);
		if (feed_sync_due(&w->feed, now_ns))
			feed_sync(&w->feed, FEED_ALL);
		if (!aside_dormant())
			more |= writer_look_at_maps(w, now_ns);
		writer_foreign_look(w, now_ns);
		books_look(w, now_ns);
		if (w->out.err)
			return "stopped";
		if (!more)
			writer_sleep(w, seen, bytes != 0 || turn_given(shared));
	}
}

/* Whoever waits for room finds that there is nothing to wait for. */
static void writer_release(struct recorder *r)
{
	uint32_t count = atomic_load_explicit(&r->live->ring_count,
					      memory_order_relaxed), id;

	for (id = 0; id < count; id++)
		sys_futex_wake(&r->rings[id].tail);
}

static void writer_give_up(struct writer *w, char *message, size_t size)
{
	struct recorder *r = w->r;
	struct text text;

	gate_shut_for_good(r->shared);
	writer_release(r);
	text_init(&text, message, size);
	text_put(&text, "cannot write ");
	text_put(&text, w->output.path);
	text_put(&text, ": ");
	text_error(&text, w->out.err);
	text_put(&text, ": recording has stopped, what was written stays "
			"readable");
	log_tell(OPTION_LOG_ERROR, message);
	/* once more, for the last words: there is room for them */
	w->gave_up = w->out.regular;
	w->out.err = w->out.regular ? 0 : w->out.err;
}

/* The last events, and what only the end knows. */
static void writer_finish_events(struct writer *w)
{
	/* the memory is there until we leave it, whatever became of the
	 * target */
	usage_finish(&w->usage, snapshot_finish(&w->snapshot));
	if (guard.on && !w->target.thread) {
		feed_sync(&w->feed, FEED_ALL);
		guard_end(&w->feed);
	}
	feed_sync(&w->feed, FEED_LAST);
	books_finish(w);
	maps_watch_whole(&w->maps);
	emit_names_look(&w->names, w->maps.dump, sys_now_ns(), true);
	w->info.names_skipped = emit_names_skipped(&w->names);
	/* the rest is there: this may take longest */
	embedder_finish(&w->embed);
}

static void writer_finish(struct writer *w, const char *reason)
{
	char message[GT_PATH_MAX];
	int code = -1;

	message[0] = '\0';
	control_socket_close(w);
	if (strcmp(reason, "exit") == 0 && !w->target.thread)
		code = target_exit_code(&w->target);
	if (w->out.err) {
		/* should there be no room to say it in the trace */
		atomic_store_explicit(&w->r->live->error, -w->out.err,
				      memory_order_relaxed);
		writer_give_up(w, message, sizeof(message));
	} else if (strcmp(reason, "error") == 0) {
		memcpy(message, w->r->message, sizeof(w->r->message));
	} else {
		writer_finish_events(w);
	}
	/* the disk may have become full just now */
	if (w->out.err && !message[0])
		writer_give_up(w, message, sizeof(message));
	/* last, as its parent may have yet to say so */
	if (code < 0 && strcmp(reason, "exit") == 0 && !w->target.thread)
		code = exit_status_find(w->r);
	w->out.last_words = true;
	emit_info_counters(&w->info, &w->feed);
	log_number(OPTION_LOG_INFO, "events", w->feed.events);
	log_number(OPTION_LOG_INFO, "dropped",
		   atomic_load_explicit(&w->r->live->dropped,
					memory_order_relaxed));
	emit_info_end(&w->info, &w->feed, reason, message[0] ? message : NULL,
		      code);
	chunk_close(&w->out);
	/* what could not be written stays in the live file */
	if (!w->gave_up)
		live_unlink(&w->live);
	reporter_finish(&w->reporter);
	sys_close(w->output.fd);
}

static void writer_tell(struct recorder *r, uint32_t what)
{
	/* pairs with the acquire of writer_wait */
	atomic_store_explicit(&r->ready, what, memory_order_release);
	sys_futex_wake(&r->ready);
}

/* A batch task does not preempt the thread that wakes it. If that is refused
 * we only disturb more. */
static void writer_be_batch(void)
{
	struct sched_param none = { 0 };

	arch_syscall3(__NR_sched_setscheduler, 0, SCHED_BATCH, (long)&none);
}

static void writer_be(struct writer *w)
{
	const char *reason;

	log_say(OPTION_LOG_INFO, w->again ? "goes on" : "records", w->exe);
	log_say(OPTION_LOG_INFO, "trace", w->output.path);
	writer_tell(w->r, WRITER_READY);
	reason = writer_work(w);
	if (!reason)
		return;		/* another task goes on */
	log_say(OPTION_LOG_INFO, "ends", reason);
	writer_finish(w, reason);
	writer_tell(w->r, WRITER_DONE);
}

void writer_task(void *arg)
{
	struct writer *w = arg;

	w->target.thread = w->birth.thread;
	if (!w->target.thread)
		arch_syscall0(__NR_setsid);
	arch_syscall2(__NR_prctl, PR_SET_NAME, (long)CONTROL_RECORDER);
	writer_be_batch();
	atomic_store_explicit(&w->r->writer_tid, sys_gettid(),
			      memory_order_relaxed);
	arch_syscall1(__NR_set_tid_address, (long)&w->r->writer_tid);
	if (w->again) {
		writer_take_up(w);
		writer_be(w);
	} else if (writer_begin(w)) {
		live_unlink(&w->live);
		writer_tell(w->r, WRITER_FAILED);
	} else {
		writer_be(w);
	}
	for (;;)
		arch_syscall1(__NR_exit, 0);
}
