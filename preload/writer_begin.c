/*
 * writer_begin.c: all that the writer does before the first event: it leaves
 * the target's descriptors behind, finds out what it records, opens the trace
 * and the live file, and ties its parts together. The writer only.
 */
#include "preload/writer_task.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

#include "preload/area.h"
#include "preload/exit_status.h"
#include "preload/kinship.h"
#include "preload/log.h"
#include "preload/message.h"
#include "preload/options.h"
#include "preload/owner.h"
#include "preload/proc.h"
#include "preload/sys.h"
#include "preload/text.h"

#define WRITER_CALIBRATE_NS 100000
#define WRITER_TICK_NS 16	/* shortest tick */
#define WRITER_WINDOW_NS 2000

/* The payload of the longest chunk: events, or the images of one batch. */
#define WRITER_ROOM (ENCODE_PAYLOAD_MAX + (256u << 10))

static void writer_close_range(unsigned from, unsigned to)
{
	unsigned fd;

	if (from > to || arch_syscall3(__NR_close_range, from, to, 0) == 0)
		return;
	/* kernels before 5.9 */
	for (fd = from; fd <= to && fd < 65536; fd++)
		sys_close(fd);
}

/* All that is open but these; -1: none. */
static void writer_close_but(int a, int b, int c)
{
	const int kept[] = { a, b, c };
	unsigned from = 0, i;

	for (;;) {
		unsigned next = ~0u;

		for (i = 0; i < sizeof(kept) / sizeof(*kept); i++)
			if (kept[i] >= 0 && (unsigned)kept[i] >= from &&
			    (unsigned)kept[i] < next)
				next = kept[i];
		if (next == ~0u)
			break;
		if (next > from)
			writer_close_range(from, next - 1);
		from = next + 1;
	}
	writer_close_range(from, ~0u);
}

/*
 * Standard error, where a report may have to go at the end, when nobody else
 * has it any more; and any file there: its position is the program's too, so
 * that neither writes over the other. A pipe's reader waits for all who have
 * it, so that is not kept without need.
 */
static void writer_keep_error(struct writer *w)
{
	struct stat st;
	bool file = message_is_standard(2, &st) && S_ISREG(st.st_mode);

	message_keep(file ? 2 : -1);
	w->reporter.error = file || (recorder_options.given[OPTION_REPORT] &&
				     !sys_fstat(2, &st)) ? 2 : -1;
}

