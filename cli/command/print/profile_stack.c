/*
 * profile_stack.c: see profile_stack.h. Called by the main thread.
 */
#include "cli/command/print/profile_stack.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/symbol/names/names.h"

#define INSIDE_LINES 50		/* of a stack, as far as its site */

static void add(struct profile_stack *stack, const struct frame *frame,
		bool full)
{
	struct frame *own;

	GROW(stack->list, stack->count, stack->capacity);
	own = &stack->list[stack->count++];
	*own = *frame;
	if (!full && frame->function != NULL && !frame->nameless) {
		LOCAL_BUFFER name = { 0 };

		names_shorten(&name, frame->function);
		own->function = intern_string(&stack->names,
					      buffer_text(&name));
	}
}

void profile_stack_of_node(struct profile_stack *stack,
			   const struct profile *profile, uint32_t node,
			   bool full)
{
	stack->count = 0;
	stack->stop = GT_STOP_BOTTOM;
	for (; node != PROFILE_ROOT; node = profile->nodes[node].parent) {
		const struct profile_frame *normal =
			&profile->frames[profile->nodes[node].frame];
		struct frame frame;

		if (normal->stop != GT_STOP_BOTTOM) {
			stack->stop = normal->stop;
			continue;
		}
		profile_show_frame(normal, &frame);
		/* what tells frames without a name apart */
		frame.address = normal->offset;
		add(stack, &frame, full);
	}
	stack->site = frames_site(stack->list, stack->count);
}

void profile_stack_of_context(struct profile_stack *stack,
			      struct frames *frames, uint32_t node, bool full)
{
	frames_of(frames, node);
	stack->count = 0;
	stack->stop = frames->stop;
	for (size_t i = 0; i < frames->count; i++)
		add(stack, &frames->list[i], full);
	stack->site = frames_site(stack->list, stack->count);
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
	const struct report_options options = { .full_names = full };
	const struct report report = {
		.options = &options,
		.out = out,
		.style = style_of(out),
		.stack = as_report(stack),
	};

	/* A trace may have a site behind any number of frames. */
	if (inside > INSIDE_LINES)
		inside = INSIDE_LINES;
	report_stack(&report, whole ? 0 : stack->site, inside + lines,
		     indent);
}

void profile_stack_json(const struct profile_stack *stack, struct json *json)
{
	const struct report_stack all = as_report(stack);

	report_json_stack(json, &all, 0, NULL);
}
