/*
 * model_state.h: the members of struct model. Only for the files of cli/model
 * and their tests; all others use model.h.
 */
#ifndef GNOMON_MODEL_STATE_H
#define GNOMON_MODEL_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/base/intern.h"
#include "cli/model/block_keys.h"
#include "cli/model/core/chains.h"
#include "cli/model/core/contexts.h"
#include "cli/model/core/controls.h"
#include "cli/model/core/damages.h"
#include "cli/model/core/edges.h"
#include "cli/model/core/images.h"
#include "cli/model/core/pools.h"
#include "cli/model/core/threads.h"
#include "cli/model/core/tuning.h"
#include "cli/model/omitted.h"
#include "cli/model/maps/maps.h"
#include "cli/model/model.h"
#include "cli/model/initial_live.h"
#include "cli/model/stats/footprint.h"
#include "cli/model/stats/freed.h"
#include "cli/model/stats/histograms.h"
#include "cli/model/stats/timeline.h"
#include "cli/store/store_sweep.h"
#include "cli/symbol/jit/perfmap.h"
#include "cli/trace/read/sidecar.h"
#include "cli/trace/read/clock.h"
#include "cli/trace/read/embedded.h"
#include "cli/trace/read/reader.h"

struct block;
struct block_lifetimes;
struct map_index;
struct model_observer;
struct block_observer;
struct selection;

#define MODEL_DUMPS 16	/* jitdump.h, for one process */

struct model {
	struct model_options options;
	struct block_keys keys;		/* with their tuples */
	struct images images;
	struct contexts contexts;
	struct edges edges;		/* blocks, and events that wait for a
					 * counterpart */
	struct threads threads;
	struct tuning tuning;
	struct maps maps;
	bool with_maps;			/* they were read */
	struct perfmap perfmap;		/* code made at run time */
	const char *dumps[MODEL_DUMPS];	/* jitdump files */
	size_t dump_count;
	struct footprint footprint;
	struct clock clock;
	struct totals totals;		/* of the blocks that the filter selects */
	struct totals whole;		/* of all blocks */
	struct histograms histograms;	/* of the selected blocks, as all
					 * below */
	struct timeline timeline;
	struct chains chains;
	struct freed freed;		/* where has_freed_by */
	bool has_freed_by;		/* frees have stacks */
	struct omitted omitted;
	struct controls controls;
	struct pools pools;
	struct initial_live part;
	struct damages damages;
	struct embedded embedded;	/* files embedded in the trace */
	struct sidecar parent, parts;	/* and in other traces, for it */
	const char *trace;		/* its path, once it was read */
	/* Mean interval of a Poisson sample, in bytes; 0: all blocks are in the
	 * trace. Otherwise all measures are estimates. */
	uint64_t sample_mean;
	/* Blocks that were live at the filter's moment and freed later. */
	struct block *past;
	uint32_t *past_freed_by;	/* nodes, where has_freed_by */
	size_t past_count, past_capacity;
	struct fact *facts;
	size_t fact_count;
	size_t fact_capacity;
	struct table fact_index;	/* by type and key: see model_fact */
	struct intern names;
	uint64_t dropped;		/* reported by SYNC chunks */
	uint64_t undefined;		/* of contexts.undefined, noted */
	uint64_t beyond;	/* allocations beyond groups_max */
	bool start_reported;		/* INFO has it: */
	uint64_t start_ns;		/* of the recording, monotonic */
	struct trace_sync first_sync;
	struct trace_sync last_sync;
	struct reader_report report;
	/* for account.h */
	bool begun;
	bool special;			/* the special path */
	bool deciding;			/* in the deciding pass */
	bool follows_chains;
	uint64_t leaving;		/* number of the chain that continues
					 * after the current event with blocks
					 * missing; 0: none */
	bool borrowed;			/* the selection belongs to another
					 * model */
	struct selection *selection;	/* NULL: all blocks */
	/* For BLOCK_KEY_LIFETIME, else NULL; filled in by this pass if
	 * `measuring`. Owned by the model with the results. */
	struct block_lifetimes *block_lifetimes;
	bool measuring;
	struct map_index *mappings;	/* for BLOCK_KEY_MAPPING, likewise */
	uint64_t allocs;		/* allocations so far, if numbered */
	uint64_t *numbers;		/* the numbers of blocks in that order,
					 * by their number in edges.blocks; if
					 * deciding or measuring */
	size_t number_capacity;
	const struct model_observer *companion;	/* while it reads */
	const struct block_observer *observer;	/* NULL: none */
	const struct model_looks *looks;	/* NULL: none */
	size_t looked;			/* how many were done */
	const struct block_keys *reported_keys;	/* keys of the first pass, for
						 * the observer */
	uint64_t span_factor;		/* ns per tick << 32 */
	uint64_t until;			/* last stamp that counts */
	uint64_t alarm;			/* stamp: see account_alarm */
	/* For answers from the index (cli/model/index): the index, owned; a
	 * request was made; all contexts are merged into the root; the last
	 * stamp of the outline; the peak of all blocks of a view. */
	struct store *store;
	bool asked, merged;
	uint64_t *chosen;		/* bit set of index_wanted, owned */
	size_t chosen_nodes;
	uint64_t outline_stamp;
	bool peak_known;
	uint64_t peak_view;
	struct store_peak peak;
};

/* A later value of a key replaces an earlier one. */
void model_set_fact(struct model *model, unsigned type, const char *key,
		    const char *value);
/* Initializes edges without events, and their sink. */
void model_edges(struct model *model);

/* Whether blocks of this node count: index_wanted.chosen. */
static inline bool model_chooses(const struct model *model, uint64_t node)
{
	return model->chosen == NULL ||
	       (node < model->chosen_nodes &&
		model->chosen[node / 64] >> node % 64 & 1);
}

#endif
