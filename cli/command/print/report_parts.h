/*
 * report_parts.h: what reports are made of, for commands that say a part of the
 * same: a trace's summary, stacks and figures as text and as JSON. Called by
 * the main thread.
 */
#ifndef GNOMON_REPORT_PARTS_H
#define GNOMON_REPORT_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/base/text/json.h"
#include "cli/base/terminal/style.h"
#include "cli/model/heap.h"
#include "cli/query/query.h"
#include "cli/stack/frames.h"
#include "cli/stack/profile.h"
#include "cli/stack/frame_table.h"
#include "cli/command/print/report_coverage.h"
#include "cli/command/print/report_sizes.h"

enum report_tree {
	REPORT_TREE_NONE,
	REPORT_TREE_TOP_DOWN,
	REPORT_TREE_BOTTOM_UP
};

struct report_options {
	const struct query *query;
	const char *by;		/* as the user wrote it; NULL: not at all */
	bool blocks;		/* rows are blocks */
	enum report_tree tree;
	bool sizes;
	bool pages;		/* rows by the pages that they keep */
	bool timeline;		/* rows over time */
	uint64_t steps;		/* of it; 0: not given */
	bool no_rows;		/* text: only what else was asked for */
	bool one_key;		/* --sort was given: only that section */
	bool top_given;
	uint64_t top;		/* rows; 0: all */
	bool full_names;
	bool all;		/* text: the whole summary, and all tables */
	bool runtime_frames;	/* text: they are shown, not folded */
	bool chosen;		/* some option says which table is wanted */
	bool frame_table;	/* JSON: see frame_table.h */
	bool no_own_peaks;	/* JSON: rows lack them */
	bool no_heap;		/* JSON: the summary lacks report_heap */
	const char *trace;
};

/* What a process was told of a child that a signal ended. */
struct report_child {
	uint64_t pid;
	int status;
};

/* What is said of a trace, or of several as if they were one. */
struct report_process {
	char *trace;		/* its path */
	char *program;		/* "" if it is not known, as the next ones */
	char *command;
	char *exit;		/* how it ended, */
	bool exit_unknown;	/* which its own trace does not say */
	struct report_child *children;
	size_t child_count, child_capacity;
	uint64_t pid, parent;	/* 0: not known */
	uint64_t process;	/* its start as the kernel counts: with the pid,
				 * what stays the same across exec */
	uint64_t start_ns;	/* since 1970; 0: not known */
	uint64_t duration_ns;
	struct figures sum;	/* of what passes the filters */
	uint64_t peak_time_ns;
	uint64_t threads;
	uint64_t contexts;
	struct coverage coverage;	/* of `sum` */
	uint64_t unrecorded_in_sum;	/* those of its `unrecorded` that `sum`
					 * counts */
	bool forked;		/* it began with its parent's blocks, which it
				 * may free: those are unpaired */
	bool being_written;
	bool ended;		/* it has an end, */
	bool failed;		/* which says that recording failed */
	unsigned depth;		/* in a tree of processes */
	unsigned side;		/* of the profile, by process */
};

/* A stack, innermost frame first. */
struct report_stack {
	const struct frame *list;
	size_t count;
	size_t site;		/* index in the list */
	enum gt_stop stop;
};

/* A report in the making: of one model, or of a profile. */
struct report {
	const struct report_options *options;
	const struct debugfile_places *places;	/* of symbols */
	struct model *model;		/* NULL: there were several */
	struct frames *frames;		/* of the model */
	struct profile *profile;	/* NULL: rows are of the model */
	FILE *out;
	const struct style *style;
	uint64_t end_ns;	/* of the recording */
	/* Which contexts count; NULL: all. */
	bool (*keep)(void *owner, uint32_t node,
		     const struct figures *figures);
	void *keeper;
	struct report_process about;
	struct report_sizes sizes;
	struct query_process *processes;	/* by side; or NULL */
	struct report_stack stack;	/* of the last report_load */
	/* JSON: frames are written once, behind the rows; NULL: in each. */
	struct frame_table *once;
	/* Of the rows at hand: what is asked, and of what. */
	struct query query;
	struct query_source source;
	bool of_contexts;	/* their nodes are the model's, always */
	struct frame *scratch;		/* its list, with a profile */
	size_t scratch_capacity;
};

/* Sets `about` from the model, once the rest is there; adds to `sizes`. */
void report_about(struct report *report, const char *trace);
/* Whether filters of stacks let a cost pass, and its figures. */
bool report_keeps(const struct report *report, size_t cost,
		  struct figures *figures);
/* Where the live blocks lie that pass the filters. */
void report_heap(const struct report *report,
		 struct heap_share shares[HEAP_PARTS]);
void report_process_free(struct report_process *process);
/* What the whole is, of which rows are shares; 0: no sum means anything. */
uint64_t report_whole(const struct report *report, enum figure key);

