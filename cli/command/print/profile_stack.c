/*
 * profile_stack.c: see profile_stack.h. Called by the main thread.
 */
#include "cli/command/print/profile_stack.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/symbol/names/names.h"

#define INSIDE_LINES 50		/* of a stack, before its site */

/* Shortens names as reports do, unless `full`. */
static void finish(struct profile_stack *stack, bool full)
{
	for (size_t i = 0; i < stack->count && !full; i++) {
		struct frame *frame = &stack->list[i];
		LOCAL_BUFFER name = { 0 };

		if (frame->function == NULL || frame->nameless)
			continue;
		names_shorten(&name, frame->function);
		frame->function = intern_string(&stack->names,
						buffer_text(&name));
	}
	stack->site = frames_site(stack->list, stack->count);
}

void profile_stack_of_node(struct profile_stack *stack,
			   const struct profile *profile, uint32_t node,
			   bool full)
{
	stack->count = profile_frames_of(profile, node, &stack->list,
					 &stack->capacity, &stack->stop);
	/* distinguishes frames without a name */
	for (size_t i = 0; i < stack->count; i++)
		stack->list[i].address = stack->list[i].module_offset;
	finish(stack, full);
}

void profile_stack_of_context(struct profile_stack *stack,
			      struct frames *frames, uint32_t node, bool full)
{
	frames_of(frames, node);
	stack->count = 0;
	stack->stop = frames->stop;
	while (stack->count < frames->count) {
		GROW(stack->list, stack->count, stack->capacity);
		stack->list[stack->count] = frames->list[stack->count];
		stack->count++;
	}
	finish(stack, full);
}

void profile_stack_free(struct profile_stack *stack)
{
	free(stack->list);
	intern_free(&stack->names);
	memset(stack, 0, sizeof(*stack));
}

static struct report_stack as_report(const struct profile_stack *stack)
{
	return (struct report_stack){
		stack->list, stack->count, stack->site, stack->stop
	};
}

void profile_stack_print(const struct profile_stack *stack, bool whole,
			 size_t lines, int indent, bool full, FILE *out)
{
	size_t inside = whole ? stack->site : 0;
	const struct report_options options = {
		.full_names = full, .all = true,
		.runtime_frames = stack->runtime_frames,
	};
	const struct report report = {
		.options = &options,
		.out = out,
		.style = style_of(out),
		.stack = as_report(stack),
	};

	/* A trace may have any number of frames inside a site. */
	if (inside > INSIDE_LINES)
		inside = INSIDE_LINES;
	report_stack(&report, whole ? 0 : stack->site, inside + lines,
		     indent);
}

void profile_stack_json(const struct profile_stack *stack, bool whole,
			struct json *json)
{
	const struct report_stack all = as_report(stack);

	report_json_stack(json, &all, whole ? 0 : stack->site, NULL);
}
