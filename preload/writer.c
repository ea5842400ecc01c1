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
 * It is nobody's child in the target (writer_bear).
 *
 * Where such a clone is refused it is a thread by raw clone, which dies with
 * its process; the end of the program then waits for it (writer_join).
 *
 * I1: all signals are blocked from before the clone on.
 * I2: no function of the C library is entered; its thread pointer points to a
 *     block of ours, because compiled code may look for a canary there.
 */
#include "preload/writer.h"

#include <errno.h>
#include <linux/wait.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>

#include "preload/area.h"
#include "preload/birth.h"
#include "preload/census.h"
#include "preload/emit_info.h"
#include "preload/emit_names.h"
#include "preload/feed.h"
#include "preload/foreign.h"
#include "preload/kinship.h"
#include "preload/live.h"
#include "preload/maps_watch.h"
#include "preload/message.h"
#include "preload/output.h"
#include "preload/proc.h"
#include "preload/seccomp.h"
#include "preload/serve.h"
#include "preload/snapshot.h"
#include "preload/sys.h"
#include "preload/target.h"
#include "preload/text.h"
#include "preload/turn.h"
#include "preload/usage.h"

#define WRITER_ASIDE_S 2		/* for the writer to step aside */
#define WRITER_START_NS (10 * UINT64_C(1000000000))
#define WRITER_WAIT_NAP_NS (100 * UINT64_C(1000000))
#define WRITER_NAP_MIN_NS (8 * UINT64_C(1000000))	/* producers wake us */
#define WRITER_NAP_HURRY_NS UINT64_C(1000000)	/* the target is ending */
#define WRITER_NAP_MAX_NS (50 * UINT64_C(1000000))
#define WRITER_LOOK_NS (100 * UINT64_C(1000000))
#define WRITER_CALIBRATE_NS 100000
#define WRITER_TICK_NS 16	/* shortest tick */
#define WRITER_WINDOW_NS 2000
#define WRITER_JOIN_NS (5 * UINT64_C(1000000000))
#define WRITER_UNSEEN_NS (5 * UINT64_C(1000000000))
#define WRITER_HEAR_NS (20 * UINT64_C(1000000))
#define WRITER_HEAR_NAPS 10

/* The payload of the longest chunk: events, or the images of one batch. */
#define WRITER_ROOM (ENCODE_PAYLOAD_MAX + (256u << 10))

struct writer {
	struct recorder *r;
	struct live live;
	struct output output;
	struct chunk_out out;
	struct compress compress;
	struct encode encode;
	struct emit_node nodes;
	struct emit_image images;
	struct emit_names names;
	struct pool pool;
	struct feed feed;
	struct emit_info info;
	struct maps_watch maps;
	struct usage usage;
	struct snapshot snapshot;
	struct target target;
	struct birth birth;
	bool again;		/* another task has begun what this goes on with */
	struct seccomp_watch seccomp;
	struct foreign foreign;
	uint64_t start_ns;
	bool told_drops;
	bool told_mutes;
	bool gave_up;		/* the trace lacks what the live file has */
	uint64_t looked_ns;
	uint64_t nap_ns;
	char exe[GT_PATH_MAX];
};

static void writer_close_fds(void)
{
	int fd;

	if (arch_syscall3(__NR_close_range, 0, ~0u, 0) == 0)
		return;
	/* kernels before 5.9 */
	for (fd = 0; fd < 65536; fd++)
		sys_close(fd);
}

static void writer_watch(struct writer *w)
{
	target_watch(&w->target);
	seccomp_watch_begin(&w->seccomp);
	if (!proc_stat(w->r->pid, PROC_STAT_STARTTIME,
		       &w->live.header->start_time))
		w->live.header->start_time = 0;
}

static uint64_t writer_random(void)
{
	uint64_t value = 0;

	if (arch_syscall3(__NR_getrandom, (long)&value, sizeof(value), 1) ==
	    sizeof(value))
		return value;
	return arch_cycles() * UINT64_C(0x9e3779b97f4a7c15) ^ sys_now_ns();
}

