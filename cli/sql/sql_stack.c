/*
 * sql_stack.c: see sql_stack.h. The last stack is cached, since several columns
 * of a row need the same one.
 */
#include "cli/sql/sql_stack.h"

#include "cli/command/export.h"
#include "cli/sql/sql_table.h"

static struct frames *load(struct sql_trace *trace, uint32_t node)
{
	if (!trace->has_loaded || trace->loaded != node)
		frames_of(&trace->frames, node);
	trace->has_loaded = true;
	trace->loaded = node;
	return &trace->frames;
}

/* NULL: the stack has no frames. */
static const struct frame *site_of(struct sql_trace *trace, uint32_t node)
{
	const struct frames *frames = load(trace, node);

	return frames->count > 0 ? &frames->list[frames->site] : NULL;
}

void sql_stack_function(struct sql_trace *trace, uint32_t node,
			sqlite3_context *to)
{
	const struct frame *frame = site_of(trace, node);
	LOCAL_BUFFER text = { 0 };

	sql_text(to, frame ? export_frame_name(&text, frame) : NULL);
}

void sql_stack_file(struct sql_trace *trace, uint32_t node,
		    sqlite3_context *to)
{
	const struct frame *frame = site_of(trace, node);

	sql_text(to, frame ? frame->file : NULL);
}

void sql_stack_line(struct sql_trace *trace, uint32_t node,
		    sqlite3_context *to)
{
	const struct frame *frame = site_of(trace, node);

	if (frame != NULL && frame->line > 0)
		sql_number(to, frame->line);
}

void sql_stack_library(struct sql_trace *trace, uint32_t node,
		       sqlite3_context *to)
{
	const struct frame *frame = site_of(trace, node);

	sql_text(to, frame ? frame->library : NULL);
}

void sql_stack_depth(struct sql_trace *trace, uint32_t node,
		     sqlite3_context *to)
{
	sql_number(to, load(trace, node)->count);
}

void sql_stack_stopped(struct sql_trace *trace, uint32_t node,
		       sqlite3_context *to)
{
	sql_text(to, frames_stop_text(load(trace, node)->stop));
}

void sql_stack_text(struct sql_trace *trace, uint32_t node,
		    sqlite3_context *to)
{
	const struct frames *frames = load(trace, node);
	LOCAL_BUFFER text = { 0 };

	export_stack_text(&text, frames->list, frames->count);
	sql_text(to, buffer_text(&text));
}
