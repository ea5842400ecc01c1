/*
 * recorder_begin.c: the recorder's work before the first event: it examines the
 * target, opens the trace, and sets up its own state.
 */
#include "cli/recorder/recorder.h"

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
#include "unwind/base/assertion.h"

#define RECORDER_CALIBRATE_NS 100000
#define RECORDER_TICK_NS 16	/* shortest tick */
#define RECORDER_WINDOW_NS 2000

/* The payload of the longest chunk: events, or the images of one batch. */
#define RECORDER_ROOM (ENCODE_PAYLOAD_MAX + (256u << 10))

/* Closes a descriptor of the target; its number stays in use, so that no other
 * file gets it. */
static void recorder_let_go(int fd)
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
static void recorder_keep_error(struct recorder *rec)
{
	struct stat st;
	bool file = message_out_is_standard(2, &st) && S_ISREG(st.st_mode);

	message_out_keep(file ? 2 : -1);
	rec->reporter.error =
		file || (recording_options->given[OPTION_REPORT] &&
			 !fstat(2, &st))
			? 2
			: -1;
}

void recorder_log_start(struct recorder *rec)
{
	int descriptor = options_descriptor(
		options_text(recording_options, OPTION_OUTPUT));
	struct stat st;

	if (rec->r->message[0] && !rec->r->quiet &&
	    message_out_is_standard(2, &st)) {
		message_out_at(2, rec->r->message);
		atomic_store_explicit(&rec->r->shared->spoke, 1,
				      memory_order_relaxed);
	}
	rec->r->message[0] = '\0';
	if (rec->reporter.error < 0)
		recorder_let_go(2);
	if (descriptor >= 0 && descriptor != 2)
		recorder_let_go(descriptor);
}

static void recorder_watch(struct recorder *rec)
{
	uint64_t start;

	target_watch(&rec->target);
	rec->late = target_dead(&rec->target);
	/* this reads its threads */
	if (!rec->late)
		seccomp_watch_begin(&rec->seccomp);
	/* The start time that the target read may be an emulator's, which is
	 * only about right. While the target lives, its pid is not reused, so
	 * /proc is right. */
	if ((!rec->late &&
	     proc_stat(rec->r->pid, PROC_STAT_STARTTIME, &start)) ||
	    proc_stat_field(rec->r->at_start->stat, PROC_STAT_STARTTIME,
			    &start) ||
	    proc_stat(rec->r->pid, PROC_STAT_STARTTIME, &start))
		rec->r->start_time = start;
	rec->live.header->start_time = rec->r->start_time;
	exit_status_begin(rec->r);
}

/* The program's path without /proc. */
static void recorder_guess_exe(struct recorder *rec)
{
	const char *name = rec->r->executed;
	char here[GT_PATH_MAX];
	bool below;

	if (!*name)
		return;
	below = name[0] != '/' && getcwd(here, sizeof(here));
	/* truncated if it is longer */
	pathname_print(rec->exe, sizeof(rec->exe), "%s%s%s", below ? here : "",
		       below ? "/" : "", name);
}

static void recorder_find_exe(struct recorder *rec)
{
	char path[64];
	ssize_t n;

	target_file_path(GL_FILE_EXE, path, sizeof(path));
	n = readlink(path, rec->exe, sizeof(rec->exe) - 1);
	rec->exe[n < 0 ? 0 : n] = '\0';
	if (n < 0)
		recorder_guess_exe(rec);
}

static int recorder_open_output(struct recorder *rec)
{
	const char *output = options_text(recording_options, OPTION_OUTPUT);
	struct output_names names = {
		.pattern = output,
		.force = recording_options->number[OPTION_FORCE],
		.child = rec->r->forked ||
			 trace_owner_is_child(rec->r->pid, output),
		.pid = rec->r->pid,
		.start_ns = trace_owner_start_ns(rec->r->pid),
		.unix_seconds = time_ns_of(CLOCK_REALTIME) / TIME_NS_SECOND,
		.program = pathname_base(rec->exe),
		.host = "host",
	};
	struct utsname host;

	if (!uname(&host))
		names.host = host.nodename;
	return output_open(&rec->output, &names);
}

/* Computes tick_shift and window_ticks from two readings of counter and clock.
 * The target made the first reading, which cannot be later than now. */
static void recorder_calibrate(struct gl_header *h)
{
	uint64_t ticks, ns = time_ns_moment(&ticks);
	unsigned shift = 0;

	if (h->monotonic0_ns > ns || h->counter0 > ticks) {
		h->monotonic0_ns = ns;
		h->counter0 = ticks;
	}
	do
		ns = time_ns_moment(&ticks) - h->monotonic0_ns;
	while (ns < RECORDER_CALIBRATE_NS);
	ticks -= h->counter0;
	while (shift < 32 && (ns << shift) / (ticks ? ticks : 1) <
				     RECORDER_TICK_NS)
		shift++;
	h->tick_shift = shift;
	h->window_ticks = RECORDER_WINDOW_NS * (ticks >> shift) / ns + 1;
	if (h->window_ticks < 2)
		h->window_ticks = 2;
	ASSERT(h->window_ticks >= 2 && h->tick_shift <= 32);
}

