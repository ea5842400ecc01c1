/*
 * model.h: the analysis of a trace: who allocated how much, what is live, what
 * was live at the peak. Its memory grows with distinct contexts and live
 * blocks, not with events.
 *
 *	model = model_new(&options, &keys);
 *	status = model_read(model, path);
 *	model_totals(model)->live_bytes …
 *	model_free(model);
 *
 * One thread makes, reads and frees a model. Once it has been read, any thread
 * may call the functions that take a const model. Pointers that they return
 * belong to the model and are valid until model_free. Stamps are ticks of the
 * recording's clock; times are ns.
 */
#ifndef GNOMON_MODEL_H
#define GNOMON_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/status.h"
#include "cli/model/core/block_totals.h"
#include "cli/symbol/elf/elf_kind.h"
#include "cli/trace/format/trace_format.h"

struct block;
struct block_keys;
struct buffer;
struct chains;
struct clock;
struct context_cost;
struct contexts;
struct controls;
struct damages;
struct edges;
struct figures;
struct filter;
struct footprint;
struct freed;
struct histograms;
struct image;
struct images;
struct omitted;
struct map_index;
struct maps;
struct block_observer;
struct notes;
struct pools;
struct reader_report;
struct reader_sink;
struct store;
struct thread;
struct threads;
struct timeline;
struct trace_event;
struct trace_live;
struct tuning;

/* Defined in model_state.h, for the files of this folder. */
struct model;

/* ---- making and reading ---- */

/* Results that cost time or memory and that not every command needs. */
enum model_want {
	MODEL_WANT_MAPS = 1,		/* mappings: maps.h */
	MODEL_WANT_HISTOGRAMS = 2,	/* sizes and lifetimes by context */
	MODEL_WANT_TIMELINE = 4,	/* timeline.h */
	MODEL_WANT_CHAINS = 8,		/* realloc chains: chains.h */
	MODEL_WANT_FREED_BY = 16	/* pairs of freed.h */
};

struct model_options {
	unsigned wants;			/* enum model_want */
	/* A block is temporary if its thread made at most this many other
	 * allocations between its allocation and its free. */
	uint64_t temporary;
	const struct filter *filter;	/* of blocks; NULL: all. Borrowed */
	/* With keys: how many pairs of a context and key values have measures
	 * of their own; allocations of further pairs count as "all values
	 * unknown". 0: no limit. */
	uint64_t groups_max;
	/* Events later than this after the start do not count; 0: all count. */
	uint64_t until_ns;
	/* START and CLEAR later than this after the start do not begin a view;
	 * 0: all do, up to until_ns. */
	uint64_t begin_ns;
	/* Gets errors of the trace and of the request; NULL: they are not
	 * reported. Borrowed. */
	struct notes *notes;
};

/*
 * An empty model. The options (NULL: none) and the list of keys by which the
 * measures of a context are kept apart (NULL: none) are copied.
 */
struct model *model_new(const struct model_options *options,
			const struct block_keys *keys);
/* Frees also everything that the model returned; NULL is allowed. */
void model_free(struct model *model);

/* Read a whole trace, once per model; returns the same as reader_run. */
int model_read(struct model *model, const char *path);
/* The same, with mappings: for `info`. */
int model_read_maps(struct model *model, const char *path);
/* The same, but of the events only those that are not about blocks: for
 * `info`. */
int model_read_outline(struct model *model, const char *path);
/* Whether passes are needed before the one that counts: one over everything but
 * the events of blocks, and one that finds out how blocks end. Both need a
 * regular file. */
bool model_needs_outline(const struct model_options *options,
			 const struct block_keys *keys);
bool model_needs_ends(const struct model_options *options,
		      const struct block_keys *keys);
/* False for a pipe and the like, which is noted. */
bool model_can_be_read_again(const char *path, struct notes *notes);

/* ---- another pass over a trace that was read ---- */

/*
 * A group of contexts with measures of its own, mainly its exact own peak. All
 * other measures of a group are sums over its contexts.
 */
#define MODEL_NO_GROUP UINT32_MAX
struct group_peak {
	uint64_t bytes, blocks;
	uint64_t ns;		/* since the start */
};

/*
 * The exact own peaks of groups of contexts, by a second pass over a trace that
 * `model` has read. `group` returns, for a node of that model and a number of
 * its block keys, the group (below `count`) of such blocks, or MODEL_NO_GROUP;
 * it is called once per pair. Returns the same as model_read; a trace that
 * cannot be read twice (a pipe) gives EXIT_NOTHING, with a note.
 */
int model_group_peaks(const struct model *model, const char *path,
		      uint32_t (*group)(void *owner, uint32_t node,
					uint32_t key), void *owner,
		      struct group_peak *peaks, size_t count);
/*
 * The selected blocks of a trace that `model` has read, as they begin and end,
 * by a second pass. Events added to the trace since then are left out. If live
 * means at a moment (--alive-at), blocks do not end: all reported blocks are
 * live at that moment. Returns the same as model_read.
 */
