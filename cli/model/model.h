/*
 * model.h: what a trace means: who allocated how much, what is live, what was
 * live at the peak. Its memory grows with distinct contexts and live blocks,
 * not with events.
 */
#ifndef GNOMON_MODEL_H
#define GNOMON_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/base/text/buffer.h"
#include "cli/base/intern.h"
#include "cli/model/core/chains.h"
#include "cli/model/core/contexts.h"
#include "cli/model/core/controls.h"
#include "cli/model/core/damages.h"
#include "cli/model/block_keys.h"
#include "cli/model/core/block_totals.h"
#include "cli/model/core/edges.h"
#include "cli/model/stats/figures.h"
#include "cli/model/filters.h"
#include "cli/model/stats/footprint.h"
#include "cli/model/stats/freed.h"
#include "cli/model/stats/histograms.h"
#include "cli/model/heap.h"
#include "cli/model/core/images.h"
#include "cli/model/leftout.h"
#include "cli/model/lifespans.h"
#include "cli/model/map_index.h"
#include "cli/model/maps/maps.h"
#include "cli/model/part.h"
#include "cli/model/core/pools.h"
#include "cli/model/tap.h"
#include "cli/model/core/threads.h"
#include "cli/model/stats/timeline.h"
#include "cli/model/core/tuning.h"
#include "cli/symbol/jit/perfmap.h"
#include "cli/trace/read/clock.h"
#include "cli/trace/read/beside.h"
#include "cli/trace/read/embedded.h"
#include "cli/trace/read/reader.h"

/* "key=value" lines of a trace; a later value replaces an earlier one. */
struct fact {
	unsigned type;		/* GT_INFO, GT_COUNTERS, GT_END */
	const char *key;
	const char *value;	/* of a command line, each argument is ended
				 * by RECORDS_NUL */
};

/* What not every command needs, and what costs time or memory to know. */
enum model_want {
	MODEL_WANT_MAPS = 1,		/* what was mapped: maps.h */
	MODEL_WANT_HISTOGRAMS = 2,	/* sizes and lifetimes by context */
	MODEL_WANT_TIMELINE = 4,	/* timeline.h */
	MODEL_WANT_CHAINS = 8,		/* what realloc made of blocks: chains.h */
	MODEL_WANT_FREED_BY = 16	/* pairs of freed.h */
};

/*
 * A group of contexts that is to have figures of its own, its exact own peak
 * above all. Sums over contexts have all figures but that one.
 */
#define MODEL_NO_GROUP UINT32_MAX
struct group_peak {
	uint64_t bytes, blocks;
	uint64_t ns;		/* when, since the start */
};

/* Set between model_init and model_read. */
struct model_options {
	unsigned wants;			/* enum model_want */
	/* A block is temporary if at most so many other allocations of its
	 * thread came between its own and its free. */
	uint64_t temporary;
	const struct filter *filter;	/* of blocks; NULL: all. Borrowed */
	/* With keys: of so many pairs of a context and their values figures
	 * are kept, and of further ones with all values unknown; 0: no end. */
	uint64_t groups_max;
	/* What was later than so long after the start has not happened; 0:
	 * everything counts. */
	uint64_t until_ns;
	/* START and CLEAR that are later than this after the start are no
	 * beginnings; 0: all are, up to until_ns. */
	uint64_t begin_ns;
	/* What is wrong with a trace, or with what was asked; NULL: nobody
	 * wants to know. Borrowed. */
	struct notes *notes;
};

#define MODEL_DUMPS 16	/* of jitdump.h, for one process */