/* Sets the message for the user, if there is none yet. */
static void recorder_note(struct recorder *rec, const char *what,
			  const char *path, int err)
{
	if (!rec->r->message[0])
		failure_message(rec->r->message, sizeof(rec->r->message), what,
				path, err);
}

static void recorder_fill_live(struct recorder *rec)
{
	const char *folder = options_text(recording_options, OPTION_LIVE_DIR);
	struct gl_header *h = rec->live.header;

	h->recorder_pid = getpid();
	recorder_calibrate(&rec->live.shape);
	h->tick_shift = rec->live.shape.tick_shift;
	h->window_ticks = rec->live.shape.window_ticks;
	memcpy(h->trace_path, rec->output.path, sizeof(h->trace_path));
	h->view = mount_view();
	/* written last: the header is complete */
	order_write_release(h, magic, GL_MAGIC);
	if (rec->live.err)
		recorder_note(rec, "no live file: if recorder and program are "
			       "killed together, the last events are lost",
			    *folder ? folder : NULL, rec->live.err);
}

static void recorder_limit(order_32 *limit, uint64_t reserved)
{
	DEBUG_ASSERT(reserved <= UINT32_MAX);
	if (atomic_load_explicit(limit, memory_order_relaxed) == reserved)
		return;
	/* pairs with the acquire of threads that fill the reserved memory */
	atomic_store_explicit(limit, reserved, memory_order_release);
	futex_wake(limit);
}

void recorder_reserve(struct recorder *rec)
{
	struct gl_shared *shared = rec->r->shared;

	live_ahead(&rec->live);
	rec->nodes.limit = rec->live.nodes_reserved;
	DEBUG_ASSERT(rec->nodes.limit <= rec->live.nodes_max);
	atomic_store_explicit(&shared->nodes_refused, rec->live.nodes_refused,
			      memory_order_relaxed);
	atomic_store_explicit(&shared->images_refused, rec->live.images_refused,
			      memory_order_relaxed);
	atomic_store_explicit(&shared->heaps_refused, rec->live.heaps_refused,
			      memory_order_relaxed);
	recorder_limit(&shared->image_limit, rec->live.images_reserved);
	recorder_limit(&shared->heap_limit, rec->live.heaps_reserved);
}

/* Innermost frames to keep of each stack; 0: all. With --depth 0 no frames are
 * kept, and threads capture no stacks. */
static uint32_t recorder_depth(void)
{
	uint64_t depth = recording_options->number[OPTION_DEPTH];

	return depth <= OPTIONS_DEPTH_MAX ? (uint32_t)depth : 0;
}

static int recorder_memory(struct recorder *rec)
{
	const struct gl_header *h = &rec->live.shape;
	int err;

	err = recording_init(rec->r);
	if (err)
		return err;
	compress_init(&rec->compress);
	err = emit_node_init(&rec->nodes,
			     (struct gl_node *)live_at(&rec->live,
						       h->nodes_offset),
			     rec->live.nodes_max, recorder_depth(), &rec->out,
			     &rec->compress);
	if (!err)
		err = encode_init(&rec->encode, &rec->nodes, h->tick_shift,
				  recording_options->number
					  [OPTION_FREE_STACKS]);
	if (!err)
		err = emit_image_init(&rec->images);
	if (err)
		return err;
	rec->images.reserved = &rec->live.images_reserved;
	rec->images.images = (struct gl_image *)live_at(&rec->live,
						      h->images_offset);
	rec->images.header = rec->live.header;
	rec->images.out = &rec->out;
	rec->images.exe = rec->exe;
	rec->drain.pool = &rec->pool;
	rec->drain.out = &rec->out;
	rec->drain.compress = &rec->compress;
	rec->drain.encode = &rec->encode;
	rec->drain.nodes = &rec->nodes;
	rec->drain.images = &rec->images;
	rec->heaps.out = &rec->out;
	rec->heaps.tick_shift = h->tick_shift;
	rec->drain.heaps = &rec->heaps;
	rec->drain.tick_shift = h->tick_shift;
	rec->info.r = rec->r;
	rec->info.out = &rec->out;
	rec->info.live = &rec->live;
	rec->info.output = &rec->output;
	rec->info.exe = rec->exe;
	rec->info.usage = &rec->usage;
	rec->info.socket = &rec->socket;
	rec->info.maps = &rec->maps;
	emit_names_init(&rec->names, &rec->out, &rec->compress,
			&rec->live.header->node_count,
			rec->r->shared, rec->r->pid,
			h->realtime0_ns);
	usage_init(&rec->usage, &rec->out, rec->r->pid, h->tick_shift);
	snapshot_init(&rec->snapshot, rec->r, &rec->live, &rec->out,
		      &rec->compress);
	pressure_init(&rec->pressure, rec->r->pid);
	embedder_init(&rec->embed, rec);
	rec->info.embed = &rec->embed;
	rec->heaps.shared = rec->r->shared;
	rec->heaps.reserved = &rec->live.heaps_reserved;
	/* the target knows only the path as it was given */
	if (rec->live.fd >= 0 && !rec->r->shared->live_path[0])
		memcpy(rec->r->shared->live_path, rec->live.path,
		       sizeof(rec->live.path));
	/* not for targets that have ended already: they are frequent */
	if (!rec->late)
		recorder_reserve(rec);
	ring_pool_init(&rec->pool, rec->r, &rec->live,
		       recording_options->number[OPTION_RING]);
	rec->drain.recorder = rec;
	return drain_init(&rec->drain, rec->r);
}

