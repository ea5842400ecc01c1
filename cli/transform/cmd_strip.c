/*
 * cmd_strip.c: `gnomon strip`: drops short-lived blocks from a trace. Reads the
 * trace twice: strip_plan.h decides which events to drop, this file drops them.
 * Runs in the main thread.
 *
 * A realloc of which only one block is kept is replaced: by an allocation, or
 * by the free of a realloc to size 0.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/base/grow.h"
#include "cli/base/terminal/log.h"
#include "cli/base/text/quantity.h"
#include "cli/command/trace_args.h"
#include "cli/commands.h"
#include "cli/trace/read/process_tree.h"
#include "cli/transform/strip_plan.h"
#include "cli/transform/transform.h"

#define LIFETIME_NS_DEFAULT UINT64_C(10000000000)

enum { LIFETIME = 1, TEMPORARY };

static const struct command_option options[] = {
	{ LIFETIME, "lifetime", 0, "TIME", "10s, if --temporary is not given",
	  "leave out blocks with a shorter lifetime" },
	{ TEMPORARY, "temporary", 0, "N", NULL,
	  "leave out blocks that were freed with at most N other allocations "
	  "of their thread between" },
	COMMAND_COMMON_OPTIONS,
};

static const struct command_group *const groups[] = {
	&transform_options,
	NULL
};

/* State of a stream in the second pass. */
struct stripped {
	uint64_t begun;		/* address of the realloc in progress */
	bool begun_goes;	/* its old block is dropped */
	uint64_t left_out;	/* allocations since the last LEFT_OUT */
	struct strip_gap gap;	/* about the next event */
};

struct request {
	struct trace_args args;
	struct transform transform;
	struct strip_options strip;
	struct strip_plan plan;
	struct stripped *streams;
	size_t stream_capacity;
};

static int parse_option(void *owner, int id, const char *value)
{
	struct request *request = owner;

	if (transform_has(id))
		return transform_take(&request->transform, id, value);
	if (id == LIFETIME) {
		request->strip.by_lifetime = true;
		return quantity_parse_time(value, &request->strip.lifetime_ns);
	}
	request->strip.by_temporary = true;
	return quantity_parse_count(value, &request->strip.temporary);
}

/* ---- the second pass ---- */

static void report_left_out(struct repack *repack, struct repack_stream *stream,
			    struct stripped *stripped, uint64_t stamp)
{
	static const uint64_t no_args[GT_EXTRA_ARGS];
	const struct trace_event event = {
		.kind = GT_EXTRA, .what = GT_EXTRA_LEFT_OUT, .stamp = stamp,
		.size = stripped->left_out, .args = no_args,
	};

	if (stripped->left_out == 0)
		return;
	repack_put(repack, stream, &event);
	stripped->left_out = 0;
}

/* Whether the event is kept; its kind may be changed. */
static bool transform_event(struct stripped *stripped,
			    struct trace_event *event, bool goes)
{
	switch (event->kind) {
	case GT_REALLOC_BEGIN:
		stripped->begun = event->address;
		stripped->begun_goes = goes;
		return !goes;
	case GT_REALLOC_DONE:
		if (!stripped->begun_goes && goes) {
			*event = (struct trace_event){
				.kind = GT_REALLOC_FREED,
				.stamp = event->stamp,
				.address = stripped->begun,
			};
			return true;
		}
		if (stripped->begun_goes)
			event->kind = GT_ALLOC;
		stripped->begun_goes = false;
		return !goes;
	default:
		return !goes;
	}
}

/* ---- EXTRAs about chains ---- */

static void put_note(struct repack *repack, struct repack_stream *stream,
		     const struct strip_note *note,
		     const struct trace_event *about)
{
	const struct trace_event event = {
		.kind = GT_EXTRA, .what = (uint8_t)note->what,
		.stamp = about->stamp, .address = about->address,
		.context = note->context, .size = note->size,
		.args = note->args,
	};

	repack_put(repack, stream, &event);
}

/* The trace's own EXTRA, with the new number of its chain. */
static void put_gap(const struct request *request, struct repack *repack,
		    struct repack_stream *stream, struct strip_gap *gap)
{
	gap->args[0] = strip_chains_number(&request->plan.chains,
					   gap->args[0]);
	if (gap->args[0] != 0)
		repack_put(repack, stream, strip_gap_event(gap));
}

