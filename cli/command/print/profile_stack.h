/*
 * profile_stack.h: prints stacks of profiles and of models with full names, as
 * text and JSON, in the format of reports.
 */
#ifndef GNOMON_PROFILE_STACK_H
#define GNOMON_PROFILE_STACK_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/base/text/json.h"
#include "cli/command/print/report_parts.h"
#include "cli/stack/profile.h"

struct profile_stack {
	struct frame *list;	/* innermost first */
	size_t count;
	size_t capacity;
	size_t site;
	enum gt_stop stop;
	bool runtime_frames;	/* print them all, do not fold them */
	struct intern names;	/* shortened ones */
};

/* A zeroed one is empty; each of these fills it again. `full`: names stay as
 * they are, else they are shortened as in reports. */
void profile_stack_of_node(struct profile_stack *stack,
			   const struct profile *profile, uint32_t node,
			   bool full);
void profile_stack_of_context(struct profile_stack *stack,
			      struct frames *frames, uint32_t node, bool full);
void profile_stack_free(struct profile_stack *stack);

/* Prints at most `lines` frames from the site outward. `whole`: before them the
 * frames inside the site, without which two stacks may look the same. */
void profile_stack_print(const struct profile_stack *stack, bool whole,
			 size_t lines, int indent, bool full, FILE *out);
/* `whole`: with the frames inside the site. */
void profile_stack_json(const struct profile_stack *stack, bool whole,
			struct json *json);

#endif
