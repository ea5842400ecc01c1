/*
 * index_select.h: turns the filter of a model, and its view (controls.h), into
 * a scan of the index.
 */
#ifndef GNOMON_INDEX_SELECT_H
#define GNOMON_INDEX_SELECT_H

#include "cli/model/model_state.h"
#include "cli/model/selection.h"
#include "cli/store/store_group.h"

#define INDEX_TERMS 5

/* Valid as long as the model keeps its selection. Must not move in memory. */
struct index_select {
	const struct model *model;
	struct selection_bounds bounds;
	struct store_range ranges[INDEX_TERMS];
	struct store_term terms[INDEX_TERMS];
	struct store_scan scan;		/* the result */
};

/* The words of `model` are resolved (passes.h), and totals.last_stamp is set.
 * `cancel`: see struct store_scan. */
void index_select(struct index_select *select, const struct model *model,
		  const atomic_bool *cancel);
/* Without the filter: all blocks of the view that count if there is no filter;
 * or all blocks in heaps of the program's own. */
void index_select_all(struct index_select *select, const struct model *model,
		      const atomic_bool *cancel);
void index_select_heaps(struct index_select *select, const struct model *model,
			const atomic_bool *cancel);

/* Blocks from before the view, of any heap, that were freed in it. */
void index_select_foreign(struct index_select *select,
			  const struct model *model, const atomic_bool *cancel);

/* The columns that index_block and index_end read. */
#define INDEX_BLOCK_COLUMNS						\
	(STORE_BIT(STORE_ADDRESS) | STORE_BIT(STORE_SIZE) |		\
	 STORE_BIT(STORE_BEGIN) | STORE_BIT(STORE_LAYOUT) |		\
	 STORE_BIT(STORE_THREAD) | STORE_BIT(STORE_FLAGS))
#define INDEX_END_COLUMNS						\
	(STORE_BIT(STORE_END) | STORE_BIT(STORE_HOW) |			\
	 STORE_BIT(STORE_BETWEEN) | STORE_BIT(STORE_END_NODE))

/* A row as a block, without cost and number; columns that the batch lacks are
 * 0. */
struct block index_block(const struct model *model,
			 const struct store_batch *batch, size_t row);
/* How the row's block ended; the batch has all of INDEX_END_COLUMNS. */
struct selection_end index_end(const struct model *model,
			       const struct store_batch *batch, size_t row);

/* The sample weight of blocks of the model. */
struct store_weight index_weight(const struct model *model);

/* The thread of a row, limited to threads of the model. */
static inline uint32_t index_thread(const struct model *model, uint64_t thread)
{
	return thread < model->threads.count ? (uint32_t)thread : 0;
}

/* Whether a block ended by free or realloc. */
static inline bool index_is_freed(uint64_t how)
{
	return how == STORE_FREED || how == STORE_MOVED;
}

#endif
