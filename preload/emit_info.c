/*
 * emit_info.c: what the text chunks say. Keys: preload/format.h.
 */
#include "preload/emit_info.h"

#include <string.h>
#include <sys/utsname.h>

#include "preload/area.h"
#include "preload/bump.h"
#include "preload/embedder.h"
#include "preload/emit_capture.h"
#include "preload/exit_status.h"
#include "preload/proc.h"
#include "preload/sys.h"
#include "preload/text.h"
#include "unwind/jit.h"

#define EMIT_INFO_COMMAND_MAX 65536	/* of the command line, in the trace */

static const char *const emit_info_stops[GT_STOP_COUNT] = {
	[GT_STOP_BOTTOM] = "bottom",
	[GT_STOP_NO_IMAGE] = "no_image",
	[GT_STOP_NO_RULE] = "no_rule",
	[GT_STOP_BAD_READ] = "bad_read",
	[GT_STOP_NO_PROGRESS] = "no_progress",
	[GT_STOP_TOO_DEEP] = "too_deep",
	[GT_STOP_BAD_TABLE] = "bad_table",
	[GT_STOP_LOADER] = "loader",
	[GT_STOP_NO_MEMORY] = "no_memory",
	[GT_STOP_EARLY] = "early",
	[GT_STOP_OTHER] = "other",
	[GT_STOP_JIT] = "jit",
};

static void emit_info_begin(const struct emit_info *info, struct text *text)
{
	text_init(text, (char *)chunk_payload(info->out), info->out->room);
}

static void emit_info_write(const struct emit_info *info,
			    const struct text *text, enum gt_chunk_type type)
{
	chunk_write(info->out, type,
		    (const uint8_t *)text->data + text->length, NULL);
}

void emit_info_partial(struct chunk_out *out, uint64_t left_out)
{
	struct text text;

	text_init(&text, (char *)chunk_payload(out), out->room);
	text_key_number(&text, "partial", 1);
	if (left_out)
		text_key_number(&text, "part_left_out", left_out);
	chunk_write(out, GT_INFO, (const uint8_t *)text.data + text.length,
		    NULL);
}

static void emit_info_command(struct emit_info *info, struct text *text,
			      int pid)
{
	char path[64];

	if (!info->command) {
		info->command = area_alloc(EMIT_INFO_COMMAND_MAX);
		if (!info->command)
			return;
		proc_path_shared(pid, "cmdline", path, sizeof(path));
		info->command_length = proc_read(path, info->command,
						 EMIT_INFO_COMMAND_MAX);
	}
	if (info->command_length > 0)
		text_key_bytes(text, "command", info->command,
			       info->command_length);
}

static void emit_info_process(struct emit_info *info, struct text *text)
{
	int pid = info->r->pid;
	struct utsname host;
	struct stat st;
	uint64_t ppid;
	char path[64];

	text_key_number(text, "pid", pid);
	if (proc_stat(pid, PROC_STAT_PPID, &ppid))
		text_key_number(text, "ppid", ppid);
	text_key_number(text, "starttime", info->r->live->start_time);
	text_key(text, "exe", info->exe);
	emit_info_command(info, text, pid);
	if (!arch_syscall1(__NR_uname, (long)&host))
		text_key(text, "host", host.nodename);
	proc_path_shared(pid, "", path, sizeof(path));
	if (!arch_syscall4(__NR_newfstatat, AT_FDCWD, (long)path, (long)&st,
			   0)) {
		text_key_number(text, "uid", st.st_uid);
		text_key_number(text, "gid", st.st_gid);
	}
}

static const char *emit_info_choice(enum option_id id, char *buffer,
				    size_t size)
{
	const char *words = options_table[id].value;
	uint64_t index = recorder_options.number[id];
	struct text text;

	text_init(&text, buffer, size);
	for (; index && *words; words++)
		index -= *words == '|';
	while (*words && *words != '|')
		text_char(&text, *words++);
	return buffer;
}

/* The first estimate of a tick's length; a trace that is cut before its second
 * SYNC has no other. */
static uint64_t emit_info_tick_ps(const struct gl_header *live)
{
	uint64_t ns = sys_now_ns() - live->monotonic0_ns;
	uint64_t ticks = (arch_cycles() - live->counter0) >> live->tick_shift;

	return ticks ? ns * 1000 / ticks : 0;
}

/* What is left out by choice. */
static void emit_info_choices(struct text *text,
			      const struct options *options)
{
	uint64_t least = options->number[OPTION_MIN_SIZE];
	uint64_t most = options->number[OPTION_MAX_SIZE];
	uint64_t mean = options->number[OPTION_SAMPLE];

	if (mean)
		text_key_number(text, "sample", mean);
	if (least)
		text_key_number(text, "min_size", least);
	if (most < UINT64_MAX)
		text_key_number(text, "max_size", most);
	if (options->number[OPTION_DEPTH] < UINT64_MAX)
		text_key_number(text, "depth", options->number[OPTION_DEPTH]);
	if (mean || least || most < UINT64_MAX)
		text_key_number(text, "partial", 1);
}