/* Where nothing is mounted at /proc. */
static void writer_guess_exe(struct writer *w)
{
	const char *name = recorder_executed();
	char here[GT_PATH_MAX];
	struct text text;

	if (!name)
		return;
	text_init(&text, w->exe, sizeof(w->exe));
	if (name[0] != '/' &&
	    !sys_failed(arch_syscall2(__NR_getcwd, (long)here, sizeof(here)))) {
		text_put(&text, here);
		text_char(&text, '/');
	}
	text_put(&text, name);
}

static void writer_find_exe(struct writer *w)
{
	char path[64];
	long n;

	proc_path_shared(w->r->pid, "exe", path, sizeof(path));
	n = arch_syscall4(__NR_readlinkat, AT_FDCWD, (long)path, (long)w->exe,
			  sizeof(w->exe) - 1);
	w->exe[sys_failed(n) ? 0 : n] = '\0';
	if (sys_failed(n))
		writer_guess_exe(w);
}

static int writer_open_output(struct writer *w)
{
	struct output_names names = {
		.pattern = recorder_options.output,
		.force = recorder_options.number[OPTION_FORCE],
		.child = w->r->forked ||
			 kinship_is_child(w->r->pid, recorder_options.output),
		.pid = w->r->pid,
		.start_ns = kinship_start_ns(w->r->pid),
		.unix_seconds = sys_clock(CLOCK_REALTIME) / SYS_NS,
		.program = w->exe,
		.host = "host",
	};
	struct utsname host;
	const char *p;

	if (!arch_syscall1(__NR_uname, (long)&host))
		names.host = host.nodename;
	for (p = w->exe; *p; p++)
		if (*p == '/')
			names.program = p + 1;
	return output_open(&w->output, &names);
}

/* tick_shift and window_ticks from two looks at counter and clock. */
static void writer_calibrate(struct gl_header *h)
{
	uint64_t ns, ticks;
	unsigned shift = 0;

	do
		ns = sys_now_ns() - h->monotonic0_ns;
	while (ns < WRITER_CALIBRATE_NS);
	ticks = arch_cycles() - h->counter0;
	while (shift < 32 && (ns << shift) / (ticks ? ticks : 1) <
				     WRITER_TICK_NS)
		shift++;
	h->tick_shift = shift;
	h->window_ticks = WRITER_WINDOW_NS * (ticks >> shift) / ns + 1;
	if (h->window_ticks < 2)
		h->window_ticks = 2;
}

static int writer_open_live(struct writer *w, uint64_t trace_id,
			    const struct gl_header *moment)
{
	struct live_where where = {
		.live_dir = recorder_options.live_dir,
		.trace = w->output.regular ? w->output.path : "",
		.memory = recorder_options.number[OPTION_MEMORY],
		.pid = w->r->pid,
		.random = writer_random(),
	};
	int err = live_open(&w->live, &where);
	struct gl_header *h = w->live.header;

	if (err)
		return err;
	h->trace_id = trace_id;
	h->pid = w->r->pid;
	h->writer_pid = sys_getpid();
	h->counter0 = moment->counter0;
	h->monotonic0_ns = moment->monotonic0_ns;
	h->realtime0_ns = moment->realtime0_ns;
	writer_calibrate(h);
	memcpy(h->trace_path, w->output.path, sizeof(h->trace_path));
	/* written last: the rest is there */
	__atomic_store_n(&h->magic, GL_MAGIC, __ATOMIC_RELEASE);
	if (w->live.fd < 0 && !w->r->message[0])
		text_message(w->r->message, sizeof(w->r->message),
			     "no live file: if recorder and program are "
			     "killed together, the last events are lost",
			     where.live_dir[0] ? where.live_dir : NULL,
			     w->live.err);
	return 0;
}

