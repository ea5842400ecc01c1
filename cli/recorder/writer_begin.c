/*
 * writer_begin.c: the recorder's work before the first event: it examines the
 * target, opens the trace, and sets up its own state.
 */
#include "cli/recorder/writer_task.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/command/options_check.h"
#include "cli/base/mount_view.h"
#include "cli/recorder/process/exit_status_find.h"
#include "cli/recorder/base/failure.h"
#include "cli/recorder/base/futex.h"
#include "cli/recorder/process/trace_owner.h"
#include "cli/recorder/output/log_file.h"
#include "cli/recorder/base/message_out.h"
#include "cli/recorder/base/pathname.h"
#include "cli/recorder/base/proc_stat.h"
#include "cli/recorder/process/target_file.h"
#include "cli/recorder/base/time_ns.h"
#include "preload/base/options.h"
#include "cli/recorder/process/file_owner.h"
#include "cli/recorder/process/parent_live.h"
#include "unwind/assertion.h"

#define WRITER_CALIBRATE_NS 100000
#define WRITER_TICK_NS 16	/* shortest tick */
#define WRITER_WINDOW_NS 2000

/* The payload of the longest chunk: events, or the images of one batch. */
#define WRITER_ROOM (ENCODE_PAYLOAD_MAX + (256u << 10))

/* Closes a descriptor of the target; its number stays in use, so that no other
 * file gets it. */
static void writer_let_go(int fd)
{
	int none = open("/", O_PATH | O_CLOEXEC);

	ASSERT(fd >= 0);
	if (none < 0 || dup3(none, fd, O_CLOEXEC) < 0)
		close(fd);
	if (none >= 0 && none != fd)
		close(none);
}

/*
 * Keeps standard error for a report at the end, when all other descriptors of
 * it may be closed. Also keeps it if it is a regular file: program and recorder
 * share its position, so that neither overwrites the other. A pipe is not kept
 * without need, as its reader waits until all writers have closed it.
 */
static void writer_keep_error(struct writer *w)
{
	struct stat st;
	bool file = message_out_is_standard(2, &st) && S_ISREG(st.st_mode);

	message_out_keep(file ? 2 : -1);
	w->reporter.error = file || (recording_options->given[OPTION_REPORT] &&
				     !fstat(2, &st)) ? 2 : -1;
}

void writer_log_start(struct writer *w)
{
	int descriptor = options_descriptor(
		options_text(recording_options, OPTION_OUTPUT));
	struct stat st;

	if (w->r->message[0] && !w->r->quiet &&
	    message_out_is_standard(2, &st)) {
		message_out_at(2, w->r->message);
		atomic_store_explicit(&w->r->shared->spoke, 1,
				      memory_order_relaxed);
	}
	w->r->message[0] = '\0';
	if (w->reporter.error < 0)
		writer_let_go(2);
	if (descriptor >= 0 && descriptor != 2)
		writer_let_go(descriptor);
}

static void writer_watch(struct writer *w)
{
	uint64_t start;

	target_watch(&w->target);
	w->late = target_dead(&w->target);
	/* this reads its threads */
	if (!w->late)
		seccomp_watch_begin(&w->seccomp);
	/* The start time that the target read may be an emulator's, which is
	 * only about right. While the target lives, its pid is not reused, so
	 * /proc is right. */
	if ((!w->late && proc_stat(w->r->pid, PROC_STAT_STARTTIME, &start)) ||
	    proc_stat_field(w->r->at_start->stat, PROC_STAT_STARTTIME,
			    &start) ||
	    proc_stat(w->r->pid, PROC_STAT_STARTTIME, &start))
		w->r->start_time = start;
	w->live.header->start_time = w->r->start_time;
	exit_status_begin(w->r);
}

/* The program's path without /proc. */
static void writer_guess_exe(struct writer *w)
{
	const char *name = w->r->executed;
	char here[GT_PATH_MAX];
	bool below;

	if (!*name)
		return;
	below = name[0] != '/' && getcwd(here, sizeof(here));
	/* truncated if it is longer */
	pathname_print(w->exe, sizeof(w->exe), "%s%s%s", below ? here : "",
		       below ? "/" : "", name);
}

static void writer_find_exe(struct writer *w)
{
	char path[64];
	ssize_t n;

	target_file_path(GL_FILE_EXE, path, sizeof(path));
	n = readlink(path, w->exe, sizeof(w->exe) - 1);
	w->exe[n < 0 ? 0 : n] = '\0';
	if (n < 0)
		writer_guess_exe(w);
}

static int writer_open_output(struct writer *w)
{
	const char *output = options_text(recording_options, OPTION_OUTPUT);
	struct output_names names = {
		.pattern = output,
		.force = recording_options->number[OPTION_FORCE],
		.child =
			w->r->forked || trace_owner_is_child(w->r->pid, output),
		.pid = w->r->pid,
		.start_ns = trace_owner_start_ns(w->r->pid),
		.unix_seconds = time_ns_of(CLOCK_REALTIME) / TIME_NS_SECOND,
		.program = pathname_base(w->exe),
		.host = "host",
	};
	struct utsname host;

	if (!uname(&host))
		names.host = host.nodename;
	return output_open(&w->output, &names);
}