void emit_info_start(struct emit_info *info)
{
	const struct gl_header *live = info->r->live;
	const struct options *options = &recorder_options;
	char word[32];
	struct text text;

	emit_info_begin(info, &text);
	text_key(&text, "gnomon", GNOMON_VERSION);
	text_key(&text, "arch", ARCH_NAME);
	emit_info_process(info, &text);
	text_key_number(&text, "page_size", 4096);
	text_key_number(&text, "tick_shift", live->tick_shift);
	text_key_number(&text, "tick_ps", emit_info_tick_ps(live));
	text_key_number(&text, "window_ticks", live->window_ticks);
	text_key_number(&text, "start_realtime_ns", live->realtime0_ns);
	text_key_number(&text, "start_monotonic_ns", live->monotonic0_ns);
	if (info->live->fd >= 0)
		text_key(&text, "live", info->live->path);
	text_key(&text, "guarantee", info->live->fd >= 0 ? "file" : "memory");
	text_key(&text, "shadow_stack",
		 emit_info_choice(OPTION_SHADOW_STACK, word, sizeof(word)));
	text_key(&text, "follow",
		 emit_info_choice(OPTION_FOLLOW, word, sizeof(word)));
	text_key(&text, "overflow",
		 emit_info_choice(OPTION_OVERFLOW, word, sizeof(word)));
	text_key(&text, "maps",
		 emit_info_choice(OPTION_MAPS, word, sizeof(word)));
	if (options->number[OPTION_SNAPSHOT_EVERY])
		text_key_number(&text, "snapshot_every_ns",
				options->number[OPTION_SNAPSHOT_EVERY]);
	text_key_number(&text, "memory", options->number[OPTION_MEMORY]);
	text_key_number(&text, "ring", options->number[OPTION_RING]);
	if (info->part)
		text_key_number(&text, "part", info->part);
	if (options->number[OPTION_CULL]) {
		text_key_number(&text, "cull_ns",
				options->number[OPTION_CULL]);
		text_key_number(&text, "cull_pending",
				options->number[OPTION_CULL_PENDING]);
	}
	if (options->number[OPTION_FREE_STACKS])
		text_key_number(&text, "free_stacks", 1);
	if (options->number[OPTION_GUARD])
		text_key_number(&text, "guard", options->number[OPTION_GUARD]);
	if (options->number[OPTION_ZERO_MEMORY])
		text_key_number(&text, "zero_memory", 1);
	text_key(&text, "embed",
		 emit_info_choice(OPTION_EMBED, word, sizeof(word)));
	emit_info_choices(&text, options);
	embedder_info(info->embed, &text);
	text_key(&text, "output", info->output->path);
	if (!info->socket->err)
		text_key(&text, "control", info->socket->name);
	if (info->r->parent_trace[0])
		text_key(&text, "parent_trace", info->r->parent_trace);
	emit_info_write(info, &text, GT_INFO);
}

static void emit_info_captures(struct text *text, const struct feed *feed)
{
	const struct recorder *r = feed->r;
	uint64_t placed = feed->barriers_placed, met = feed->barriers_met;
	uint64_t tiers;
	struct capture_counts sum;
	uint32_t count, id, i;
	char key[32];

	memset(&sum, 0, sizeof(sum));
	if (recorder_options.number[OPTION_DEPTH])
		sum.tier_plain = feed->plain_blocks;
	count = atomic_load_explicit(&r->live->ring_count,
				     memory_order_acquire);
	for (id = 0; id < count; id++) {
		const struct gl_thread *thread = feed_thread(feed, id);
		const struct capture_report *report = &thread->captures;
		/* kept by later threads: the counts are of all of them */
		const struct capture_counts *c = &report->counts;

		sum.tier_join += c->tier_join;
		sum.tier_full += c->tier_full;
		sum.tier_plain += c->tier_plain;
		sum.tier_hardware += c->tier_hardware;
		sum.frames_walked += c->frames_walked;
		if (feed_active(&r->rings[id]) &&
		    !thread->plain) {
			placed += report->barriers_placed;
			met += report->barriers_met;
		}
		sum.oracle_checks += c->oracle_checks;
		sum.oracle_differences += c->oracle_differences;
		for (i = 0; i < GT_STOP_COUNT; i++)
			sum.stops[i] += c->stops[i];
	}
	tiers = sum.tier_join + sum.tier_full + sum.tier_plain +
		sum.tier_hardware;
	text_key_number(text, "tier_path",
			feed->blocks - feed->nested_blocks > tiers ?
				feed->blocks - feed->nested_blocks - tiers :
				0);
	text_key_number(text, "tier_join", sum.tier_join);
	text_key_number(text, "tier_full", sum.tier_full);
	text_key_number(text, "tier_plain", sum.tier_plain);
	text_key_number(text, "tier_hardware", sum.tier_hardware);
	text_key_number(text, "frames_walked", sum.frames_walked);
	text_key_number(text, "barriers_placed", placed);
	text_key_number(text, "barriers_met", met);
	text_key_number(text, "oracle_checks", sum.oracle_checks);
	text_key_number(text, "oracle_differences", sum.oracle_differences);
	for (i = 0; i < GT_STOP_COUNT; i++) {
		struct text name;

		if (!emit_info_stops[i])
			continue;
		text_init(&name, key, sizeof(key));
		text_put(&name, "stop_");
		text_put(&name, emit_info_stops[i]);
		text_key_number(text, key, sum.stops[i]);
	}
}

