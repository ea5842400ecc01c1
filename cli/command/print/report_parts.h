/*
 * report_parts.h: parts that several commands print: a trace's summary, stacks
 * and measures, as text and as JSON. Called by the main thread.
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
	const char *by;		/* as given by the user; NULL: not given */
	bool blocks;		/* rows are blocks */
	enum report_tree tree;
	bool sizes;
	bool pages;		/* rows by the pages that they keep */
	bool timeline;		/* rows over time */
	uint64_t steps;		/* number of them; 0: not given */
	bool no_rows;		/* text: only other requested parts */
	bool one_key;		/* --sort was given: only that section */
	bool top_given;
	uint64_t top;		/* rows; 0: all */
	bool full_names;
	bool all;		/* text: the whole summary, and all tables */
	bool runtime_frames;	/* text: show them, do not fold */
	bool chosen;		/* an option selects a table */
	bool frame_table;	/* JSON: see frame_table.h */
	bool no_own_peaks;	/* JSON: rows without them */
	bool no_heap;		/* JSON: summary without report_heap */
	const char *trace;
};

/* A child that a signal ended, by its parent's wait status. */
struct report_child {
	uint64_t pid;
	int status;
};

/* Facts of a trace, or of several traces added up. */
struct report_process {
	char *trace;		/* its path */
	char *program;		/* "" if unknown, like the next ones */
	char *command;
	char *exit;		/* how it ended, */
	bool exit_unknown;	/* which its trace does not say */
	struct report_child *children;
	size_t child_count, child_capacity;
	uint64_t pid, parent;	/* 0: unknown */
	uint64_t process;	/* its start time in the kernel's clock: with
				 * the pid, constant across exec */
	uint64_t start_ns;	/* since 1970; 0: unknown */
	uint64_t duration_ns;
	struct figures sum;	/* of blocks that pass the filters */
	uint64_t peak_time_ns;
	uint64_t threads;
	uint64_t contexts;
	struct coverage coverage;	/* of `sum` */
	uint64_t unrecorded_in_sum;	/* `unrecorded` blocks that `sum`
					 * includes */
	bool forked;		/* began with its parent's blocks; their frees
				 * are unpaired */
	bool being_written;
	bool ended;		/* the trace has an end record, */
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

/* A report being made: of one model, or of a profile. */
struct report {
	const struct report_options *options;
	const struct debugfile_places *places;	/* to look for symbols */
	struct model *model;		/* NULL: several traces */
	struct frames *frames;		/* of the model */
	struct profile *profile;	/* NULL: rows are of the model */
	FILE *out;
	const struct style *style;
	uint64_t end_ns;	/* of the recording */
	/* Stack filter for contexts; NULL: all pass. */
	bool (*keep)(void *owner, uint32_t node,
		     const struct figures *figures);
	void *keeper;
	struct report_process about;
	struct report_sizes sizes;
	struct query_process *processes;	/* by side; or NULL */
	struct report_stack stack;	/* of the last report_load */
	/* JSON: frames are written once, after the rows; NULL: in each
	 * stack. */
	struct frame_table *once;
	/* The current rows: query and source. */
	struct query query;
	struct query_source source;
	bool of_contexts;	/* rows' nodes are always the model's */
	struct frame *scratch;		/* the stack's list, with a profile */
	size_t scratch_capacity;
};

/* Sets `about` from the model, after all other members; adds to `sizes`. */
void report_about(struct report *report, const char *trace);
/* Whether stack filters pass a cost; sets its measures. */
bool report_keeps(const struct report *report, size_t cost,
		  struct figures *figures);
/* Where the live blocks that pass the filters lie. */
void report_heap(const struct report *report,
		 struct heap_share shares[HEAP_PARTS]);
void report_process_free(struct report_process *process);
/* The whole that rows are shares of; 0: the sum would be meaningless. */
uint64_t report_whole(const struct report *report, enum measure measure);

/* ---- parts of a text ---- */

/* Columns of a line. */
static inline size_t report_width(void)
{
	return style_columns();
}

/* "s", or "" for 1. */
const char *report_plural(uint64_t count);
void report_summary(const struct report *report);
/* The first line, and the filters. */
void report_title(const struct report *report);
/* The most important parts of the summary, without the title, in about ten
 * lines. */
void report_summary_brief(const struct report *report);
/* A line of both summaries, for a trace that was anonymised. */
void report_made_up_text(const struct model *model, FILE *out);
/* A line with the filters, if any. */
void report_filters(const struct report *report);
/* A text from a trace, cut to `width` columns. */
void report_put_text(FILE *out, const char *text, size_t width);
/* The end of a path, unless `full`. */
void report_put_path(FILE *out, const char *path, size_t width, bool full);
/* The summary's lines about missing data. */
void report_losses(const struct report *report,
		   const struct report_process *about);
/* A frame's name and place, shortened to fit on a line of `width` columns, with
 * two blanks between them. */
void report_frame_text(const struct frame *frame, bool full, size_t width,
		       struct buffer *name, struct buffer *place);
/* Prints a frame on its own line. */
void report_frame(const struct report *report, const struct frame *frame,
		  int indent);
/* Whether the report folds this frame (runtime_frames.h). */
bool report_folds(const struct report *report, const struct frame *frame);
/* The line that stands for `count` folded frames. */
void report_folded(const struct report *report, size_t count, int indent);
/* Prints the loaded stack: from the frame `first` outward, at most `limit`
 * lines (0: all) and the outermost frame. */
void report_stack(const struct report *report, size_t first, size_t limit,
		  int indent);
/* Prints a row's measures, without a line end; `bound`: its own peak is the sum
 * of others'. */
void report_figures(const struct report *report, const struct figures *figures,
		    enum measure measure, bool bound);

/* ---- parts of JSON ---- */

/* The members "summary" and "coverage". */
void report_json_summary(struct json *json, const struct report *report);
/* The members that all summaries have. */
void report_json_totals(struct json *json, const struct report_process *about);
/* Members of a row; `own_peaks`: including those of its own peak. */
void report_json_figures(struct json *json, const struct figures *figures,
			 uint64_t end_ns, bool own_peaks);
/* A member that says that own peaks are sums of others'. */
void report_json_bound(struct json *json, bool bound);
/* The stack that was looked up last, valid until the next look-up. */
struct report_stack report_stack_of(const struct frames *frames);
/* "stack", and "stopped" if it ends early: of the last frames_of, from the
 * frame `first` outward, and "site", the index of its site in "stack". `once`:
 * frames are indexes into this table; NULL: each is written in full. */
void report_json_stack(struct json *json, const struct report_stack *stack,
		       size_t first, struct frame_table *once);

/* ---- effects of start, stop, clear and of the program's own heaps ---- */

/* Lines of the summary: since when blocks count, what was not recorded, the
 * program's own heaps; nothing if there is nothing to report. */
void report_view_text(const struct report *report);
void report_unrecorded_text(const struct report *report);
void report_pools_text(const struct report *report);
/* Members of the summary. */
void report_view_json(struct json *json, const struct report *report);
/* The member "heaps", of a report or of `gnomon info`; none if the trace has no
 * heap except the allocator's. */
void report_pools_json(struct json *json, const struct model *model);
/* Sections of `gnomon info`; the members "controls" and "heaps". */
void report_controls_text(const struct model *model, FILE *out);
void report_controls_json(struct json *json, const struct model *model);

/* ---- threads, and how their stacks were captured ---- */

/* Lines of the summary; none if the trace has no such data. */
void report_captures_text(const struct model *model, FILE *out);
/* A line about threads that ran out of recorder memory, if any. */
void report_slow_text(const struct model *model, FILE *out);
/* A section of `gnomon info`; the members "captures" and "threads". */
void report_threads_text(const struct model *model, FILE *out);
void report_captures_json(struct json *json, const struct model *model);
void report_threads_json(struct json *json, const struct model *model);

/* ---- related traces in the same directory ---- */

/* Lines of the summary: the program after exec, and child processes; none if
 * there are no such traces. */
void report_process_tree_text(const struct report *report);

/* ---- memory of the whole process ---- */

/* JSON names of the kernel's values; NULL: not printed. */
extern const char *const report_usage_keys[GT_USAGE_VALUES];
/* Memory as counted by the kernel and the C library: lines and keys of a
 * report's summary; a section and two arrays of `gnomon info`. */
void report_memory_text(const struct model *model, FILE *out);
/* In one line; none if unknown. */
void report_memory_brief(const struct model *model, FILE *out);
void report_memory_summary(struct json *json, const struct model *model);
void report_memory_info(const struct model *model, FILE *out);
void report_memory_json(struct json *json, const struct model *model);

#endif
