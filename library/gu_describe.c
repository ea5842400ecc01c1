/*
 * gu_describe.c: statistics of the library, and texts for enums.
 *
 * Thread context: any, also signal handlers.
 */
#include <errno.h>
#include <stdatomic.h>

#include "entry.h"
#include "library/gnomon/unwind.h"
#include "library/gu_start.h"
#include "library/gu_threads.h"
#include "unwind/base/context.h"

_Static_assert((int)GU_STOP_COUNT == (int)GT_STOP_COUNT &&
	       (int)GU_STOP_BOTTOM == (int)GT_STOP_BOTTOM &&
	       (int)GU_STOP_NO_IMAGE == (int)GT_STOP_NO_IMAGE &&
	       (int)GU_STOP_NO_RULE == (int)GT_STOP_NO_RULE &&
	       (int)GU_STOP_BAD_READ == (int)GT_STOP_BAD_READ &&
	       (int)GU_STOP_NO_PROGRESS == (int)GT_STOP_NO_PROGRESS &&
	       (int)GU_STOP_TOO_DEEP == (int)GT_STOP_TOO_DEEP &&
	       (int)GU_STOP_BAD_TABLE == (int)GT_STOP_BAD_TABLE &&
	       (int)GU_STOP_LOADER == (int)GT_STOP_LOADER &&
	       (int)GU_STOP_NO_MEMORY == (int)GT_STOP_NO_MEMORY &&
	       (int)GU_STOP_EARLY == (int)GT_STOP_EARLY &&
	       (int)GU_STOP_OTHER == (int)GT_STOP_OTHER &&
	       (int)GU_STOP_JIT == (int)GT_STOP_JIT,
	       "the public names of the same reasons");

static void add_thread(struct gu_stats *s, const struct gu_thread *t)
{
	const struct capture_counts *counts;
	unsigned i;

	if (gu_threads_owned(t))
		s->threads++;
	else
		s->threads_kept++;
	if (!t->capture)
		return;
	counts = &capture_thread_report(t->capture)->counts;
	s->walks_joined += counts->tier_join;
	s->walks_full += counts->tier_full;
	s->walks_registers += counts->tier_plain;
	s->frames_walked += counts->frames_walked;
	for (i = 0; i < GT_STOP_COUNT; i++)
		s->stops[i] += counts->stops[i];
}

int gu_describe(struct gu_stats *stats)
{
	const struct gu_thread *t;
	uint32_t i;

	if (!gu_ready())
		return -EINVAL;
	*stats = (struct gu_stats){
		.memory_bytes = gu_memory_bytes,
		.memory_used_bytes = gu_area_used(),
		.contexts = context_count() - GT_STOP_COUNT,
		.contexts_max = gu_config.node_max - GT_STOP_COUNT,
		.images = atomic_load_explicit(&gu_state->image_count,
					       memory_order_acquire),
	};
	stats->memory_used_bytes +=
		context_count() * sizeof(struct gl_node);
	for (i = 0; i < gu_threads_count(); i++) {
		t = gu_threads_get(i);
		if (t)
			add_thread(stats, t);
	}
	return 0;
}

extern __typeof__(gu_thread_describe) gu_thread_describe
	ARCH_ENTRY(gu_thread_describe);

int gu_thread_describe(struct gu_thread_stats *stats)
{
	static const char *const modes[GT_MODE_COUNT] = {
		[GT_MODE_BARRIERS] = "barriers",
		[GT_MODE_VALIDATE] = "validate",
		[GT_MODE_OFF] = "off",
		[GT_MODE_HARDWARE] = "hardware shadow stack",
		[GT_MODE_PLAIN] = "plain walks",
	};
	static const char *const whys[GT_WHY_COUNT] = {
		[GT_WHY_DEFAULT] = "default",
		[GT_WHY_ASKED] = "requested",
		[GT_WHY_HARDWARE] = "a hardware shadow stack is active",
		[GT_WHY_UNWINDER] = "an exception unwinder cannot pass barriers",
		[GT_WHY_RUNTIME] = "a runtime walks or moves its stacks",
		[GT_WHY_HIJACKED] = "another tool replaces return addresses",
		[GT_WHY_STUBS] = "no barrier can be made",
		[GT_WHY_MEMORY] = "the memory budget is used up",
		[GT_WHY_CODE] = "code without unwind tables",
	};
	static const struct capture_report none = { .mode = GT_MODE_PLAIN,
						    .why = GT_WHY_MEMORY };
	const struct capture_report *report = &none;
	struct gu_thread *t;

	if (!gu_ready())
		return -EINVAL;
	t = gu_threads_self(ARCH_CALLER_SP, ARCH_CALLER_RA);
	if (t && t->capture)
		report = capture_thread_report(t->capture);
	*stats = (struct gu_thread_stats){
		.mode = modes[report->mode],
		.why = whys[report->why],
		.memory_bytes = capture_report_bytes(report),
		.paths = report->path_ways_used,
		.paths_max = report->path_ways,
		.path_bytes = report->path_bytes,
		.path_bytes_max = report->path_bytes_max,
		.barriers_placed = report->barriers_placed,
		.barriers_met = report->barriers_met,
	};
	return 0;
}

const char *gu_stop_text(uint32_t stop)
{
	static const char *const texts[GU_STOP_COUNT] = {
		[GU_STOP_BOTTOM] = "complete",
		[GU_STOP_NO_IMAGE] = "no known code",
		[GU_STOP_NO_RULE] = "code without unwind table",
		[GU_STOP_BAD_READ] = "stack unreadable",
		[GU_STOP_NO_PROGRESS] = "frames do not progress",
		[GU_STOP_TOO_DEEP] = "too many frames",
		[GU_STOP_BAD_TABLE] = "damaged unwind table",
		[GU_STOP_LOADER] = "libraries were changing",
		[GU_STOP_NO_MEMORY] = "memory budget used up",
		[GU_STOP_EARLY] = "not set up",
		[GU_STOP_OTHER] = "unknown",
		[GU_STOP_JIT] = "code generated at run time",
	};

	return stop < GU_STOP_COUNT && texts[stop] ? texts[stop] : "unknown";
}
