/*
 * initial_live.c: see initial_live.h. The blocks come in any order, and are
 * sorted by allocation time, so that results that depend on the order (first
 * and last allocations, event exports) are right.
 *
 * Called by the reader's thread.
 */
#include "cli/model/initial_live.h"

#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"
#include "cli/model/account.h"
#include "cli/model/model_state.h"
#include "cli/model/view.h"
#include "unwind/base/assertion.h"

void initial_live_put(struct initial_live *part, const struct trace_live *block,
		      uint32_t thread)
{
	GROW(part->blocks, part->count, part->capacity);
	part->blocks[part->count] = *block;
	part->blocks[part->count++].ring = thread;
}

void initial_live_add(struct model *model, const struct trace_live *block)
{
	uint32_t thread;
	bool nested;

	/* Not valid after events. */
	if (model->begun || block->address == 0) {
		format_errors_note(&model->report.errors,
				   FORMAT_ERROR_MALFORMED, 1);
		return;
	}
	thread = block->ring == UINT32_MAX ? 0 :
		threads_of_ring(&model->threads, block->ring, &nested);
	DEBUG_ASSERT(thread < model->threads.count);
	initial_live_put(&model->part, block, thread);
}

static int compare(const void *left, const void *right)
{
	const struct trace_live *a = left, *b = right;

	return sort_up(a->stamp, b->stamp) ?: sort_up(a->address, b->address);
}

void initial_live_sort(struct initial_live *part)
{
	SORT(part->blocks, part->count, compare);
}

static void alloc_initial(struct model *model, const struct trace_live *live)
{
	struct thread *owner = &model->threads.list[live->ring];
	struct block *block;
	int is_new;

	DEBUG_ASSERT(live->ring < model->threads.count);
	block = blocks_add(&model->edges.blocks, live->address, &is_new);
	if (!is_new)
		return;		/* a repeated record */
	*block = (struct block){
		.address = live->address,
		.size = live->size,
		.alloc = live->stamp,
		.sequence = ++owner->allocations & BLOCK_SEQUENCE,
		.thread = live->ring,
	};
	if (model->observer != NULL && model->observer->thread != NULL)
		*model->observer->thread = live->ring;
	model->part.added++;
	account_alloc(model, block, live->context, 0);
}

void initial_live_begin(struct model *model)
{
	struct initial_live *part = &model->part;

	if (part->count == 0)
		return;
	initial_live_sort(part);
	for (size_t i = 0; i < part->count; i++) {
		view_advance(model, part->blocks[i].stamp);
		if (!model->controls.off)
			alloc_initial(model, &part->blocks[i]);
	}
	for (size_t i = 0; i < model->threads.count; i++)
		model->threads.list[i].allocations += INITIAL_LIVE_BETWEEN;
	initial_live_free(part);
}

void initial_live_free(struct initial_live *part)
{
	free(part->blocks);
	part->blocks = NULL;
	part->count = part->capacity = 0;
}
