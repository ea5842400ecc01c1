/*
 * tuning.c: see tuning.h. Called by the main thread.
 */
#include "cli/model/core/tuning.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"

void tuning_extra(struct tuning *tuning, struct contexts *contexts,
		  uint32_t thread, const struct trace_event *event)
{
	struct tuning_call *call;

	if (event->what != GT_EXTRA_MALLOPT && event->what != GT_EXTRA_TRIM)
		return;
	if (tuning->call_count == TUNING_MAX) {
		tuning->left_out++;
		return;
	}
	GROW(tuning->calls, tuning->call_count, tuning->call_capacity);
	call = &tuning->calls[tuning->call_count++];
	memset(call, 0, sizeof(*call));
	call->stamp = event->stamp;
	call->what = event->what;
	call->thread = thread;
	call->node = contexts_node(contexts, event->context);
	if (event->what == GT_EXTRA_TRIM) {
		call->pad = event->args[0];
		call->result = (int32_t)event->args[1];
		return;
	}
	call->parameter = (int32_t)event->args[0];
	call->value = (int32_t)event->args[1];
	call->result = (int32_t)event->args[2];
}

const char *tuning_function(const struct tuning_call *call)
{
	return call->what == GT_EXTRA_TRIM ? "malloc_trim" : "mallopt";
}

/* From glibc's malloc.h; other allocators with mallopt use the same numbers. */
const char *tuning_parameter(int32_t parameter)
{
	static const struct {
		int32_t number;
		const char *name;
	} names[] = {
		{ 1, "M_MXFAST" },
		{ 2, "M_NLBLKS" },
		{ 3, "M_GRAIN" },
		{ 4, "M_KEEP" },
		{ -1, "M_TRIM_THRESHOLD" },
		{ -2, "M_TOP_PAD" },
		{ -3, "M_MMAP_THRESHOLD" },
		{ -4, "M_MMAP_MAX" },
		{ -5, "M_CHECK_ACTION" },
		{ -6, "M_PERTURB" },
		{ -7, "M_ARENA_TEST" },
		{ -8, "M_ARENA_MAX" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].number == parameter)
			return names[i].name;
	return NULL;
}

void tuning_free(struct tuning *tuning)
{
	free(tuning->calls);
	memset(tuning, 0, sizeof(*tuning));
}
