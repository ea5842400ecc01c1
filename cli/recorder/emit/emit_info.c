/*
 * emit_info.c: contents of the text chunks. Keys: trace_format.h.
 */
#include "cli/recorder/emit/emit_info.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/recorder/base/proc_file.h"
#include "cli/recorder/base/proc_stat.h"
#include "cli/recorder/base/time_ns.h"
#include "cli/recorder/base/zeroed.h"
#include "cli/recorder/embed/embedder.h"
#include "cli/recorder/emit/emit_capture.h"
#include "cli/recorder/emit/text_key.h"
#include "cli/recorder/process/exit_status_find.h"
#include "unwind/base/assertion.h"

#define EMIT_INFO_COMMAND_MAX 65536	/* bytes of the command line in the
					 * trace */

static const char *const emit_info_stops[GT_STOP_COUNT] = {
	[GT_STOP_BOTTOM] = "stop_bottom",
	[GT_STOP_NO_IMAGE] = "stop_no_image",
	[GT_STOP_NO_RULE] = "stop_no_rule",
	[GT_STOP_BAD_READ] = "stop_bad_read",
	[GT_STOP_NO_PROGRESS] = "stop_no_progress",
	[GT_STOP_TOO_DEEP] = "stop_too_deep",
	[GT_STOP_BAD_TABLE] = "stop_bad_table",
	[GT_STOP_LOADER] = "stop_loader",
	[GT_STOP_NO_MEMORY] = "stop_no_memory",
	[GT_STOP_EARLY] = "stop_early",
	[GT_STOP_OTHER] = "stop_other",
	[GT_STOP_JIT] = "stop_jit",
};

void emit_info_partial(struct chunk_out *out, uint64_t left_out)
{
	struct text_key text;

	text_key_begin(&text, out);
	text_key_number(&text, "partial", 1);
	if (left_out)
		text_key_number(&text, "part_left_out", left_out);
	text_key_write(&text, GT_INFO);
}

/* The command line at the start; the rest of a long one is read from /proc
 * while the process exists. */
static long emit_info_read_command(const struct emit_info *info)
{
	const struct gl_at_start *at_start = info->r->at_start;
	long n = -ENOENT;

	if (!at_start->command_bytes ||
	    at_start->command_bytes == GL_COMMAND - 1)
		n = proc_file_read_of(info->r->pid, "cmdline", info->command,
				      EMIT_INFO_COMMAND_MAX);
	if (n > 0)
		return n;
	memcpy(info->command, at_start->command, at_start->command_bytes);
	return at_start->command_bytes;
}

static void emit_info_command(struct emit_info *info, struct text_key *text)
{
	if (!info->command) {
		info->command = zeroed_alloc(EMIT_INFO_COMMAND_MAX);
		if (!info->command)
			return;
		info->command_length = emit_info_read_command(info);
	}
	DEBUG_ASSERT(info->command_length <= EMIT_INFO_COMMAND_MAX);
	if (info->command_length > 0)
		text_key_bytes(text, "command", info->command,
			       info->command_length);
}

static void emit_info_process(struct emit_info *info, struct text_key *text)
{
	int pid = info->r->pid;
	struct utsname host;
	uint64_t ppid;

	text_key_number(text, "pid", pid);
	if (proc_stat_field(info->r->at_start->stat, PROC_STAT_PPID, &ppid) ||
	    proc_stat(pid, PROC_STAT_PPID, &ppid))
		text_key_number(text, "ppid", ppid);
	text_key_number(text, "starttime", info->r->start_time);
	text_key_put(text, "exe", info->exe);
	emit_info_command(info, text);
	if (!uname(&host))
		text_key_put(text, "host", host.nodename);
	/* the target's ids, which this process inherits */
	text_key_number(text, "uid", geteuid());
	text_key_number(text, "gid", getegid());
}

/* Writes the word that an enumerated option is set to. */
static void emit_info_choice(struct text_key *text, const char *key,
			     enum option_id id)
{
	const char *words = options_table[id].words;
	uint64_t index = recording_options->number[id];

	for (; index && *words; words++)
		index -= *words == '|';
	text_key_bytes(text, key, words, strcspn(words, "|"));
}

/* The first estimate of a tick's length; a trace truncated before its second
 * SYNC has no other. */
static uint64_t emit_info_tick_ps(const struct gl_header *live)
{
	uint64_t ticks, ns = time_ns_moment(&ticks) - live->monotonic0_ns;

	ticks = (ticks - live->counter0) >> live->tick_shift;
	return ticks ? ns * 1000 / ticks : 0;
}