/* What threads fill by themselves, ahead of them. */
static void writer_reserve(struct writer *w)
{
	struct recorder *r = w->r;

	live_ahead(&w->live);
	atomic_store_explicit(&r->nodes_refused, w->live.nodes_refused,
			      memory_order_relaxed);
	atomic_store_explicit(&r->images_refused, w->live.images_refused,
			      memory_order_relaxed);
	if (atomic_load_explicit(&r->image_limit, memory_order_relaxed) ==
	    w->live.images_reserved)
		return;
	/* pairs with the acquire of whoever describes an image */
	atomic_store_explicit(&r->image_limit, w->live.images_reserved,
			      memory_order_release);
	sys_futex_wake(&r->image_limit);
}

static int writer_memory(struct writer *w)
{
	struct gl_header *h = w->live.header;
	int err;

	compress_init(&w->compress);
	err = emit_node_init(&w->nodes,
			     live_at(&w->live, h->nodes_offset),
			     w->live.nodes_max, &w->out, &w->compress);
	if (!err)
		err = encode_init(&w->encode, &w->nodes, h->tick_shift);
	if (err)
		return err;
	w->images.reserved = &w->live.images_reserved;
	w->images.images = live_at(&w->live, h->images_offset);
	w->images.header = h;
	w->images.out = &w->out;
	w->images.exe = w->exe;
	w->feed.pool = &w->pool;
	w->feed.out = &w->out;
	w->feed.compress = &w->compress;
	w->feed.encode = &w->encode;
	w->feed.nodes = &w->nodes;
	w->feed.images = &w->images;
	w->feed.tick_shift = h->tick_shift;
	w->info.r = w->r;
	w->info.out = &w->out;
	w->info.live = &w->live;
	w->info.output = &w->output;
	w->info.exe = w->exe;
	w->info.usage = &w->usage;
	w->info.maps = &w->maps;
	emit_names_init(&w->names, &w->out, &w->compress, &h->node_count,
			w->r->pid, h->realtime0_ns);
	usage_init(&w->usage, &w->out, w->r->pid, h->tick_shift);
	snapshot_init(&w->snapshot, w->r, &w->live, &w->out, &w->compress);
	w->r->live = h;
	writer_reserve(w);
	w->r->rings = live_at(&w->live, h->data_offset);
	pool_init(&w->pool, w->r, &w->live,
		  recorder_options.number[OPTION_RING]);
	return feed_init(&w->feed, w->r);
}

/* Mappings that no hook sees. */
static void writer_watch_maps(struct writer *w)
{
	if (recorder_options.number[OPTION_MAPS] == OPTION_MAPS_OFF)
		return;
	maps_watch_init(&w->maps, &w->out, w->live.header->tick_shift,
			w->r->pid);
	maps_watch_own(&w->maps, w->r, area_size_bytes());
	maps_watch_own(&w->maps, w->live.header, w->live.size);
	if (recorder_told)
		maps_watch_own(&w->maps, recorder_told, RECORDER_TOLD_SIZE);
	maps_watch_whole(&w->maps);
}

static bool writer_look_at_maps(struct writer *w, uint64_t now_ns)
{
	return maps_watch_step(
		&w->maps, now_ns,
		atomic_load_explicit(&w->r->maps_hints, memory_order_relaxed));
}

/* Everything up to the first event. */
static int writer_set_up(struct writer *w)
{
	struct gl_header moment = {
		.counter0 = arch_cycles(),
		.monotonic0_ns = sys_now_ns(),
		.realtime0_ns = sys_clock(CLOCK_REALTIME),
	};
	uint64_t trace_id = writer_random();
	int descriptor = output_descriptor(recorder_options.output);
	int err;

	/* an inherited descriptor has to be taken over before it is closed */
	if (descriptor < 0)
		writer_close_fds();
	writer_find_exe(w);
	err = writer_open_output(w);
	memcpy(w->r->message, w->output.message, sizeof(w->r->message));
	if (err)
		return err;
	if (descriptor >= 0) {
		arch_syscall3(__NR_close_range, 0, w->output.fd - 1, 0);
		arch_syscall3(__NR_close_range, w->output.fd + 1, ~0u, 0);
	}
	err = writer_open_live(w, trace_id, &moment);
	if (!err)
		writer_watch(w);
	if (!err)
		err = chunk_open(&w->out, w->output.fd, trace_id,
				 WRITER_ROOM);
	w->out.reserves = w->output.regular;
	if (!err)
		err = writer_memory(w);
	if (!err) {
		emit_info_start(&w->info);
		feed_sync(&w->feed, FEED_ALL);
		writer_watch_maps(w);
		err = w->out.err;
	}
	if (err)
		text_message(w->r->message, sizeof(w->r->message),
			     "cannot record", w->output.path, err);
	return err;
}