static void emit_info_bytes(struct text *text, const struct chunk_out *out)
{
	static const char *const names[GT_CHUNK_TYPES] = {
		[GT_INFO] = "bytes_info", [GT_THREAD] = "bytes_thread",
		[GT_IMAGE] = "bytes_image", [GT_CONTEXT] = "bytes_context",
		[GT_EVENTS] = "bytes_events", [GT_SYNC] = "bytes_sync",
		[GT_CAPTURE] = "bytes_capture",
		[GT_NAMES] = "bytes_names", [GT_USAGE] = "bytes_usage",
		[GT_SNAPSHOT] = "bytes_snapshot",
		[GT_MAPS] = "bytes_maps",
		[GT_CONTROL] = "bytes_control", [GT_FILE] = "bytes_file",
	};
	unsigned i;

	for (i = 0; i < GT_CHUNK_TYPES; i++)
		if (names[i])
			text_key_number(text, names[i], out->bytes[i]);
}

static void emit_info_children(struct text *text, const struct recorder *r)
{
	unsigned at = 0;
	int pid, status;
	char key[32];

	while (exit_status_child(r, &at, &pid, &status)) {
		struct text name;

		text_init(&name, key, sizeof(key));
		text_put(&name, "child_");
		text_number(&name, pid);
		text_key_number(text, key, status);
	}
}

void emit_info_counters(const struct emit_info *info,
			const struct feed *feed)
{
	const struct recorder *r = info->r;
	const struct gl_header *live = r->live;
	struct text text;

	emit_info_begin(info, &text);
	text_key_number(&text, "events", feed->events - feed->events_before);
	text_key_number(&text, "dropped",
			atomic_load_explicit(&live->dropped,
					     memory_order_relaxed));
	text_key_number(&text, "early_allocations",
			bump_count() + atomic_load_explicit(
					       &r->shared->skipped,
					       memory_order_relaxed));
	text_key_number(&text, "nested_events",
			atomic_load_explicit(&r->shared->nested_events,
					     memory_order_relaxed));
	text_key_number(&text, "nested_lost",
			feed->unfinished +
				atomic_load_explicit(&r->shared->nested_lost,
						     memory_order_relaxed));
	text_key_number(&text, "late_signals",
			atomic_load_explicit(&r->shared->posted.late,
					     memory_order_relaxed));
	text_key_number(&text, "ring_waits",
			atomic_load_explicit(&r->shared->ring_waits,
					     memory_order_relaxed));
	emit_info_captures(&text, feed);
	text_key_number(&text, "nodes",
			atomic_load_explicit(&live->node_count,
					     memory_order_relaxed) -
				GT_STOP_COUNT);
	text_key_number(&text, "nodes_emitted", feed->nodes->total);
	text_key_number(&text, "area_bytes", area_used());
	text_key_number(&text, "ring_bytes", feed->pool->used);
	text_key_number(&text, "jit_tables", jit_count());
	text_key_number(&text, "jit_refused", jit_refused());
	text_key_number(&text, "names_skipped", info->names_skipped);
	text_key_number(&text, "usage_looks", info->usage->looks);
	text_key_number(&text, "usage_details", info->usage->details);
	text_key_number(&text, "usage_cpu_ns", info->usage->cost_ns);
	text_key_number(&text, "maps_looks", info->maps->looks);
	text_key_number(&text, "maps_cut", info->maps->cuts);
	text_key_number(&text, "maps_cpu_ns", info->maps->spent_all_ns);
	if (recorder_options.number[OPTION_GUARD]) {
		text_key_number(&text, "guard_damages",
				atomic_load_explicit(&r->shared->guard_damages,
						     memory_order_relaxed));
		text_key_number(&text, "guard_blocks", feed->guard_blocks);
		text_key_number(&text, "guard_skipped", feed->guard_skipped);
	}
	embedder_counters(info->embed, &text);
	emit_info_children(&text, r);
	if (info->socket->err)
		text_key_number(&text, "control_error",
				-info->socket->err);
	text_key_number(&text, "writer_cpu_ns",
			sys_clock(CLOCK_THREAD_CPUTIME_ID));
	emit_info_bytes(&text, info->out);
	emit_info_write(info, &text, GT_COUNTERS);
}

void emit_info_end(const struct emit_info *info, const struct feed *feed,
		   const char *reason, const char *message, int exit_code)
{
	struct text text;

	emit_info_begin(info, &text);
	text_key(&text, "reason", reason);
	if (message)
		text_key(&text, "message", message);
	if (exit_code >= 0)
		text_key_number(&text, "exit_code", exit_code);
	text_key_number(&text, "events", feed->events - feed->events_before);
	text_key_number(&text, "end_monotonic_ns", sys_now_ns());
	emit_info_write(info, &text, GT_END);
}
