/*
 * export.h: traces as the files of other tools.
 *
 * An exporter is one file: a function that writes, and a struct exporter, put
 * into the table of cli/export/exporters.c. It is given a trace that was read:
 * figures of all contexts, and names for the asking. There are three ways to go
 * on:
 *
 *	export_contexts   every context with its figures: what is summed up
 *	export->profile   the same as one tree of normalised frames, if it
 *	                  `wants_profile`
 *	export_follow     each block as it begins and ends (cli/model/tap.h):
 *	                  streams of events, in memory of contexts and live
 *	                  blocks
 *
 * Filters, --alive-at among them, hold in all three.
 * Called by the main thread.
 */
#ifndef GNOMON_EXPORT_H
#define GNOMON_EXPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/base/text/buffer.h"
#include "cli/base/text/csv.h"
#include "cli/model/coverage.h"
#include "cli/model/tap.h"
#include "cli/query/query.h"
#include "cli/stack/frames.h"
#include "cli/stack/profile.h"

struct export {
	const char *trace;		/* its path */
	struct model *model;
	struct frames *frames;		/* all symbols are looked up */
	struct profile *profile;	/* sealed, one side; or NULL */
	bool (*keep)(void *owner, uint32_t node,
		     const struct figures *figures);	/* NULL: all */
	void *keeper;
	struct coverage coverage;
	enum figure cost;		/* FIGURE_EXPORTED */
	bool cost_given;		/* else it is live */
	const struct query *query;
	bool threads;			/* told apart (`can_split_threads`) */
	bool blocks;			/* each by itself (`can_list_blocks`) */
	const char *output;		/* name of the file; NULL: stdout */
	FILE *out;
};

struct exporter {
	const char *name;		/* of --format */
	const char *what;		/* for help: one line */
	bool binary;			/* not for a terminal */
	bool wants_profile;
	bool wants_costs;	/* and its self_of_cost */
	bool can_split_threads;		/* takes --threads: costs are by thread
					 * then, figures' part is the thread */
	bool can_list_blocks;		/* takes --by block */
	bool has_threads;		/* of each block, in any case */
	bool wants_blocks;		/* by export_follow: reads the trace
					 * again */
	unsigned wants;			/* enum model_want */
	unsigned spares;		/* enum query_spare */
	/* Returns an exit status; writes to `out` only. Messages about the
	 * output itself are output_file_close's. */
	int (*write)(struct export *export);
};

/* Each cost that filters keep and that ever allocated; `part`: its thread, with
 * `threads`. */
void export_contexts(struct export *export,
		     void (*each)(void *owner, uint32_t node, uint32_t part,
				  const struct figures *figures),
		     void *owner);
/* What they come to together, and how many contexts that is. */
uint64_t export_sum(struct export *export, struct figures *sum);

/* A block, as tap.h has it. */
struct export_block {
	const struct block *block;
	uint32_t number, node, chain;
	uint32_t thread;	/* whose event it is */
	uint64_t stamp;		/* of that event */
	enum edge_end end;	/* if it ends */
};

/* Whom to tell of each block that filters keep; all three may be NULL. */
struct export_follower {
	void *owner;
	void (*birth)(void *owner, const struct export_block *block);
	void (*end)(void *owner, const struct export_block *block);
	/* Then, of those that are left, by birth: nothing but `block` and
	 * `node`. At a moment nothing has ended yet, so these are all there
	 * are. */
	void (*live)(void *owner, const struct export_block *block);
};

/* Reads the trace again. EXIT_COMPLETE, however much could be read; or
 * EXIT_NOTHING, with a message and before the first block. */
int export_follow(struct export *export,
		  const struct export_follower *follower);
/* Say what of the report's figures no context has. */
void export_note_contexts(const struct export *export);
/* For those with a curve over time: say what is not in it. */
void export_note_steps(const struct export *export);
/* For formats of single events: say what of the report's figures is in no
 * event of the trace. */
void export_note_events(const struct export *export);

/* The value that is exported, of `cost`: bytes, or a count. */
uint64_t export_value(const struct export *export,
		      const struct figures *figures);
/* Its unit: "bytes" or "count". */
const char *export_unit(const struct export *export);

/*
 * The name of a frame for formats that have no other place for what is known:
 * the function; where it has none, LIBRARY+0xOFFSET, or 0xADDRESS. Valid until
 * the next call with this buffer.
 */
const char *export_frame_name(struct buffer *scratch,
			      const struct frame *frame);
/* A stack as fields of a table, and their names: its site's function, file,
 * line and library, if `site`; the stack (export_stack_text), and why it ends
 * early. */
void export_stack_heads(struct csv *csv, bool site);
void export_stack_fields(struct csv *csv, const struct frame *list,
			 size_t count, size_t at, enum gt_stop stop,
			 bool site);
/* A stack as one text: names of functions, innermost first, with ';' between
 * them; within a name, ';' is written "\;" and '\' is written "\\". */
void export_stack_text(struct buffer *text, const struct frame *list,
		       size_t count);
const char *export_profile_name(struct buffer *scratch,
				const struct profile_frame *frame);
/* The last part of the program's path; NULL: not known. */
const char *export_program(const struct model *model);
/* "program - trace", for titles. */
void export_title(struct buffer *title, const struct model *model,
		  const char *trace);

#endif
