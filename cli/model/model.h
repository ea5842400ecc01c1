/*
 * model.h: what a trace means: who allocated how much, what is live, what was
 * live at the peak. Its memory grows with distinct contexts and live blocks,
 * not with events.
 *
 *	model = model_new(&options, &keys);
 *	status = model_read(model, path);
 *	model_totals(model)->live_bytes …
 *	model_free(model);
 *
 * One thread makes, reads and frees a model; once it was read, any may ask.
 * What is pointed to by answers is the model's, and stays until model_free.
 * Stamps are ticks of the recording's clock; times are ns.
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
struct leftout;
struct map_index;
struct maps;
struct model_tap;
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

/* Its members are in model_state.h, for the files of this folder. */
struct model;

/* ---- making and reading ---- */

/* What not every command needs, and what costs time or memory to know. */
enum model_want {
	MODEL_WANT_MAPS = 1,		/* what was mapped: maps.h */
	MODEL_WANT_HISTOGRAMS = 2,	/* sizes and lifetimes by context */
	MODEL_WANT_TIMELINE = 4,	/* timeline.h */
	MODEL_WANT_CHAINS = 8,		/* what realloc made of blocks: chains.h */
	MODEL_WANT_FREED_BY = 16	/* pairs of freed.h */
};

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

/*
 * An empty model. It has copies of the options (NULL: none) and of the list of
 * keys by which figures of contexts are kept apart (NULL: by none).
 */
struct model *model_new(const struct model_options *options,
			const struct block_keys *keys);
/* And all that it handed out; NULL is allowed. */
void model_free(struct model *model);

/* Read a whole trace, once for each model; returns what reader_run does. */
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

/* ---- one pass more over what was read ---- */

/*
 * A group of contexts that is to have figures of its own, its exact own peak
 * above all. Sums over contexts have all figures but that one.
 */
#define MODEL_NO_GROUP UINT32_MAX
struct group_peak {
	uint64_t bytes, blocks;
	uint64_t ns;		/* when, since the start */
};

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

/*
 * All blocks that are live at some moments of a trace that `model` has read,
 * whatever its filter selects, by one pass more. `look` is called for each of
 * the stamps, which ascend: `then` is a model whose live blocks, asked for by
 * model_next_block, are those that were live just before it; it stays so until
 * `look` returns. Blocks from before the model's view are none of them. What
 * came into the trace since it was read is left out.
 */
struct model_looks {
	void *owner;
	void (*look)(void *owner, const struct model *then, size_t number);
	const uint64_t *stamps;		/* borrowed */
	size_t count;
};

/* Returns what model_read does. If that is EXIT_NOTHING, `look` was called for
 * none of them. */
int model_look(const struct model *model, const char *path,
	       const struct model_looks *looks);

/* ---- what was asked for ---- */

/* The borrowed ones; NULL: nobody wants to know. */
struct notes *model_notes(const struct model *model);
/* Whether blocks were left out by the filter of the options, */
bool model_is_selected(const struct model *model);
/* and whether all that are in are live at one moment, and `live` means then. */
bool model_is_of_moment(const struct model *model);
/* Whether what was at that stamp is not behind until_ns. */
bool model_counts(const struct model *model, uint64_t stamp);
/* Whose rows its figures are from (cli/model/rows/rows_answer.h), for what else
 * they tell; NULL: they are from events. */
struct store *model_store(const struct model *model);
/* Whether some allocations found groups_max reached. */
bool model_has_too_many_groups(const struct model *model);

/* ---- the trace ---- */

/* "key=value" lines of a trace; a later value replaces an earlier one. */
struct fact {
	unsigned type;		/* GT_INFO, GT_COUNTERS, GT_END */
	const char *key;
	const char *value;	/* of a command line, each argument is ended
				 * by RECORDS_NUL */
};

/* In the order in which their keys came. */
const struct fact *model_facts(const struct model *model, size_t *count);
/* The value of a key, or NULL. */
const char *model_fact(const struct model *model, unsigned type,
		       const char *key);