/* Options that exclude blocks or frames. */
static void emit_info_choices(struct text_key *text,
			      const struct options *options)
{
	uint64_t min = options->number[OPTION_MIN_SIZE];
	uint64_t max = options->number[OPTION_MAX_SIZE];
	uint64_t mean = options->number[OPTION_SAMPLE];

	if (mean)
		text_key_number(text, "sample", mean);
	if (min)
		text_key_number(text, "min_size", min);
	if (max < UINT64_MAX)
		text_key_number(text, "max_size", max);
	if (options->number[OPTION_DEPTH] < UINT64_MAX)
		text_key_number(text, "depth", options->number[OPTION_DEPTH]);
	if (mean || min || max < UINT64_MAX)
		text_key_number(text, "partial", 1);
}

void emit_info_start(struct emit_info *info)
{
	const struct gl_header *live = &info->live->shape;
	const struct options *options = recording_options;
	struct text_key text;

	text_key_begin(&text, info->out);
	text_key_put(&text, "gnomon", GNOMON_VERSION);
	text_key_put(&text, "arch", info->r->arch);
	text_key_number(&text, "word_bytes", info->r->word_bytes);
	text_key_put(&text, "byte_order",
		     !ORDER_BIG ? "little" :
								 "big");
	emit_info_process(info, &text);
	text_key_number(&text, "page_size", (uint64_t)sysconf(_SC_PAGESIZE));
	text_key_number(&text, "tick_shift", live->tick_shift);
	text_key_number(&text, "tick_ps", emit_info_tick_ps(live));
	text_key_number(&text, "window_ticks", live->window_ticks);
	text_key_number(&text, "start_realtime_ns", live->realtime0_ns);
	text_key_number(&text, "start_monotonic_ns", live->monotonic0_ns);
	if (info->live->path[0])
		text_key_put(&text, "live", info->live->path);
	text_key_put(&text, "guarantee",
		     info->live->path[0] ? "file" : "memory");
	emit_info_choice(&text, "shadow_stack", OPTION_SHADOW_STACK);
	emit_info_choice(&text, "follow", OPTION_FOLLOW);
	emit_info_choice(&text, "overflow", OPTION_OVERFLOW);
	emit_info_choice(&text, "maps", OPTION_MAPS);
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
	emit_info_choice(&text, "embed", OPTION_EMBED);
	emit_info_choices(&text, options);
	embedder_info(info->embed, &text);
	text_key_put(&text, "output", info->output->path);
	if (!info->socket->err)
		text_key_put(&text, "control", info->socket->name);
	if (info->r->parent_trace[0])
		text_key_put(&text, "parent_trace", info->r->parent_trace);
	text_key_write(&text, GT_INFO);
}