int model_follow(const struct model *model, const char *path,
		 const struct block_observer *observer);

/*
 * All blocks that are live at given moments of a trace that `model` has read,
 * by another pass; its filter does not apply. `look` is called for each stamp;
 * stamps ascend. `then` is a model whose model_next_block returns the blocks
 * live just before the stamp, until `look` returns. Blocks from before the
 * model's view are not included. Events added to the trace since it was read
 * are left out.
 */
struct model_looks {
	void *owner;
	void (*look)(void *owner, const struct model *then, size_t number);
	const uint64_t *stamps;		/* borrowed */
	size_t count;
};

/* Returns the same as model_read. EXIT_NOTHING: `look` was never called. */
int model_at_moments(const struct model *model, const char *path,
		     const struct model_looks *looks);

/* ---- the request ---- */

/* The borrowed notes; NULL: errors are not reported. */
struct notes *model_notes(const struct model *model);
/* Whether the filter of the options left blocks out, */
bool model_is_selected(const struct model *model);
/* and whether it selects blocks live at one moment; then `live` means at that
 * moment. */
bool model_is_of_moment(const struct model *model);
/* Whether the stamp is at or before until_ns. */
bool model_counts(const struct model *model, uint64_t stamp);
/* The index that the measures come from (cli/model/index/index_answer.h); NULL:
 * they come from events. */
struct store *model_store(const struct model *model);
/* Whether groups_max was reached and some allocations had no group. */
bool model_has_too_many_groups(const struct model *model);

/* ---- the trace ---- */

/* "key=value" lines of a trace; a later value replaces an earlier one. */
struct fact {
	unsigned type;		/* GT_INFO, GT_COUNTERS, GT_END */
	const char *key;
	const char *value;	/* of a command line: each argument ends with
				 * RECORDS_NUL */
};

/* In the order in which the keys appeared. */
const struct fact *model_facts(const struct model *model, size_t *count);
/* The value of a key, or NULL. */
const char *model_fact(const struct model *model, unsigned type,
		       const char *key);
uint64_t model_number(const struct model *model, unsigned type,
		      const char *key, uint64_t fallback);
/* The processor of the recording. */
struct elf_kind model_kind(const struct model *model);
/* Page size of the recording's machine in bytes: a power of two. */
uint64_t model_page_size(const struct model *model);
/* The command line as shell input; empty if not known. */
void model_command(const struct model *model, struct buffer *text);
/* Which parts of an anonymised trace are made up. */
enum model_made_up { MODEL_GENUINE, MODEL_NAMES, MODEL_NAMES_AND_BUILD_IDS };
enum model_made_up model_made_up(const struct model *model);
/* A status of wait(2) in words: "exited with status 0". */
void model_status_text(int status, struct buffer *text);
/* How the program ended: "exited with status 0", "killed by signal 9 …". */
void model_exit_text(const struct model *model, struct buffer *text);
/* The program has ended, and its recorder does not know how. */
bool model_exit_unknown(const struct model *model);

/* The path it was read from; NULL: not read from a path. */
const char *model_trace(const struct model *model);
/* The reader's report about the file. */
const struct reader_report *model_reader_report(const struct model *model);
bool model_is_being_written(const struct model *model);
/* Whether the recording has stacks of frees. */
bool model_has_freed_by(const struct model *model);
/* Events that are missing in the trace. */
uint64_t model_dropped(const struct model *model);
/* Blocks that were live when this part of a rotated recording began. */
uint64_t model_live_at_begin(const struct model *model);
/* Whether blocks are missing whose frees may be in the trace. */
bool model_has_gap(const struct model *model);
/* Whether some blocks are known only as sums: model_leftout. */
bool model_has_left_out(const struct model *model);
const struct omitted *model_leftout(const struct model *model);
/* Commands to the recorder: START, STOP, CLEAR and markers. */
const struct controls *model_controls(const struct model *model);

/* ---- samples ---- */

/* Whether measures are estimates, from a sample of the blocks. */
bool model_is_sampled(const struct model *model);
/* Mean interval of a Poisson sample, in bytes; 0: all blocks were recorded. */
uint64_t model_sample_mean(const struct model *model);
/* The sample weight of a block: how many blocks of its size it stands for; 1 if
 * not sampled. */
double model_weight(const struct model *model, const struct block *block);
/* The bytes that a block of this size stands for, as summed: in a sample, a
 * fixed-point number; and such a sum as whole bytes. */
uint64_t model_stands_for(const struct model *model, uint64_t size);
uint64_t model_whole_bytes(const struct model *model, uint64_t sum);

/* ---- times ---- */

const struct clock *model_clock(const struct model *model);
/* Since the start of the recording. */
uint64_t model_since_start_ns(const struct model *model, uint64_t stamp);
/* Ticks as ns, with an error below 1/1000: for histograms. */
uint64_t model_span_ns(const struct model *model, uint64_t ticks);
uint64_t model_duration_ns(const struct model *model);
/* Wall-clock time of the first SYNC. */
uint64_t model_first_realtime_ns(const struct model *model);
/* When live bytes of the blocks in the trace were largest; contexts have shares
 * of this peak. Blocks that were left out do not count. */
