/*
 * export.h: writes traces in the formats of other tools.
 *
 * An exporter is one file: a function that writes, and a struct exporter in the
 * table of cli/export/exporters.c. It gets a trace that was read: measures of
 * all contexts, and names on request. It can use three interfaces:
 *
 *	export_contexts   every context with its measures: aggregates
 *	export->profile   the same as one tree of normalised frames, if it
 *	                  `wants_profile`
 *	export_follow     each allocation and free in turn (cli/model/block_observer.h):
 *	                  event streams; memory use grows with contexts and
 *	                  live blocks only
 *
 * Filters, including --alive-at, apply to all three.
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
#include "cli/model/block_observer.h"
#include "cli/query/query.h"
#include "cli/stack/frames.h"
#include "cli/stack/profile.h"

struct export {
	const char *trace;		/* its path */
	struct model *model;
	struct frames *frames;		/* all symbols were looked up */
	struct profile *profile;	/* sealed, one side; or NULL */
	bool (*keep)(void *owner, uint32_t node,
		     const struct figures *figures);	/* NULL: all */
	void *keeper;
	struct coverage coverage;
	enum measure cost;		/* MEASURE_EXPORTED */
	bool cost_given;		/* else live */
	const struct query *query;
	bool threads;			/* one row each (`can_split_threads`) */
	bool blocks;			/* one row each (`can_list_blocks`) */
	const char *output;		/* name of the file; NULL: stdout */
	FILE *out;
};

struct exporter {
	const char *name;		/* for --format */
	const char *what;		/* for help: one line */
	bool binary;			/* refused on a terminal */
	bool wants_profile;
	bool wants_costs;	/* in the profile, with self_of_cost */
	bool can_split_threads;		/* takes --threads: costs are by thread
					 * then, and `part` is the thread */
	bool can_list_blocks;		/* takes --by block */
	bool has_threads;		/* of each block, always */
	bool wants_blocks;		/* by export_follow: reads the trace
					 * again */
	unsigned wants;			/* enum model_want */
	unsigned spares;		/* enum query_spare */
	/* Returns an exit status; writes to `out` only. output_file_close
	 * reports errors of the output itself. */
	int (*write)(struct export *export);
};

/* Calls `each` for every cost that filters keep and that ever allocated; with
 * `threads`, `part` is its thread. */
void export_contexts(struct export *export,
		     void (*each)(void *owner, uint32_t node, uint32_t part,
				  const struct figures *figures),
		     void *owner);
/* Their sum, and how many contexts there are. */
uint64_t export_sum(struct export *export, struct figures *sum);

/* A block as in block_observer.h. */
struct export_block {
	const struct block *block;
	uint32_t number, node, chain;
	uint32_t thread;	/* of the event */
	uint64_t stamp;		/* time of the event */
	enum edge_end end;	/* for an end */
};

/* Callbacks for each block that filters keep; each may be NULL. */
struct export_follower {
	void *owner;
	void (*alloc)(void *owner, const struct export_block *block);
	void (*end)(void *owner, const struct export_block *block);
	/* After these, the live blocks in order of allocation; only `block` and
	 * `node` are set. At a moment no block has ended yet, so `live` gets
	 * all blocks. */
	void (*live)(void *owner, const struct export_block *block);
};

/* Reads the trace again. Returns EXIT_COMPLETE, however much could be read; or
 * EXIT_NOTHING after a message, before the first block. */
int export_follow(struct export *export,
		  const struct export_follower *follower);
/* Note which measures of the report are in no context. */
void export_note_contexts(const struct export *export);
/* For exporters of curves over time: note what the curve lacks. */
void export_note_steps(const struct export *export);
/* For formats of single events: note which measures of the report are in no
 * event of the trace. */
void export_note_events(const struct export *export);

/* The exported value, of `cost`: bytes or a count. */
uint64_t export_value(const struct export *export,
		      const struct figures *figures);
/* Its unit: "bytes" or "count". */
const char *export_unit(const struct export *export);

/*
 * The name of a frame, for formats with no other field for its location: the
 * function; without one, LIBRARY+0xOFFSET or 0xADDRESS. Valid until the next
 * call with this buffer.
 */
const char *export_frame_name(struct buffer *scratch,
			      const struct frame *frame);
/* A stack as table fields, and their headings: if `site`, the site's function,
 * file, line and library; the stack (export_stack_text), and why it ends
 * early. */
void export_stack_heads(struct csv *csv, bool site);
void export_stack_fields(struct csv *csv, const struct frame *list,
			 size_t count, size_t at, enum gt_stop stop,
			 bool site);
/* A stack as one text: function names, innermost first, separated by ';'.
 * Within a name, ';' is written "\;" and '\' is written "\\". */
void export_stack_text(struct buffer *text, const struct frame *list,
		       size_t count);
const char *export_profile_name(struct buffer *scratch,
				const struct profile_frame *frame);
/* The last part of the program's path; NULL if unknown. */
const char *export_program(const struct model *model);
/* "program - trace", for titles. */
void export_title(struct buffer *title, const struct model *model,
		  const char *trace);

#endif