/* Computes tick_shift and window_ticks from two readings of counter and clock.
 * The target made the first reading, which cannot be later than now. */
static void writer_calibrate(struct gl_header *h)
{
	uint64_t ticks, ns = time_ns_moment(&ticks);
	unsigned shift = 0;

	if (h->monotonic0_ns > ns || h->counter0 > ticks) {
		h->monotonic0_ns = ns;
		h->counter0 = ticks;
	}
	do
		ns = time_ns_moment(&ticks) - h->monotonic0_ns;
	while (ns < WRITER_CALIBRATE_NS);
	ticks -= h->counter0;
	while (shift < 32 && (ns << shift) / (ticks ? ticks : 1) <
				     WRITER_TICK_NS)
		shift++;
	h->tick_shift = shift;
	h->window_ticks = WRITER_WINDOW_NS * (ticks >> shift) / ns + 1;
	if (h->window_ticks < 2)
		h->window_ticks = 2;
	ASSERT(h->window_ticks >= 2 && h->tick_shift <= 32);
}

/* Sets the message for the user, if there is none yet. */
static void writer_note(struct writer *w, const char *what, const char *path,
			int err)
{
	if (!w->r->message[0])
		failure_message(w->r->message, sizeof(w->r->message), what,
				path, err);
}

static void writer_fill_live(struct writer *w)
{
	const char *folder = options_text(recording_options, OPTION_LIVE_DIR);
	struct gl_header *h = w->live.header;

	h->writer_pid = getpid();
	writer_calibrate(&w->live.shape);
	h->tick_shift = w->live.shape.tick_shift;
	h->window_ticks = w->live.shape.window_ticks;
	memcpy(h->trace_path, w->output.path, sizeof(h->trace_path));
	h->view = mount_view();
	/* written last: the header is complete */
	order_write_release(h, magic, GL_MAGIC);
	if (w->live.err)
		writer_note(w, "no live file: if recorder and program are "
			       "killed together, the last events are lost",
			    *folder ? folder : NULL, w->live.err);
}

static void writer_limit(order_32 *limit, uint64_t reserved)
{
	DEBUG_ASSERT(reserved <= UINT32_MAX);
	if (atomic_load_explicit(limit, memory_order_relaxed) == reserved)
		return;
	/* pairs with the acquire of threads that fill the reserved memory */
	atomic_store_explicit(limit, reserved, memory_order_release);
	futex_wake(limit);
}

void writer_reserve(struct writer *w)
{
	struct gl_shared *shared = w->r->shared;

	live_ahead(&w->live);
	w->nodes.limit = w->live.nodes_reserved;
	DEBUG_ASSERT(w->nodes.limit <= w->live.nodes_max);
	atomic_store_explicit(&shared->nodes_refused, w->live.nodes_refused,
			      memory_order_relaxed);
	atomic_store_explicit(&shared->images_refused, w->live.images_refused,
			      memory_order_relaxed);
	atomic_store_explicit(&shared->heaps_refused, w->live.heaps_refused,
			      memory_order_relaxed);
	writer_limit(&shared->image_limit, w->live.images_reserved);
	writer_limit(&shared->heap_limit, w->live.heaps_reserved);
}

/* Innermost frames to keep of each stack; 0: all. With --depth 0 no frames are
 * kept, and threads capture no stacks. */
static uint32_t writer_depth(void)
{
	uint64_t depth = recording_options->number[OPTION_DEPTH];

	return depth <= OPTIONS_DEPTH_MAX ? (uint32_t)depth : 0;
}