uint64_t model_number(const struct model *model, unsigned type,
		      const char *key, uint64_t fallback);
/* The processor that it was recorded on. */
struct elf_kind model_kind(const struct model *model);
/* Bytes of a page where it was recorded: a power of two. */
uint64_t model_page_size(const struct model *model);
/* The command line as a shell would take it; nothing if it is not known. */
void model_command(const struct model *model, struct buffer *text);
/* What of a trace is made up, since it was anonymised. */
enum model_made_up { MODEL_GENUINE, MODEL_NAMES, MODEL_NAMES_AND_BUILD_IDS };
enum model_made_up model_made_up(const struct model *model);
/* A status of wait in words: "exited with status 0". */
void model_status_text(int status, struct buffer *text);
/* How the program ended: "exited with status 0", "killed by signal 9 …". */
void model_exit_text(const struct model *model, struct buffer *text);
/* It has ended, and its recorder was not told how. */
bool model_exit_unknown(const struct model *model);

/* The path that it was read by; NULL: nothing was read by a path. */
const char *model_trace(const struct model *model);
/* What the reader says of the file. */
const struct reader_report *model_reader_report(const struct model *model);
bool model_is_being_written(const struct model *model);
/* Whether it was recorded who frees. */
bool model_has_freed_by(const struct model *model);
/* Events that did not come into the trace. */
uint64_t model_dropped(const struct model *model);
/* Blocks that were live when the part began, of a recording kept in parts. */
uint64_t model_live_at_begin(const struct model *model);
/* Whether blocks are missing of which there may be frees. */
bool model_has_gap(const struct model *model);
/* Whether of some blocks there are only sums: model_leftout. */
bool model_has_left_out(const struct model *model);
const struct leftout *model_leftout(const struct model *model);
/* What recording was told to do: START, STOP, CLEAR and markers. */
const struct controls *model_controls(const struct model *model);

/* ---- samples ---- */

/* Whether figures are estimates, from a sample of the blocks. */
bool model_is_sampled(const struct model *model);
/* Mean interval of a Poisson sample, in bytes; 0: all blocks are there. */
uint64_t model_sample_mean(const struct model *model);
/* How many blocks of its size a block stands for: one, but for samples. */
double model_weight(const struct model *model, const struct block *block);
/* The bytes that a block of this size stands for, as figures are summed up: of
 * a sample in fixed point; and such a sum as it is told. */
uint64_t model_stands_for(const struct model *model, uint64_t size);
uint64_t model_whole_bytes(const struct model *model, uint64_t sum);

/* ---- times ---- */

const struct clock *model_clock(const struct model *model);
/* Since the start of the recording. */
uint64_t model_since_start_ns(const struct model *model, uint64_t stamp);
/* A span of ticks in ns, good to a part in a thousand: for histograms. */
uint64_t model_span_ns(const struct model *model, uint64_t ticks);
uint64_t model_duration_ns(const struct model *model);
/* Of the wall clock, at the first SYNC. */
uint64_t model_first_realtime_ns(const struct model *model);
/* When most was live of the blocks that are in the trace, of which contexts
 * have their shares: without what was left out. */
uint64_t model_peak_stamp(const struct model *model);
/* Whether contexts have shares of the peak: not if there are only sums. */
bool model_peak_is_shared(const struct model *model);

/* ---- figures ---- */

/* Of the blocks that the filter selects, as all figures but the second. */
const struct totals *model_totals(const struct model *model);
/* Of all blocks; where model_is_selected, else nothing. */
const struct totals *model_totals_of_all(const struct model *model);
/* Stacks, and what is known of each with each value of the keys. */
const struct contexts *model_contexts(const struct model *model);
/* The keys, and what the numbers of costs mean. */
const struct block_keys *model_block_keys(const struct model *model);
/* What values of BLOCK_KEY_MAPPING mean; NULL without that key. */
const struct map_index *model_mappings(const struct model *model);
/* What is known of a context, once all was read. */
void model_figures(const struct model *model, const struct context_cost *cost,
		   struct figures *figures);