static void writer_watch(struct writer *w)
{
	target_watch(&w->target);
	seccomp_watch_begin(&w->seccomp);
	if (!proc_stat(w->r->pid, PROC_STAT_STARTTIME,
		       &w->live.header->start_time))
		w->live.header->start_time = 0;
	exit_status_begin(w->r);
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
	const char *output = options_text(&recorder_options, OPTION_OUTPUT);
	struct output_names names = {
		.pattern = output,
		.force = recorder_options.number[OPTION_FORCE],
		.child = w->r->forked || kinship_is_child(w->r->pid, output),
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
		.live_dir = options_text(&recorder_options, OPTION_LIVE_DIR),
		.trace = w->output.regular ? w->output.path : "",
		.memory = recorder_options.number[OPTION_MEMORY],
		.core = recorder_options.number[OPTION_GUARD],
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
	if (w->live.err && !w->r->message[0])
		text_message(w->r->message, sizeof(w->r->message),
			     "no live file: if recorder and program are "
			     "killed together, the last events are lost",
			     where.live_dir[0] ? where.live_dir : NULL,
			     w->live.err);
	return 0;
}

void writer_reserve(struct writer *w)
{
	struct gl_shared *shared = w->r->shared;

	live_ahead(&w->live);
	atomic_store_explicit(&shared->nodes_refused, w->live.nodes_refused,
			      memory_order_relaxed);
	atomic_store_explicit(&shared->images_refused, w->live.images_refused,
			      memory_order_relaxed);
	if (atomic_load_explicit(&shared->image_limit, memory_order_relaxed) ==
	    w->live.images_reserved)
		return;
	/* pairs with the acquire of whoever describes an image */
	atomic_store_explicit(&shared->image_limit, w->live.images_reserved,
			      memory_order_release);
	sys_futex_wake(&shared->image_limit);
}

/* Innermost frames that are kept of each stack, 0: all. Where that is none,
 * threads take no stacks. */
static uint32_t writer_depth(void)
{
	uint64_t depth = recorder_options.number[OPTION_DEPTH];

	return depth <= OPTIONS_DEPTH_MAX ? (uint32_t)depth : 0;
}

static int writer_memory(struct writer *w)
{
	struct gl_header *h = w->live.header;
	int err;

	compress_init(&w->compress);
	err = emit_node_init(&w->nodes,
			     live_at(&w->live, h->nodes_offset),
			     w->live.nodes_max, writer_depth(), &w->out,
			     &w->compress);
	if (!err)
		err = encode_init(&w->encode, &w->nodes, h->tick_shift,
				  recorder_options.number
					  [OPTION_FREE_STACKS]);
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
	w->heaps.out = &w->out;
	w->heaps.tick_shift = h->tick_shift;
	w->feed.heaps = &w->heaps;
	w->feed.tick_shift = h->tick_shift;
	w->info.r = w->r;
	w->info.out = &w->out;
	w->info.live = &w->live;
	w->info.output = &w->output;
	w->info.exe = w->exe;
	w->info.usage = &w->usage;
	w->info.socket = &w->socket;
	w->info.maps = &w->maps;
	emit_names_init(&w->names, &w->out, &w->compress, &h->node_count,
			w->r->pid, h->realtime0_ns);
	usage_init(&w->usage, &w->out, w->r->pid, h->tick_shift);
	snapshot_init(&w->snapshot, w->r, &w->live, &w->out, &w->compress);
	pressure_init(&w->pressure, w->r->pid);
	embedder_init(&w->embed, w);
	w->info.embed = &w->embed;
	w->r->live = h;
	w->r->shared = live_at(&w->live, h->shared_offset);
	w->r->shared->ledger_wants = w->r->ledger_wants;
	writer_reserve(w);
	w->r->rings = live_at(&w->live, h->data_offset);
	pool_init(&w->pool, w->r, &w->live,
		  recorder_options.number[OPTION_RING]);
	w->feed.writer = w;
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
		maps_watch_own(&w->maps, recorder_told, RECORDER_SHARED_SIZE);
	maps_watch_whole(&w->maps);
}

/* What cannot be given stays ours, which is said. */
static void writer_give_away(struct writer *w, int fd)
{
	long err = owner_apply(fd);

	if (err && !w->r->message[0])
		text_message(w->r->message, sizeof(w->r->message),
			     err == -ENOENT ? "there is no such user or group, "
					      "so the trace is yours" :
					      "the trace cannot be given away",
			     options_text(&recorder_options, OPTION_CHOWN),
			     err);
}

static void writer_begin_log(struct writer *w)
{
	long err = log_begin(w->r->pid);

	if (err && !w->r->message[0])
		text_message(w->r->message, sizeof(w->r->message),
			     "the log cannot be written, so its lines go to "
			     "standard error: name another file",
			     options_text(&recorder_options, OPTION_LOG_FILE),
			     err);
}

int writer_begin(struct writer *w)
{
	struct gl_header moment = {
		.counter0 = arch_cycles(),
		.monotonic0_ns = sys_now_ns(),
		.realtime0_ns = sys_clock(CLOCK_REALTIME),
	};
	uint64_t trace_id = writer_random();
	int descriptor = output_descriptor(
		options_text(&recorder_options, OPTION_OUTPUT));
	int err;

	writer_keep_error(w);
	/* an inherited descriptor has to be taken over before it is closed */
	if (descriptor < 0)
		writer_close_but(w->reporter.error, -1, -1);
	writer_find_exe(w);
	err = writer_open_output(w);
	memcpy(w->r->message, w->output.message, sizeof(w->r->message));
	if (err)
		return err;
	if (descriptor >= 0)
		writer_close_but(w->reporter.error, w->output.fd, -1);
	writer_begin_log(w);
	writer_give_away(w, w->output.fd);
	reporter_begin(&w->reporter, w->output.regular ? w->output.path : "");
	err = writer_open_live(w, trace_id, &moment);
	if (!err) {
		owner_apply(w->live.fd);
		writer_watch(w);
	}
	if (!err)
		err = chunk_open(&w->out, w->output.fd, trace_id,
				 WRITER_ROOM);
	w->out.reserves = w->output.regular;
	if (!err)
		err = writer_memory(w);
	if (!err) {
		control_socket_init(w);
		w->info.part = recorder_options.number[OPTION_LIMIT] != 0;
		emit_info_start(&w->info);
		control_begin(w);
		feed_sync(&w->feed, FEED_ALL);
		writer_watch_maps(w);
		err = w->out.err;
	}
	if (err)
		text_message(w->r->message, sizeof(w->r->message),
			     "cannot record", w->output.path, err);
	return err ? err : books_begin(w);
}

/* All else that is open is the target's. */
void writer_take_up(struct writer *w)
{
	w->reporter.error = -1;
	message_keep(-1);
	if (w->output.fd != 2 && w->live.fd != 2)
		writer_keep_error(w);
	writer_close_but(w->output.fd, w->live.fd, w->reporter.error);
	log_reopen();
	w->live.header->writer_pid = sys_getpid();
	target_watch(&w->target);
	books_take_up(w);
	embedder_take_up(&w->embed);
	control_socket_open(w);
}