static int writer_memory(struct writer *w)
{
	const struct gl_header *h = &w->live.shape;
	int err;

	err = recording_init(w->r);
	if (err)
		return err;
	compress_init(&w->compress);
	err = emit_node_init(&w->nodes,
			     (struct gl_node *)live_at(&w->live,
						       h->nodes_offset),
			     w->live.nodes_max, writer_depth(), &w->out,
			     &w->compress);
	if (!err)
		err = encode_init(&w->encode, &w->nodes, h->tick_shift,
				  recording_options->number
					  [OPTION_FREE_STACKS]);
	if (!err)
		err = emit_image_init(&w->images);
	if (err)
		return err;
	w->images.reserved = &w->live.images_reserved;
	w->images.images = (struct gl_image *)live_at(&w->live,
						      h->images_offset);
	w->images.header = w->live.header;
	w->images.out = &w->out;
	w->images.exe = w->exe;
	w->drain.pool = &w->pool;
	w->drain.out = &w->out;
	w->drain.compress = &w->compress;
	w->drain.encode = &w->encode;
	w->drain.nodes = &w->nodes;
	w->drain.images = &w->images;
	w->heaps.out = &w->out;
	w->heaps.tick_shift = h->tick_shift;
	w->drain.heaps = &w->heaps;
	w->drain.tick_shift = h->tick_shift;
	w->info.r = w->r;
	w->info.out = &w->out;
	w->info.live = &w->live;
	w->info.output = &w->output;
	w->info.exe = w->exe;
	w->info.usage = &w->usage;
	w->info.socket = &w->socket;
	w->info.maps = &w->maps;
	emit_names_init(&w->names, &w->out, &w->compress,
			&w->live.header->node_count,
			w->r->shared, w->r->pid,
			h->realtime0_ns);
	usage_init(&w->usage, &w->out, w->r->pid, h->tick_shift);
	snapshot_init(&w->snapshot, w->r, &w->live, &w->out, &w->compress);
	pressure_init(&w->pressure, w->r->pid);
	embedder_init(&w->embed, w);
	w->info.embed = &w->embed;
	w->heaps.shared = w->r->shared;
	w->heaps.reserved = &w->live.heaps_reserved;
	/* the target knows only the path as it was given */
	if (w->live.fd >= 0 && !w->r->shared->live_path[0])
		memcpy(w->r->shared->live_path, w->live.path,
		       sizeof(w->live.path));
	/* not for targets that have ended already: they are frequent */
	if (!w->late)
		writer_reserve(w);
	ring_pool_init(&w->pool, w->r, &w->live,
		       recording_options->number[OPTION_RING]);
	w->drain.writer = w;
	return drain_init(&w->drain, w->r);
}

/* Starts to watch mappings that no hook sees. */
static void writer_watch_maps(struct writer *w)
{
	if (recording_options->number[OPTION_MAPS] == OPTION_MAPS_OFF)
		return;
	maps_watch_init(&w->maps, &w->out, w->live.shape.tick_shift,
			w->r->pid, w->r->shared);
	maps_watch_whole(&w->maps);
}

/* Changes the owner as --chown says. On failure the file keeps its owner, and
 * the user gets a message. */
static void writer_give_away(struct writer *w, int fd)
{
	long err = file_owner_apply(fd);

	if (err)
		writer_note(w, err == -ENOENT ?
				       "no such user or group, so the trace's "
				       "owner is not changed" :
				       "cannot change the owner of the trace",
			    options_text(recording_options, OPTION_CHOWN), err);
}

static void writer_begin_log(struct writer *w)
{
	long err = log_file_begin(w->r->pid);

	if (err)
		writer_note(w, "cannot write the log, so it goes to standard "
			       "error: choose another file",
			    options_text(recording_options, OPTION_LOG_FILE),
			    err);
}

static int writer_find_owner(struct writer *w)
{
	const char *whose = options_text(recording_options, OPTION_CHOWN);
	struct file_owner owner;

	if (!*whose ||
	    file_owner_find(&owner, whose, "/etc/passwd", "/etc/group"))
		return 0;
	failure_message(w->r->message, sizeof(w->r->message),
			"--chown: no such user or group in /etc/passwd or "
			"/etc/group (numeric ids work too): this process is "
			"not recorded", NULL, 0);
	return -EINVAL;
}

/* Checks option values; the target checks only their types. */
static int writer_check_options(struct writer *w)
{
	const char *bad = options_misfit(environ);
	const char *wrong = options_disagree(recording_options);

	if (!bad && !wrong)
		return 0;
	failure_print(w->r->message, sizeof(w->r->message),
		      "%s%s: this process is not recorded",
		      bad ? "bad value: " : "", bad ? bad : wrong);
	return -EINVAL;
}

static int writer_open(struct writer *w)
{
	int err = writer_check_options(w);

	if (!err)
		err = writer_find_owner(w);
	if (err)
		return err;
	writer_find_exe(w);
	err = writer_open_output(w);
	memcpy(w->r->message, w->output.message, sizeof(w->r->message));
	if (err)
		return err;
	writer_keep_error(w);
	writer_begin_log(w);
	writer_give_away(w, w->output.fd);
	reporter_begin(&w->reporter, w->r,
		       w->output.regular ? w->output.path : "");
	writer_fill_live(w);
	file_owner_apply(w->live.fd);
	writer_watch(w);
	return 0;
}

int writer_begin(struct writer *w)
{
	int err = writer_open(w);

	if (err)
		return err;
	err = chunk_open(&w->out, w->output.fd, w->live.shape.trace_id,
			 WRITER_ROOM);
	/* a target that has ended records little more */
	w->out.reserves = w->output.regular && !w->late;
	if (!err)
		err = writer_memory(w);
	if (!err) {
		control_socket_init(w);
		w->info.part = recording_options->number[OPTION_LIMIT] != 0;
		emit_info_start(&w->info);
		control_begin(w);
		/* before the first events are taken */
		err = tracker_begin(w);
		if (!err)
			err = w->out.err;
	}
	if (err && err != -ESPIPE)
		failure_message(w->r->message, sizeof(w->r->message),
				"cannot record", w->output.path, err);
	if (err)
		return err;
	/* from here on, a write error ends a started recording */
	drain_sync(&w->drain, DRAIN_ALL);
	writer_watch_maps(w);
	return 0;
}