/* Starts to watch mappings that no hook sees. */
static void recorder_watch_maps(struct recorder *rec)
{
	if (recording_options->number[OPTION_MAPS] == OPTION_MAPS_OFF)
		return;
	maps_watch_init(&rec->maps, &rec->out, rec->live.shape.tick_shift,
			rec->r->pid, rec->r->shared);
	maps_watch_whole(&rec->maps);
}

/* Changes the owner as --chown says. On failure the file keeps its owner, and
 * the user gets a message. */
static void recorder_give_away(struct recorder *rec, int fd)
{
	long err = file_owner_apply(fd);

	if (err)
		recorder_note(rec, err == -ENOENT ?
				       "no such user or group, so the trace's "
				       "owner is not changed" :
				       "cannot change the owner of the trace",
			    options_text(recording_options, OPTION_CHOWN), err);
}

static void recorder_begin_log(struct recorder *rec)
{
	long err = log_file_begin(rec->r->pid);

	if (err)
		recorder_note(rec, "cannot write the log, so it goes to standard "
			       "error: choose another file",
			    options_text(recording_options, OPTION_LOG_FILE),
			    err);
}

static int recorder_find_owner(struct recorder *rec)
{
	const char *whose = options_text(recording_options, OPTION_CHOWN);
	struct file_owner owner;

	if (!*whose ||
	    file_owner_find(&owner, whose, "/etc/passwd", "/etc/group"))
		return 0;
	failure_message(rec->r->message, sizeof(rec->r->message),
			"--chown: no such user or group in /etc/passwd or "
			"/etc/group (numeric ids work too): this process is "
			"not recorded", NULL, 0);
	return -EINVAL;
}

/* Checks option values; the target checks only their types. */
static int recorder_check_options(struct recorder *rec)
{
	const char *bad = options_misfit(environ);
	const char *wrong = options_disagree(recording_options);

	if (!bad && !wrong)
		return 0;
	failure_print(rec->r->message, sizeof(rec->r->message),
		      "%s%s: this process is not recorded",
		      bad ? "bad value: " : "", bad ? bad : wrong);
	return -EINVAL;
}

static int recorder_open(struct recorder *rec)
{
	int err = recorder_check_options(rec);

	if (!err)
		err = recorder_find_owner(rec);
	if (err)
		return err;
	recorder_find_exe(rec);
	err = recorder_open_output(rec);
	memcpy(rec->r->message, rec->output.message, sizeof(rec->r->message));
	if (err)
		return err;
	recorder_keep_error(rec);
	recorder_begin_log(rec);
	recorder_give_away(rec, rec->output.fd);
	reporter_begin(&rec->reporter, rec->r,
		       rec->output.regular ? rec->output.path : "");
	recorder_fill_live(rec);
	file_owner_apply(rec->live.fd);
	recorder_watch(rec);
	return 0;
}

int recorder_begin(struct recorder *rec)
{
	int err = recorder_open(rec);

	if (err)
		return err;
	err = chunk_open(&rec->out, rec->output.fd, rec->live.shape.trace_id,
			 RECORDER_ROOM);
	/* a target that has ended records little more */
	rec->out.reserves = rec->output.regular && !rec->late;
	if (!err)
		err = recorder_memory(rec);
	if (!err) {
		control_socket_init(rec);
		rec->info.part = recording_options->number[OPTION_LIMIT] != 0;
		emit_info_start(&rec->info);
		control_begin(rec);
		/* before the first events are taken */
		err = tracker_begin(rec);
		if (!err)
			err = rec->out.err;
	}
	if (err && err != -ESPIPE)
		failure_message(rec->r->message, sizeof(rec->r->message),
				"cannot record", rec->output.path, err);
	if (err)
		return err;
	/* from here on, a write error ends a started recording */
	drain_sync(&rec->drain, DRAIN_ALL);
	recorder_watch_maps(rec);
	return 0;
}