struct model {
	struct model_options options;
	/* Figures of contexts are kept apart by them. Their list is set with
	 * the options. */
	struct block_keys keys;
	struct images images;
	struct contexts contexts;
	struct edges edges;		/* blocks, and what waits for others */
	struct threads threads;
	struct tuning tuning;
	struct maps maps;
	bool with_maps;			/* they were read */
	struct perfmap perfmap;		/* code made at run time */
	const char *dumps[MODEL_DUMPS];	/* files that describe some, too */
	size_t dump_count;
	struct footprint footprint;
	struct clock clock;
	struct totals totals;		/* of the blocks that the filter selects */
	struct totals whole;		/* of all blocks */
	struct histograms histograms;	/* of the selected ones, as all below */
	struct timeline timeline;
	struct chains chains;
	struct freed freed;		/* where has_freed_by */
	bool has_freed_by;		/* frees have their stacks */
	struct leftout leftout;
	struct controls controls;
	struct pools pools;
	struct part part;
	struct damages damages;
	struct embedded embedded;	/* files that the trace carries */
	struct beside parent, parts;	/* and what others do for it */
	const char *trace;		/* its name, once it was read */
	/* Mean interval of a Poisson sample, in bytes; 0: all blocks are in
	 * the trace. Else all figures are estimates. */
	uint64_t sample_mean;
	/* Blocks that were live at the filter's moment, and freed later. */
	struct block *past;
	uint32_t *past_freed_by;	/* nodes, where has_freed_by */
	size_t past_count, past_capacity;
	struct fact *facts;
	size_t fact_count;
	size_t fact_capacity;
	struct table fact_index;	/* by type and key: see model_fact */
	struct intern names;
	uint64_t dropped;		/* said by SYNC chunks */
	uint64_t undefined;		/* of contexts.undefined, noted */
	uint64_t beyond;	/* allocations with more than groups_max */
	uint64_t extras[GT_EXTRA_COUNT];	/* by what; 0: unknown ones */
	bool start_told;		/* by INFO: */
	uint64_t start_ns;		/* of the recording, monotonic */
	struct trace_sync first_sync;
	struct trace_sync last_sync;
	struct reader_report report;
	/* for account.h */
	bool begun;
	bool special;			/* not the plain way */
	bool deciding;			/* about the selection */
	bool follows_chains;
	uint64_t leaving;		/* number of the chain that goes on
					 * behind the event at hand; 0: none */
	bool borrowed;			/* the selection is another model's */
	struct selection *selection;	/* NULL: all blocks */
	/* Of BLOCK_KEY_LIFETIME, else NULL; this pass finds them out. Owned by
	 * the model that answers. */
	struct lifespans *lifespans;
	bool measuring;
	struct map_index *mappings;	/* of BLOCK_KEY_MAPPING, likewise */
	uint64_t births;		/* of blocks so far, if there is one */
	uint64_t *numbers;		/* of blocks in that order, by theirs in
					 * edges.blocks; if deciding, measuring */
	size_t number_capacity;
	const struct model_tap *tap;	/* NULL: nobody looks on */
	const struct block_keys *told_keys;	/* of the first pass, for it */
	uint64_t span_factor;		/* ns of a tick << 32 */
	uint64_t until;			/* stamp of the last that counts */
	uint64_t alarm;			/* stamp: see account_alarm */
};

void model_init(struct model *model);
/* Read a whole trace; returns what reader_run does. */
int model_read(struct model *model, const char *path);
/* The same, with what was mapped: for `info`. */
int model_read_maps(struct model *model, const char *path);
/* The same, of the events only those that are not about blocks: for `info`. */
int model_read_outline(struct model *model, const char *path);
/* Which passes come before the one that counts: one over all but the events of
 * blocks, and one that finds out how blocks end. Both need a file. */
bool model_needs_outline(const struct model_options *options,
			 const struct block_keys *keys);
bool model_needs_ends(const struct model_options *options,
		      const struct block_keys *keys);
/* Not if it is a pipe or the like, which is noted. */
bool model_can_be_read_again(const char *path, struct notes *notes);
void model_free(struct model *model);

/* A later value of a key replaces an earlier one. */
void model_set_fact(struct model *model, unsigned type, const char *key,
		    const char *value);
/* The value of a key, or NULL. */
const char *model_fact(const struct model *model, unsigned type,
		       const char *key);
/* The command line as a shell would take it; nothing if it is not known. */
void model_command(const struct model *model, struct buffer *text);
/* What of a trace is made up, since it was anonymised. */
enum model_made_up { MODEL_GENUINE, MODEL_NAMES, MODEL_NAMES_AND_BUILD_IDS };
enum model_made_up model_made_up(const struct model *model);
uint64_t model_number(const struct model *model, unsigned type,
		      const char *key, uint64_t fallback);

