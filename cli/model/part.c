/*
 * part.c: see part.h. The blocks come in any order, and are sorted by
 * allocation time, so that results that depend on the order (first and last
 * allocations, event exports) are right.
 *
 * Called by the reader's thread.
 */
#include "cli/model/part.h"

#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"
#include "cli/model/account.h"
#include "cli/model/model_state.h"
#include "cli/model/view.h"
#include "unwind/claim.h"

void part_put(struct part *part, const struct trace_live *block,
	      uint32_t thread)
{
	GROW(part->blocks, part->count, part->capacity);
	part->blocks[part->count] = *block;
	part->blocks[part->count++].ring = thread;
}

void part_add(struct model *model, const struct trace_live *block)
{
	uint32_t thread;
	bool nested;

	/* Not valid after events. */
	if (model->begun || block->address == 0) {
		faults_note(&model->report.faults, FAULT_MALFORMED, 1);
		return;
	}
	thread = block->ring == UINT32_MAX ? 0 :
		threads_of_ring(&model->threads, block->ring, &nested);
	CLAIM_FULL(thread < model->threads.count);
	part_put(&model->part, block, thread);
}

static int compare(const void *left, const void *right)
{
	const struct trace_live *a = left, *b = right;

	return sort_up(a->stamp, b->stamp) ?: sort_up(a->address, b->address);
}

void part_sort(struct part *part)
{
	SORT(part->blocks, part->count, compare);
}

static void bear(struct model *model, const struct trace_live *live)
{
	struct thread *owner = &model->threads.list[live->ring];
	struct block *block;
	int is_new;

	CLAIM_FULL(live->ring < model->threads.count);
	block = blocks_add(&model->edges.blocks, live->address, &is_new);
	if (!is_new)
		return;		/* a repeated record */
	*block = (struct block){
		.address = live->address,
		.size = live->size,
		.birth = live->stamp,
		.sequence = ++owner->allocations & BLOCK_SEQUENCE,
		.thread = live->ring,
	};
	if (model->tap != NULL && model->tap->thread != NULL)
		*model->tap->thread = live->ring;
	model->part.born++;
	account_birth(model, block, live->context, 0);
}

void part_begin(struct model *model)
{
	struct part *part = &model->part;

	if (part->count == 0)
		return;
	part_sort(part);
	for (size_t i = 0; i < part->count; i++) {
		view_advance(model, part->blocks[i].stamp);
		if (!model->controls.off)
			bear(model, &part->blocks[i]);
	}
	for (size_t i = 0; i < model->threads.count; i++)
		model->threads.list[i].allocations += PART_BETWEEN;
	part_free(part);
}

void part_free(struct part *part)
{
	free(part->blocks);
	part->blocks = NULL;
	part->count = part->capacity = 0;
}
