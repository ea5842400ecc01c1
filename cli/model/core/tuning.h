/*
 * tuning.h: the program's calls of mallopt and malloc_trim, in order.
 */
#ifndef GNOMON_TUNING_H
#define GNOMON_TUNING_H

#include <stddef.h>
#include <stdint.h>

#include "cli/model/core/contexts.h"
#include "cli/trace/decode/records.h"

/* For programs that trim in a loop: further calls are only counted. */
#define TUNING_MAX 65536

struct tuning_call {
	uint64_t stamp;
	uint8_t what;		/* GT_EXTRA_MALLOPT or GT_EXTRA_TRIM */
	uint32_t thread;
	uint32_t node;		/* its stack */
	uint64_t pad;		/* TRIM: bytes to keep at the top */
	int32_t parameter;	/* MALLOPT: M_* */
	int32_t value;		/* MALLOPT */
	int32_t result;
};

struct tuning {
	struct tuning_call *calls;
	size_t call_count;
	size_t call_capacity;
	uint64_t left_out;
};

/* Takes calls of mallopt and malloc_trim; ignores other events. */
void tuning_extra(struct tuning *tuning, struct contexts *contexts,
		  uint32_t thread, const struct trace_event *event);
/* "mallopt", "malloc_trim" */
const char *tuning_function(const struct tuning_call *call);
/* The name of a parameter of mallopt, NULL if it has none. */
const char *tuning_parameter(int32_t parameter);
void tuning_free(struct tuning *tuning);

#endif