/* ---- parts of a text ---- */

/* Columns of a line. */
static inline size_t report_width(void)
{
	return style_columns();
}

/* "s", unless there is one. */
const char *report_plural(uint64_t count);
void report_summary(const struct report *report);
/* The first line, and which filters there are. */
void report_title(const struct report *report);
/* What matters most of it, without that, in about ten lines. */
void report_summary_brief(const struct report *report);
/* A line of both summaries, of a trace that was anonymised. */
void report_made_up_text(const struct model *model, FILE *out);
/* A line that says which filters there are, if any. */
void report_filters(const struct report *report);
/* A text from a trace, in at most `width` columns. */
void report_put_text(FILE *out, const char *text, size_t width);
/* The end of a path, unless `full`. */
void report_put_path(FILE *out, const char *path, size_t width, bool full);
/* Its lines about what is missing. */
void report_losses(const struct report *report,
		   const struct report_process *about);
/* A frame's name and place, shortened to fit side by side, with two blanks
 * between, into `width` columns. */
void report_frame_text(const struct frame *frame, bool full, size_t width,
		       struct buffer *name, struct buffer *place);
/* A frame on a line of its own. */
void report_frame(const struct report *report, const struct frame *frame,
		  int indent);
/* Is it one that the report folds (runtime_frames.h)? */
bool report_folds(const struct report *report, const struct frame *frame);
/* A line instead of so many of these. */
void report_folded(const struct report *report, size_t count, int indent);
/* The loaded stack: from the frame `first` outward, at most `limit` lines (0:
 * all) and the outermost one. */
void report_stack(const struct report *report, size_t first, size_t limit,
		  int indent);
/* The figures of a row, without a line's end; `bound`: its own peak is the
 * sum of others'. */
void report_figures(const struct report *report, const struct figures *figures,
		    enum figure key, bool bound);

/* ---- parts of JSON ---- */

/* The members "summary" and "coverage". */
void report_json_summary(struct json *json, const struct report *report);
/* Those of its members that all summaries have. */
void report_json_totals(struct json *json, const struct report_process *about);
/* Members of a row; `own_peaks`: those of its own peak, too. */
void report_json_figures(struct json *json, const struct figures *figures,
			 uint64_t end_ns, bool own_peaks);
/* Their own peak is the sum of others'. */
void report_json_bound(struct json *json, bool bound);
/* A stack that was looked up, until the next one is. */
struct report_stack report_stack_of(const struct frames *frames);
/* "stack", and "stopped" if it ends early: of the last frames_of, from the
 * frame `first` outward, and "site", which of these frames is its site. `once`:
 * frames are numbers in there; NULL: each is written out. */
void report_json_stack(struct json *json, const struct report_stack *stack,
		       size_t first, struct frame_table *once);

/* ---- what came of what somebody told the recorder to do ---- */

/* Lines of the summary: since when figures count, what was not recorded, the
 * heaps of the program's own; nothing where there is nothing to say. */
void report_view_text(const struct report *report);
void report_unrecorded_text(const struct report *report);
void report_pools_text(const struct report *report);
/* Members of the summary. */
void report_view_json(struct json *json, const struct report *report);
/* The member "heaps", of a report or of `gnomon info`; none where the trace
 * has no heap but the allocator's. */
void report_pools_json(struct json *json, const struct model *model);
/* Sections of `gnomon info`; the members "controls" and "heaps". */
void report_controls_text(const struct model *model, FILE *out);
void report_controls_json(struct json *json, const struct model *model);

/* ---- the threads, and how the stacks of each were taken ---- */

/* Lines of the summary; none for a trace that does not say. */
void report_captures_text(const struct model *model, FILE *out);
/* That threads went without memory, if some did. */
void report_slow_text(const struct model *model, FILE *out);
/* A section of `gnomon info`; the members "captures" and "threads". */
void report_threads_text(const struct model *model, FILE *out);
void report_captures_json(struct json *json, const struct model *model);
void report_threads_json(struct json *json, const struct model *model);

/* ---- traces beside it that tell more of the same story ---- */

/* Lines of the summary: what the program became by exec, and what it started;
 * none where there are no such traces. */
void report_relatives_text(const struct report *report);

/* ---- memory of the whole process ---- */

/* Names of the kernel's figures in JSON; NULL: not told. */
extern const char *const report_usage_keys[GT_USAGE_VALUES];
/* As kernel and C library count it: lines and keys of a report's summary; a
 * section and two arrays of `gnomon info`. */
void report_memory_text(const struct model *model, FILE *out);
/* In one line; none if it is not known. */
void report_memory_brief(const struct model *model, FILE *out);
void report_memory_summary(struct json *json, const struct model *model);
void report_memory_info(const struct model *model, FILE *out);
void report_memory_json(struct json *json, const struct model *model);

#endif