uint64_t model_peak_stamp(const struct model *model);
/* Whether contexts have shares of the peak: false if there are only sums. */
bool model_peak_is_shared(const struct model *model);

/* ---- measures ---- */

/* Of the blocks that the filter selects, as all measures except the next. */
const struct totals *model_totals(const struct model *model);
/* Of all blocks; only if model_is_selected, else zeros. */
const struct totals *model_totals_of_all(const struct model *model);
/* Stacks, with the measures of each for each value of the keys. */
const struct contexts *model_contexts(const struct model *model);
/* The keys, and the meaning of the key numbers in costs. */
const struct block_keys *model_block_keys(const struct model *model);
/* The meaning of BLOCK_KEY_MAPPING values; NULL without that key. */
const struct map_index *model_mappings(const struct model *model);
/* The measures of a context, once everything was read. */
void model_figures(const struct model *model, const struct context_cost *cost,
		   struct figures *figures);
/* Allocations whose stack is truncated: the walk did not reach the outermost
 * frame. */
uint64_t model_stopped(const struct model *model);
/* By context only if the options' `wants` request that. */
const struct histograms *model_histograms(const struct model *model);
const struct timeline *model_timeline(const struct model *model);
const struct chains *model_chains(const struct model *model);
const struct freed *model_freed(const struct model *model);

/* ---- blocks ---- */

/* The selected blocks that are live at the end (or at the moment that the
 * filter names), one by one, in no order. *at is 0 at first. */
const struct block *model_next_block(const struct model *model, uint64_t *at);
/* The node of the stack that allocated it. */
uint32_t model_node_of(const struct model *model, const struct block *block);
/* The node of the stack that later freed a block that was live at the filter's
 * moment, if known. MODEL_NOT_FREED: not freed, or not known. */
#define MODEL_NOT_FREED UINT32_MAX
uint32_t model_freed_by(const struct model *model, const struct block *block);
/* The program's own heaps, by number. */
const struct pools *model_pools(const struct model *model);

/* ---- the program ---- */

/* Number 0 is the unknown thread. */
const struct threads *model_threads(const struct model *model);
const struct thread *model_thread(const struct model *model, uint32_t number);
/* Without number 0. */
uint64_t model_thread_count(const struct model *model);
/* Memory of the process over time, and snapshots. */
const struct footprint *model_footprint(const struct model *model);
/* The mappings, if read by model_read_maps. */
const struct maps *model_maps(const struct model *model);
/* Calls that tune the allocator, and blocks found damaged. */
const struct tuning *model_tuning(const struct model *model);
const struct damages *model_damages(const struct model *model);

/* ---- the program's code ---- */

/* Mapped files; nodes refer to them by index. */
const struct images *model_images(const struct model *model);
const struct image *model_image(const struct model *model, uint32_t index);
/* The node of a context id in chunks; ids that were never defined are
 * counted. */
uint32_t model_node(struct model *model, uint32_t id);
/* For code made at run time: whether any has a name, and the name of the code
 * that was at the address when the node was made, or NULL. */
bool model_has_named_code(const struct model *model);
const char *model_named_code(struct model *model, uint64_t pc, uint32_t node);
/* Paths of the files in which JIT compilers describe such code (jitdump.h). */
const char *const *model_dumps(const struct model *model, size_t *count);
/* Whether the trace embeds files; one of them, an ELF file, as a descriptor, or
 * -1. `owner` is the model (struct debugfile_places). */
bool model_has_embedded(const struct model *model);
int model_embedded(void *owner, const uint8_t *build_id, size_t size);
/* The same for the sidecar traces that it refers to. */
int model_sidecar(void *owner, const uint8_t *build_id, size_t size);

/* ---- for callers that read a trace themselves ---- */

/*
 * A lane is a thread outside of its signal handlers, or inside of them. Events
 * of a lane are in order, and a realloc that began in a lane ends in it, though
 * a larger ring may replace the ring in between.
 */
static inline uint32_t model_lane(uint32_t thread, bool nested)
{
	return thread << 1 | nested;
}

/* The sink that model_read passes to reader_run; call model_finish after it.
 * The options must have no filter and no until_ns. */
void model_sink(struct model *model, struct reader_sink *sink);
/* Some functions of the sink, and what follows the last event. */
uint32_t model_lane_of_ring(void *owner, uint32_t ring, bool *nested);
void model_live(void *owner, const struct trace_live *block);
void model_events(void *owner, uint32_t lane,
		  const struct trace_event *events, size_t count);
void model_finish(struct model *model);
/* Make other edges of the same events pair them in the same way, by the head of
 * the trace, which was read. */
void model_pair_alike(const struct model *model, struct edges *edges);
/* I1 of model_apply.c, before sums of a sample are rounded. With
 * GNOMON_DEBUG_ASSERTS. */
bool model_is_valid(const struct model *model);

#endif