static void emit_info_captures(struct text_key *text,
			       const struct ring_drain *drain)
{
	const struct recording *r = drain->r;
	uint64_t placed = drain->barriers_placed, met = drain->barriers_met;
	uint64_t tiers;
	struct capture_counts sum;
	uint32_t count, id, i;

	memset(&sum, 0, sizeof(sum));
	if (recording_options->number[OPTION_DEPTH])
		sum.tier_plain = drain->plain_blocks;
	count = drain_count(drain);
	for (id = 0; id < count; id++) {
		const struct gl_thread *thread = recording_thread(r, id);
		const struct capture_report *report = &thread->captures;
		/* threads that reuse the entry go on counting, so these are
		 * sums */
		const struct capture_counts *c = &report->counts;

		sum.tier_join += c->tier_join;
		sum.tier_full += c->tier_full;
		sum.tier_plain += c->tier_plain;
		sum.tier_hardware += c->tier_hardware;
		sum.frames_walked += c->frames_walked;
		if (drain_active(&r->rings[id]) &&
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
			drain->blocks - drain->nested_blocks > tiers ?
				drain->blocks - drain->nested_blocks - tiers :
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
	for (i = 0; i < GT_STOP_COUNT; i++)
		if (emit_info_stops[i])
			text_key_number(text, emit_info_stops[i],
					sum.stops[i]);
}

static void emit_info_bytes(struct text_key *text, const struct chunk_out *out)
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

static void emit_info_children(struct text_key *text, const struct recording *r)
{
	unsigned at = 0;
	int pid, status;
	char key[32];

	while (exit_status_child(r, &at, &pid, &status)) {
		snprintf(key, sizeof(key), "child_%d", pid);
		text_key_number(text, key, status);
	}
}

static void emit_info_guard(struct text_key *text,
			    const struct gl_shared *shared)
{
	text_key_number(text, "guard_damages",
			atomic_load_explicit(&shared->guard_damages,
					     memory_order_relaxed));
	text_key_number(text, "guard_swept",
			atomic_load_explicit(&shared->guard_swept,
					     memory_order_relaxed));
	text_key_number(text, "guard_blocks",
			atomic_load_explicit(&shared->guard_blocks,
					     memory_order_relaxed));
	text_key_number(text, "guard_skipped",
			atomic_load_explicit(&shared->guard_skipped,
					     memory_order_relaxed));
}

void emit_info_counters(const struct emit_info *info,
			const struct ring_drain *drain)
{
	const struct recording *r = info->r;
	const struct gl_header *live = r->live;
	struct text_key text;

	text_key_begin(&text, info->out);
	text_key_number(&text, "events", drain->events - drain->events_before);
	text_key_number(&text, "dropped",
			atomic_load_explicit(&live->dropped,
					     memory_order_relaxed));
	text_key_number(&text, "early_allocations",
			atomic_load_explicit(&r->shared->bumped,
					     memory_order_relaxed) +
				atomic_load_explicit(&r->shared->skipped,
						     memory_order_relaxed));
	text_key_number(&text, "nested_events",
			atomic_load_explicit(&r->shared->nested_events,
					     memory_order_relaxed));
	text_key_number(&text, "nested_lost",
			drain->unfinished +
				atomic_load_explicit(&r->shared->nested_lost,
						     memory_order_relaxed));
	text_key_number(&text, "late_signals",
			atomic_load_explicit(&r->shared->posted.refused,
					     memory_order_relaxed));
	text_key_number(&text, "ring_waits",
			atomic_load_explicit(&r->shared->ring_waits,
					     memory_order_relaxed));
	emit_info_captures(&text, drain);
	text_key_number(&text, "nodes",
			atomic_load_explicit(&live->node_count,
					     memory_order_relaxed) -
				GT_STOP_COUNT);
	text_key_number(&text, "nodes_emitted", drain->nodes->total);
	text_key_number(&text, "area_bytes",
			atomic_load_explicit(&r->shared->area_used,
					     memory_order_relaxed));
	text_key_number(&text, "ring_bytes", drain->pool->used);
	text_key_number(&text, "jit_tables",
			atomic_load_explicit(&r->shared->tables.registered,
					     memory_order_relaxed));
	text_key_number(&text, "jit_refused",
			atomic_load_explicit(&r->shared->tables.refused,
					     memory_order_relaxed));
	text_key_number(&text, "names_skipped", info->names_skipped);
	text_key_number(&text, "usage_looks", info->usage->looks);
	text_key_number(&text, "usage_details", info->usage->details);
	text_key_number(&text, "usage_cpu_ns", info->usage->cost_ns);
	text_key_number(&text, "maps_looks", info->maps->looks);
	text_key_number(&text, "maps_cut", info->maps->cuts);
	text_key_number(&text, "maps_cpu_ns", info->maps->spent_all_ns);
	if (recording_options->number[OPTION_GUARD])
		emit_info_guard(&text, r->shared);
	embedder_counters(info->embed, &text);
	emit_info_children(&text, r);
	if (info->socket->err)
		text_key_number(&text, "control_error",
				-info->socket->err);
	text_key_number(&text, "writer_cpu_ns",
			time_ns_of(CLOCK_THREAD_CPUTIME_ID));
	emit_info_bytes(&text, info->out);
	text_key_write(&text, GT_COUNTERS);
}

void emit_info_end(const struct emit_info *info, const struct ring_drain *drain,
		   const char *reason, const char *message, int exit_code)
{
	struct text_key text;

	text_key_begin(&text, info->out);
	text_key_put(&text, "reason", reason);
	if (message)
		text_key_put(&text, "message", message);
	if (info->r->damage)
		text_key_put(&text, "damaged", info->r->damage);
	if (exit_code >= 0)
		text_key_number(&text, "exit_code", exit_code);
	text_key_number(&text, "events", drain->events - drain->events_before);
	text_key_number(&text, "end_monotonic_ns", time_ns_now());
	text_key_write(&text, GT_END);
}