/* The EXTRA before a kept event; `was`: its original kind. */
static void report_chain(const struct request *request, struct repack *repack,
			 struct repack_stream *stream,
			 struct stripped *stripped,
			 const struct strip_place *place, unsigned was,
			 const struct trace_event *event)
{
	const struct strip_note *note = NULL;

	if (stripped->gap.there && was == event->kind) {
		put_gap(request, repack, stream, &stripped->gap);
		return;
	}
	if (was == event->kind)
		return;
	note = strip_chains_note(&request->plan.chains, place,
				 event->kind == GT_ALLOC ?
				 GT_EXTRA_CHAIN_RESUMES :
				 GT_EXTRA_CHAIN_LEAVES);
	if (note != NULL)
		put_note(repack, stream, note, event);
}

static void take_gap(const struct request *request, struct repack *repack,
		     struct repack_stream *stream, struct stripped *stripped,
		     const struct trace_event *event, bool goes)
{
	strip_gap_keep(&stripped->gap, event);
	stripped->gap.there = event->what != GT_EXTRA_CHAIN_ENDS;
	if (!stripped->gap.there && !goes)
		put_gap(request, repack, stream, &stripped->gap);
}

static bool is_of_chain(const struct trace_event *event)
{
	return event->what >= GT_EXTRA_CHAIN_LEAVES &&
	       event->what <= GT_EXTRA_CHAIN_ENDS;
}

static void take_event(void *owner, struct repack *repack,
		       struct repack_stream *stream,
		       const struct repack_place *place,
		       struct trace_event *event)
{
	struct request *request = owner;
	struct strip_marks *marks = &request->plan.marks;
	uint32_t number = strip_marks_stream(marks, place->ring,
					     place->generation);
	struct stripped *stripped;
	const struct strip_place at = {
		number, strip_marks_position(place->chunk, place->index)
	};
	unsigned mark = strip_marks_get(marks, number, at.position);
	bool goes = mark & STRIP_DROP, allocates;
	const struct strip_note *note;
	unsigned was = event->kind;
	uint64_t stamp = event->stamp;

	GROW_TO(request->streams, request->stream_capacity, number);
	stripped = &request->streams[number];
	if (event->kind == GT_EXTRA && event->what == GT_EXTRA_LEFT_OUT) {
		stripped->left_out += event->size;
	} else if (event->kind == GT_EXTRA && is_of_chain(event)) {
		take_gap(request, repack, stream, stripped, event, goes);
	} else if (event->kind == GT_EXTRA) {
		repack_put(repack, stream, event);
	} else {
		allocates = event->kind == GT_ALLOC ||
			    event->kind == GT_REALLOC_DONE;
		if (transform_event(stripped, event, goes)) {
			report_left_out(repack, stream, stripped, stamp);
			report_chain(request, repack, stream, stripped, &at,
				     was, event);
			repack_put(repack, stream, event);
		} else if ((note = strip_chains_note(&request->plan.chains, &at,
						     GT_EXTRA_CHAIN_ENDS))) {
			put_note(repack, stream, note, event);
		}
		stripped->gap.there = false;
		stripped->left_out += allocates && goes;
	}
	if (mark & STRIP_TELL)
		report_left_out(repack, stream, stripped, stamp);
}

static bool take_node(void *owner, uint32_t id)
{
	return strip_plan_needs(&((struct request *)owner)->plan, id);
}

/* Sums of earlier strips are kept; RUN is written anew. */
static bool take_totals(void *owner, struct cursor payload)
{
	(void)owner;
	return cursor_varint(&payload) != GT_TOTALS_RUN;
}

/* Write the sums of blocks dropped before a START or CLEAR before it. */
static void take_control(void *owner, struct repack *repack,
			 struct cursor payload)
{
	struct trace_control control;

	while (control_records_next(&payload, &control))
		if (control.what == GT_CONTROL_START ||
		    control.what == GT_CONTROL_CLEAR)
			strip_plan_write_before(
				&((struct request *)owner)->plan, repack->out);
}

static bool add_totals(void *owner, struct repack *repack)
{
	strip_plan_write(&((struct request *)owner)->plan, repack->out);
	return true;
}

/* ---- the whole ---- */