/* Whether it was recorded who frees. */
bool model_has_freed_by(const struct model *model);
/* When most was live of the blocks that are in the trace, of which contexts
 * have their shares: without what was left out. */
uint64_t model_peak_stamp(const struct model *model);
uint64_t model_dropped(const struct model *model);
uint64_t model_duration_ns(const struct model *model);
/* Since the start of the recording. */
uint64_t model_since_start_ns(const struct model *model, uint64_t stamp);
uint64_t model_thread_count(const struct model *model);
/* Allocations whose stack could not be followed to its outermost frame. */
uint64_t model_stopped(const struct model *model);
/* What is known of a context, once all was read. */
void model_figures(const struct model *model, const struct context_cost *cost,
		   struct figures *figures);
/*
 * The exact own peaks of groups of contexts, by a second pass over a trace
 * that `model` has read: `group` says of a node of that model, and of a number
 * of its block keys, to which group, below `count`, such blocks belong, or
 * MODEL_NO_GROUP; it is asked once about each. Returns what model_read does;
 * a trace that cannot be read twice (a pipe) is EXIT_NOTHING, with a note.
 */
int model_group_peaks(const struct model *model, const char *path,
		      uint32_t (*group)(void *owner, uint32_t node,
					uint32_t key), void *owner,
		      struct group_peak *peaks, size_t count);
/*
 * The selected blocks of a trace that `model` has read, as they begin and end,
 * by a second pass. What came into the trace since then is left out. If live
 * means at a moment (--alive-at), blocks do not end: all that are told are
 * live then. Returns what model_read does.
 */
int model_follow(const struct model *model, const char *path,
		 const struct model_tap *tap);
/* The blocks that are selected and live at the end (or at the moment that the
 * filter names), one after the other, in no order. *at is 0 at first. */
const struct block *model_next_block(const struct model *model, uint64_t *at);
/* How many blocks of its size a block stands for: one, but for samples. */
double model_weight(const struct model *model, const struct block *block);
/* The bytes that a block of this size stands for, as figures are summed up: of
 * a sample in fixed point; and such a sum as it is told. */
uint64_t model_stands_for(const struct model *model, uint64_t size);
uint64_t model_whole_bytes(const struct model *model, uint64_t sum);
/* The node of the stack that freed such a block later: of one of a moment, if
 * that is known. MODEL_NOT_FREED: it was not, or nobody knows. */
#define MODEL_NOT_FREED UINT32_MAX
uint32_t model_freed_by(const struct model *model, const struct block *block);
/* An ELF file that the trace carries, as a descriptor, or -1; `owner` is the
 * model (struct debugfile_places). */
int model_embedded(void *owner, const uint8_t *build_id, size_t size);
/* The same of the traces beside it that it refers to. */
int model_beside(void *owner, const uint8_t *build_id, size_t size);
/* A status of wait in words: "exited with status 0". */
void model_status_text(int status, struct buffer *text);
/* How the program ended: "exited with status 0", "killed by signal 9 …". */
void model_exit_text(const struct model *model, struct buffer *text);
/* It has ended, and its recorder was not told how. */
bool model_exit_unknown(const struct model *model);

/*
 * A lane is a thread outside or inside of its signal handlers: the events of
 * a lane are in order, and what a realloc began in it is ended in it, though
 * the ring may have been replaced by a larger one meanwhile.
 */
static inline uint32_t model_lane(uint32_t thread, bool nested)
{
	return thread << 1 | nested;
}

/* A span of ticks in ns, good to a part in a thousand: for histograms. */
static inline uint64_t model_span_ns(const struct model *model, uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * model->span_factor >> 32);
}

/* What model_read hands to reader_run, for who reads a trace and does other
 * things, too; model_finish comes after it. Options are those of model_init:
 * no filter, no until_ns. */
void model_sink(struct model *model, struct reader_sink *sink);
/* Private to the model: edges without events, and their sink. */
void model_edges(struct model *model);
/* For tests: the sink's function for events, and what follows the last. */
void model_events(void *owner, uint32_t lane,
		  const struct trace_event *events, size_t count);
void model_finish(struct model *model);
/* I1 of apply.c, before sums of a sample are rounded. With GNOMON_CLAIMS. */
bool model_is_valid(const struct model *model);

#endif