static void writer_sleep(struct writer *w, uint32_t seen, bool worked)
{
	struct recorder *r = w->r;

	if (worked)
		w->nap_ns = WRITER_NAP_MIN_NS;
	else if (w->nap_ns < WRITER_NAP_MAX_NS)
		w->nap_ns = base_min(2 * w->nap_ns, WRITER_NAP_MAX_NS);
	if (atomic_load_explicit(&r->hurry, memory_order_relaxed) ||
	    !unwind_may(UNWIND_NO_WAIT))
		w->nap_ns = WRITER_NAP_HURRY_NS;
	/* see recorder_wake */
	atomic_store_explicit(&r->asleep, 1, memory_order_seq_cst);
	w->feed.rested = atomic_load_explicit(&r->wake,
					      memory_order_seq_cst) == seen;
	if (w->feed.rested)
		sys_futex_wait(&r->wake, seen,
			       base_min(w->nap_ns,
					snapshot_wait_ns(&w->snapshot)));
	atomic_store_explicit(&r->asleep, 0, memory_order_relaxed);
}

static void writer_tell_drops(struct writer *w)
{
	if (w->told_drops ||
	    !atomic_load_explicit(&w->r->live->dropped, memory_order_relaxed))
		return;
	w->told_drops = true;
	message_say_for(target_task(&w->target),
			"the trace cannot be written fast enough, or --memory "
			"is used up: events are dropped and counted");
}

static void writer_tell_mutes(struct writer *w)
{
	if (w->told_mutes ||
	    !atomic_load_explicit(&w->r->mutes, memory_order_relaxed))
		return;
	w->told_mutes = w->told_drops = true;
	message_say_for(target_task(&w->target),
			"a thread has forbidden itself the processor's "
			"counter: its events are dropped and counted");
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
	writer_tell_mutes(w);
	writer_tell_drops(w);
	census_look(&w->feed, false, now_ns);
	census_names(&w->feed, now_ns);
	seccomp_look(&w->seccomp, w->r);
	/* early: only we know their whole paths, should we be killed */
	emit_image_flush(&w->images);
	return false;
}

/* Rings are scarce: those of threads that have ended are wanted. */
static bool writer_hungry(struct recorder *r)
{
	return atomic_exchange_explicit(&r->ring_short, 0,
					memory_order_relaxed) ||
	       atomic_load_explicit(&r->ring_hungry[RECORDER_PRIMARY],
				    memory_order_relaxed);
}

static void writer_foreign_tell(struct writer *w)
{
	char message[GT_PATH_MAX];

	foreign_describe(&w->foreign, message, sizeof(message));
	message_say_for(target_task(&w->target), message);
}

static void writer_foreign_done(struct writer *w)
{
	w->foreign.state = FOREIGN_NONE;
	atomic_store_explicit(&w->r->foreign_done, 1, memory_order_release);
	sys_futex_wake(&w->r->foreign_done);
}

/* Once in a program, not in its forked children. */
static void writer_foreign_begin(struct writer *w)
{
	w->start_ns = sys_now_ns();
	if (!w->r->forked)
		foreign_look(&w->foreign, w->exe);
	if (w->foreign.state == FOREIGN_SURE)
		writer_foreign_tell(w);
	if (w->foreign.state == FOREIGN_NONE ||
	    w->foreign.state == FOREIGN_SURE)
		writer_foreign_done(w);
}

