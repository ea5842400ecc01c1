/*
 * index_live.c: see index_live.h. Rows are in the order of their ends. For each
 * moment a scan skips all chunks whose rows ended before it, and those whose
 * rows began after it.
 *
 * One thread.
 */
#include "cli/model/index/index_live.h"

#include "cli/model/core/blocks.h"
#include "cli/model/index/index_select.h"
#include "cli/model/index/index_store.h"
#include "cli/store/store_cursor.h"
#include "unwind/base/assertion.h"

static void add_block(struct model *then, const struct block *block)
{
	struct block *to;
	int is_new;

	if (block->address == 0)
		return;
	to = blocks_add(&then->edges.blocks, block->address, &is_new);
	if (is_new)
		*to = *block;
}

/* Finds the blocks live just before this stamp. */
static int find_live(const struct model *model, uint64_t stamp,
		     struct model *then)
{
	const struct store_range allocs = { 0, stamp - 1 };
	const struct store_range ends = { stamp, STORE_NEVER };
	struct store_term terms[INDEX_TERMS + 2];
	const struct store_batch *batch;
	struct store_cursor *cursor;
	struct index_select select;
	struct store_scan scan;
	int got;

	index_select_all(&select, model, NULL);
	scan = select.scan;
	for (size_t i = 0; i < scan.term_count; i++)
		terms[i] = scan.terms[i];
	terms[scan.term_count++] = (struct store_term){
		.column = STORE_BEGIN, .ranges = &allocs, .range_count = 1,
	};
	terms[scan.term_count++] = (struct store_term){
		.column = STORE_END, .ranges = &ends, .range_count = 1,
	};
	scan.terms = terms;
	cursor = store_cursor_new(model->store, &scan, INDEX_BLOCK_COLUMNS);
	while ((got = store_cursor_next(cursor, &batch)) == 1)
		for (size_t i = 0; i < batch->count; i++) {
			struct block block = index_block(model, batch, i);

			add_block(then, &block);
		}
	store_cursor_free(cursor);
	return got;
}

int index_live(const struct model *model, const struct model_looks *looks)
{
	struct model *then = model_new(NULL, NULL);
	int error = 0;

	ASSERT(model->store != NULL);
	for (size_t i = 0; i < looks->count && error == 0; i++) {
		blocks_clear(&then->edges.blocks);
		/* before the first stamp there is nothing */
		if (looks->stamps[i] > 0)
			error = find_live(model, looks->stamps[i], then);
		if (error == 0)
			looks->look(looks->owner, then, i);
	}
	model_free(then);
	index_store_drop(model->store, error, model->options.notes);
	return error;
}