/* Allocations whose stack could not be followed to its outermost frame. */
uint64_t model_stopped(const struct model *model);
/* Those by context where they are among the options' wants. */
const struct histograms *model_histograms(const struct model *model);
const struct timeline *model_timeline(const struct model *model);
const struct chains *model_chains(const struct model *model);
const struct freed *model_freed(const struct model *model);

/* ---- blocks ---- */

/* The blocks that are selected and live at the end (or at the moment that the
 * filter names), one after the other, in no order. *at is 0 at first. */
const struct block *model_next_block(const struct model *model, uint64_t *at);
/* The node of the stack that allocated it. */
uint32_t model_node_of(const struct model *model, const struct block *block);
/* The node of the stack that freed such a block later: of one of a moment, if
 * that is known. MODEL_NOT_FREED: it was not, or nobody knows. */
#define MODEL_NOT_FREED UINT32_MAX
uint32_t model_freed_by(const struct model *model, const struct block *block);
/* The program's own heaps, by their numbers. */
const struct pools *model_pools(const struct model *model);

/* ---- the program ---- */

/* Number 0 is of the thread that nobody knows. */
const struct threads *model_threads(const struct model *model);
const struct thread *model_thread(const struct model *model, uint32_t number);
/* All but that one. */
uint64_t model_thread_count(const struct model *model);
/* Memory of the process over time, and snapshots. */
const struct footprint *model_footprint(const struct model *model);
/* What was mapped, by model_read_maps. */
const struct maps *model_maps(const struct model *model);
/* Calls that tune the allocator, and blocks that were found damaged. */
const struct tuning *model_tuning(const struct model *model);
const struct damages *model_damages(const struct model *model);

/* ---- its code ---- */

/* Files that were mapped; nodes know them by their index. */
const struct images *model_images(const struct model *model);
const struct image *model_image(const struct model *model, uint32_t index);
/* The node of an id that chunks have; ids that nobody defined are counted. */
uint32_t model_node(struct model *model, uint32_t id);
/* Of code made at run time: whether any has a name, and the name of what lay
 * at the address when the node was made, or NULL. */
bool model_has_named_code(const struct model *model);
const char *model_named_code(struct model *model, uint64_t pc, uint32_t node);
/* Paths of files in which compilers describe such code (jitdump.h). */
const char *const *model_dumps(const struct model *model, size_t *count);
/* Whether the trace carries files; one of them, an ELF file, as a descriptor,
 * or -1. `owner` is the model (struct debugfile_places). */
bool model_has_embedded(const struct model *model);
int model_embedded(void *owner, const uint8_t *build_id, size_t size);
/* The same of the traces beside it that it refers to. */
int model_beside(void *owner, const uint8_t *build_id, size_t size);

/* ---- for who reads a trace and does other things, too ---- */

/*
 * A lane is a thread outside or inside of its signal handlers: the events of
 * a lane are in order, and what a realloc began in it is ended in it, though
 * the ring may have been replaced by a larger one meanwhile.
 */
static inline uint32_t model_lane(uint32_t thread, bool nested)
{
	return thread << 1 | nested;
}

/* What model_read hands to reader_run; model_finish comes after it. There are
 * to be no filter and no until_ns. */
void model_sink(struct model *model, struct reader_sink *sink);
/* Some of the sink's functions, and what follows the last event. */
uint32_t model_lane_of_ring(void *owner, uint32_t ring, bool *nested);
void model_live(void *owner, const struct trace_live *block);
void model_events(void *owner, uint32_t lane,
		  const struct trace_event *events, size_t count);
void model_finish(struct model *model);
/* Others' edges, of the same events: pair them as the head of the trace says,
 * which was read. */
void model_pair_alike(const struct model *model, struct edges *edges);
/* I1 of apply.c, before sums of a sample are rounded. With GNOMON_CLAIMS. */
bool model_is_valid(const struct model *model);

#endif