static void report_result(const struct request *request, const char *trace)
{
	struct strip_sum sum = strip_plan_sum(&request->plan);

	log_note("%s: left out %s of %s blocks (%s); their totals are kept",
		 trace, COUNT_TEXT(sum.blocks), COUNT_TEXT(sum.all),
		 SIZE_TEXT(sum.bytes));
	transform_report(&request->transform, trace);
	if (request->transform.bytes_out >=
	    request->transform.report.file_bytes)
		log_note("%s: nothing to gain: the totals of what was left "
			 "out need more space than the blocks; `gnomon "
			 "repack` keeps all blocks and makes the trace "
			 "smaller", trace);
}

static bool can_be_read_twice(const char *trace)
{
	struct stat status;

	/* The reader reports all other problems. */
	if (stat(trace, &status) != 0 || S_ISREG(status.st_mode) ||
	    S_ISDIR(status.st_mode))
		return true;
	log_error("%s: is not a regular file, and strip reads it twice: "
		  "write it to a file first", trace);
	return false;
}

static bool is_unchanged(const struct stat *before, const char *trace)
{
	struct stat after;

	if (stat(trace, &after) == 0 && after.st_ino == before->st_ino &&
	    after.st_dev == before->st_dev &&
	    after.st_size == before->st_size &&
	    after.st_mtim.tv_sec == before->st_mtim.tv_sec &&
	    after.st_mtim.tv_nsec == before->st_mtim.tv_nsec)
		return true;
	log_error("%s: changed while it was read: try again", trace);
	return false;
}

static int strip(struct request *request)
{
	const char *trace = request->args.traces[0];
	const struct repack_change change = {
		.owner = request, .event = take_event, .node = take_node,
		.totals = take_totals, .control = take_control,
	};
	char *directory = process_tree_directory(request->transform.output);
	struct stat before = { 0 };
	int status;

	status = strip_plan_read(&request->plan, &request->strip, trace,
				 directory);
	free(directory);
	if (status == EXIT_NOTHING)
		return status;
	if (stat(trace, &before) != 0)
		before.st_size = -1;
	status = transform_run(&request->transform, trace, &change, add_totals,
			       request);
	if (status == EXIT_NOTHING)
		return status;
	report_result(request, trace);
	return is_unchanged(&before, trace) ? status : EXIT_PARTIAL;
}

static int run_strip(const struct command *command, int argc, char **argv)
{
	static struct request request;
	int operands, status;

	memset(&request, 0, sizeof(request));
	trace_args_init(&request.args);
	transform_init(&request.transform);
	if (!command_parse(command, argc, argv, parse_option, &request,
			   &operands, &status))
		return status;
	if (!request.strip.by_lifetime && !request.strip.by_temporary) {
		request.strip.by_lifetime = true;
		request.strip.lifetime_ns = LIFETIME_NS_DEFAULT;
	}
	status = EXIT_NOTHING;
	if (transform_is_complete(&request.transform) &&
	    trace_args_find_one(&request.args, operands, argv + 1) &&
	    can_be_read_twice(request.args.traces[0])) {
		status = strip(&request);
		strip_plan_free(&request.plan);
	}
	free(request.streams);
	trace_args_free(&request.args);
	return status;
}

static const char *const description[] = {
	"Writes a copy of a trace without short-lived blocks, which are often "
	"nearly all blocks. Their totals are kept, so reports show the same "
	"allocations, bytes, frees, temporary and live blocks for every "
	"context. Blocks that were live at the peak are kept, "
	"however short-lived, so the peak stays the same, too. Only the "
	"individual blocks are lost: filters and timelines use only the blocks "
	"that are kept.",
	"Exit status: 0: all was read; 2: wrong use, or nothing could be read "
	"or written; 3: parts of the trace were missing or damaged: the "
	"result has all other parts, and reports of it show what it lacks.",
	NULL
};

static const char *const examples[] = {
	"gnomon strip a.trace -o long.trace --lifetime 1m",
	"only blocks that lived for a minute or longer",
	"gnomon strip a.trace -o b.trace --temporary 0",
	"without blocks freed before their thread's next allocation",
	NULL
};

const struct command cmd_strip = {
	.name = "strip",
	.operands = "[TRACE] -o FILE",
	.summary = "remove short-lived blocks from a trace, keep their totals",
	.description = description,
	.examples = examples,
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.groups = groups,
	.wrong_use = EXIT_NOTHING,
	.main = run_strip,
};