/* Whether anything was seen says what its symbols left open. */
static void writer_foreign(struct writer *w, uint64_t now_ns)
{
	bool ends = atomic_load_explicit(&w->r->hurry, memory_order_relaxed);

	if (w->foreign.state == FOREIGN_NONE ||
	    (!ends && now_ns - w->start_ns < WRITER_UNSEEN_NS))
		return;
	feed_sync(&w->feed, FEED_ALL);
	if (!w->feed.blocks && !(ends && w->foreign.state == FOREIGN_PATCHED))
		writer_foreign_tell(w);
	writer_foreign_done(w);
}

/* Until there is a reason to end, which it returns; NULL: only this task
 * does (writer_step_aside). */
static const char *writer_work(struct writer *w)
{
	struct recorder *r = w->r;

	if (!w->again)
		writer_foreign_begin(w);
	for (;;) {
		uint32_t seen = atomic_load_explicit(&r->wake,
						     memory_order_seq_cst);
		uint64_t now_ns = sys_now_ns(), bytes;
		bool more;

		atomic_fetch_add_explicit(&r->beats, 1, memory_order_relaxed);
		serve_pending(r, &w->live);
		if (atomic_load_explicit(&r->aside, memory_order_acquire))
			return NULL;
		writer_reserve(w);
		if (writer_hungry(r))
			census_look(&w->feed, true, now_ns);
		pool_refill(&w->pool);
		/* what it had become by exec may have ended before a look */
		if (target_dead(&w->target))
			return atomic_load_explicit(&r->execs,
						    memory_order_acquire) ?
				       "exec" : "exit";
		if (atomic_load_explicit(&r->stop, memory_order_acquire))
			return w->target.thread ? "exit" : "error";
		if (writer_look(w, now_ns))
			return "exec";
		atomic_store_explicit(&r->live_blocks,
				      feed_live_blocks(&w->feed),
				      memory_order_relaxed);
		usage_look(&w->usage, now_ns);
		emit_names_look(&w->names, w->maps.dump, now_ns, false);
		more = snapshot_step(&w->snapshot, now_ns);
		bytes = feed_pass(&w->feed, FEED_ENOUGH);
		if (feed_sync_due(&w->feed, now_ns))
			feed_sync(&w->feed, FEED_ALL);
		more = writer_look_at_maps(w, now_ns);
		writer_foreign(w, now_ns);
		if (w->out.err)
			return "stopped";
		if (!more)
			writer_sleep(w, seen, bytes != 0 || turn_given(r));
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

	atomic_store_explicit(&r->state, RECORDER_OFF, memory_order_release);
	writer_release(r);
	text_init(&text, message, size);
	text_put(&text, "cannot write ");
	text_put(&text, w->output.path);
	text_put(&text, ": ");
	text_error(&text, w->out.err);
	text_put(&text, ": recording has stopped, what was written stays "
			"readable");
	message_say_for(target_task(&w->target), message);
	/* once more, for the last words: there is room for them */
	w->gave_up = w->out.regular;
	w->out.err = w->out.regular ? 0 : w->out.err;
}

static int writer_exit_code(const struct writer *w)
{
	uint64_t code;

	return proc_stat(w->r->pid, PROC_STAT_EXIT_CODE, &code) ? (int)code :
								  -1;
}

/* The last events, and what only the end knows. */
static void writer_finish_events(struct writer *w)
{
	/* the memory is there until we leave it, whatever became of the
	 * target */
	usage_finish(&w->usage, snapshot_finish(&w->snapshot));
	feed_sync(&w->feed, FEED_LAST);
	maps_watch_whole(&w->maps);
	emit_names_look(&w->names, w->maps.dump, sys_now_ns(), true);
	w->info.names_skipped = emit_names_skipped(&w->names);
}

static void writer_finish(struct writer *w, const char *reason)
{
	char message[GT_PATH_MAX];
	int code = -1;

	message[0] = '\0';
	if (strcmp(reason, "exit") == 0 && !w->target.thread)
		code = writer_exit_code(w);
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
	w->out.last_words = true;
	emit_info_counters(&w->info, &w->feed);
	emit_info_end(&w->info, &w->feed, reason, message[0] ? message : NULL,
		      code);
	chunk_close(&w->out);
	/* what could not be written stays in the live file */
	if (!w->gave_up)
		live_unlink(&w->live);
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

	writer_tell(w->r, WRITER_READY);
	reason = writer_work(w);
	if (!reason)
		return;		/* another task goes on */
	writer_finish(w, reason);
	writer_tell(w->r, WRITER_DONE);
}

/* What the task that stepped aside had open; all else is the target's. */
static void writer_take_up(struct writer *w)
{
	int last = w->output.fd, first = w->output.fd;

	if (w->live.fd >= 0) {
		first = base_min(first, w->live.fd);
		last = base_max(last, w->live.fd);
	}
	if (first > 0)
		arch_syscall3(__NR_close_range, 0, first - 1, 0);
	if (last - first > 1)
		arch_syscall3(__NR_close_range, first + 1, last - 1, 0);
	arch_syscall3(__NR_close_range, last + 1, ~0u, 0);
	w->live.header->writer_pid = sys_getpid();
	target_watch(&w->target);
}

static void writer_task(void *arg)
{
	struct writer *w = arg;

	w->target.thread = w->birth.thread;
	if (!w->target.thread)
		arch_syscall0(__NR_setsid);
	arch_syscall2(__NR_prctl, PR_SET_NAME, (long)"gnomon-writer");
	writer_be_batch();
	atomic_store_explicit(&w->r->writer_tid, sys_gettid(),
			      memory_order_relaxed);
	arch_syscall1(__NR_set_tid_address, (long)&w->r->writer_tid);
	if (w->again) {
		writer_take_up(w);
		writer_be(w);
	} else if (writer_set_up(w)) {
		live_unlink(&w->live);
		writer_tell(w->r, WRITER_FAILED);
	} else {
		writer_be(w);
	}
	for (;;)
		arch_syscall1(__NR_exit, 0);
}

static int writer_wait(struct recorder *r, uint32_t while_state,
		       uint64_t limit_ns)
{
	uint64_t end = sys_now_ns() + limit_ns, now;

	while (atomic_load_explicit(&r->ready, memory_order_acquire) ==
	       while_state) {
		now = sys_now_ns();
		if (now >= end)
			return -ETIMEDOUT;
		sys_futex_wait(&r->ready, while_state,
			       base_min(end - now, WRITER_WAIT_NAP_NS));
	}
	return 0;
}

/*
 * The descriptors of a writer that is gone, in our own table for a moment. As
 * only a process of one thread can ask for this, nobody sees them there.
 */
static bool writer_fetch(const struct writer *w, struct writer_aside *aside)
{
	long pidfd = arch_syscall2(__NR_pidfd_open, w->birth.pid, 0);
	long fd = -1;

	*aside = (struct writer_aside){ pidfd, -1, -1 };
	if (sys_failed(pidfd))
		return false;
	fd = arch_syscall3(__NR_pidfd_getfd, pidfd, w->output.fd, 0);
	aside->output = sys_failed(fd) ? -1 : fd;
	if (w->live.fd >= 0)
		fd = arch_syscall3(__NR_pidfd_getfd, pidfd, w->live.fd, 0);
	aside->live = sys_failed(fd) || w->live.fd < 0 ? -1 : fd;
	return aside->output >= 0 && (w->live.fd < 0 || aside->live >= 0);
}

static void writer_drop(struct writer_aside *aside)
{
	if (aside->pidfd >= 0)
		sys_close(aside->pidfd);
	if (aside->output >= 0)
		sys_close(aside->output);
	if (aside->live >= 0)
		sys_close(aside->live);
}

bool writer_step_aside(struct recorder *r, struct writer_aside *aside)
{
	struct timespec patience = { WRITER_ASIDE_S, 0 };
	struct pollfd poll = { .events = POLLIN };
	struct writer *w;

	if (!r || atomic_load_explicit(&r->state, memory_order_acquire) !=
			  RECORDER_ON ||
	    r->writer_is_thread || sys_getpid() != r->pid ||
	    !recorder_writer_alive(r) || !unwind_may(SECCOMP_NO_START))
		return false;
	w = r->writer;
	if (!writer_fetch(w, aside)) {
		writer_drop(aside);
		return false;
	}
	atomic_store_explicit(&r->aside, 1, memory_order_release);
	recorder_wake(r);
	poll.fd = aside->pidfd;
	if (arch_syscall5(__NR_ppoll, (long)&poll, 1, (long)&patience, 0, 0) ==
	    1)
		return true;
	/* it will find that it may stay, or has gone after all: then what
	 * there is remains in the live file */
	atomic_store_explicit(&r->aside, 0, memory_order_release);
	writer_drop(aside);
	return false;
}

/* Whether children of ours are in our own namespace of process ids: else the
 * first would be its init, or we were unknown to it. */
static bool writer_at_home(void)
{
	char own[64], children[64];
	long n = arch_syscall4(__NR_readlinkat, AT_FDCWD,
			       (long)"/proc/self/ns/pid", (long)own,
			       sizeof(own));

	return sys_failed(n) ||
	       (arch_syscall4(__NR_readlinkat, AT_FDCWD,
			      (long)"/proc/self/ns/pid_for_children",
			      (long)children, sizeof(children)) == n &&
		memcmp(own, children, n) == 0);
}

void writer_return(struct recorder *r, struct writer_aside *aside)
{
	struct writer *w = r->writer;

	/* where orphans are ours, it was our child */
	arch_syscall4(__NR_wait4, w->birth.pid, 0, __WALL | WNOHANG, 0);
	w->output.fd = w->out.fd = aside->output;
	w->live.fd = aside->live;
	w->maps.lines.fd = w->snapshot.lines.fd = -1;
	w->again = true;
	atomic_store_explicit(&r->aside, 0, memory_order_relaxed);
	atomic_store_explicit(&r->ready, WRITER_STARTING,
			      memory_order_relaxed);
	if (writer_at_home() && !sys_failed(birth_give(&w->birth)))
		writer_wait(r, WRITER_STARTING, WRITER_START_NS);
	else	/* what there is stays in the live file */
		atomic_store_explicit(&r->state, RECORDER_OFF,
				      memory_order_release);
	writer_drop(aside);
}

int writer_start(struct recorder *r)
{
	struct writer *w = area_alloc(sizeof(*w));
	long pid;
	int err;

	if (!w || birth_prepare(&w->birth))
		return -ENOMEM;
	r->writer = w;
	w->r = r;
	w->target.r = r;
	w->target.pidfd = -1;
	w->live.fd = -1;
	w->nap_ns = WRITER_NAP_MIN_NS;
	w->birth.fn = writer_task;
	w->birth.arg = w;
	pid = birth_give(&w->birth);
	if (sys_failed(pid)) {
		text_message(r->message, sizeof(r->message),
			     "the writer cannot start: this process is not "
			     "recorded", NULL, pid);
		return pid;
	}
	r->writer_is_thread = w->birth.thread;
	err = writer_wait(r, WRITER_STARTING, WRITER_START_NS);
	if (err)
		atomic_store_explicit(&r->stop, 1, memory_order_release);
	else if (atomic_load_explicit(&r->ready, memory_order_acquire) ==
		 WRITER_FAILED)
		err = -EIO;
	return err;
}

void writer_hear(struct recorder *r)
{
	unsigned naps;

	/* pairs with the release of writer_foreign_done */
	for (naps = 0; naps < WRITER_HEAR_NAPS &&
		       !atomic_load_explicit(&r->foreign_done,
					     memory_order_acquire) &&
		       recorder_writer_alive(r); naps++)
		recorder_nap(r, &r->foreign_done, 0, WRITER_HEAR_NS);
}

void writer_join(struct recorder *r)
{
	if (!r->writer_is_thread)
		return;
	atomic_store_explicit(&r->stop, 1, memory_order_release);
	recorder_wake(r);
	/* bounded: the program's end is not ours to delay for long */
	writer_wait(r, WRITER_READY, WRITER_JOIN_NS);
}
