/*
 * part.c: see part.h. The blocks come in any order, and are put into that of
 * their births, so that what depends on it (first and last allocations,
 * chains of events) is right.
 *
 * Called by the reader's thread.
 */
#include "cli/model/part.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/model/account.h"
#include "cli/model/model_state.h"
#include "cli/model/view.h"
#include "unwind/claim.h"

/* So many allocations of its thread may lie between a block of these and the
 * part's begin: none of them is temporary. */
#define BETWEEN (UINT64_C(1) << 40)

void part_add(struct model *model, const struct trace_live *block)
{
	struct part *part = &model->part;
	struct trace_live *to;
	bool nested;

	/* Behind events it makes no sense. */
	if (model->begun || block->address == 0) {
		faults_note(&model->report.faults, FAULT_MALFORMED, 1);
		return;
	}
	GROW(part->blocks, part->count, part->capacity);
	to = &part->blocks[part->count++];
	*to = *block;
	to->ring = block->ring == UINT32_MAX ? 0 :
		threads_of_ring(&model->threads, block->ring, &nested);
	CLAIM_FULL(to->ring < model->threads.count);
}

static int compare(const void *left, const void *right)
{
	const struct trace_live *a = left, *b = right;

	if (a->stamp != b->stamp)
		return a->stamp < b->stamp ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

static void bear(struct model *model, const struct trace_live *live)
{
	struct thread *owner = &model->threads.list[live->ring];
	struct block *block;
	int is_new;

	CLAIM_FULL(live->ring < model->threads.count);
	block = blocks_add(&model->edges.blocks, live->address, &is_new);
	if (!is_new)
		return;		/* a trace that says it twice */
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
	qsort(part->blocks, part->count, sizeof(*part->blocks), compare);
	for (size_t i = 0; i < part->count; i++) {
		view_advance(model, part->blocks[i].stamp);
		if (!model->controls.off)
			bear(model, &part->blocks[i]);
	}
	for (size_t i = 0; i < model->threads.count; i++)
		model->threads.list[i].allocations += BETWEEN;
	part_free(part);
}

void part_free(struct part *part)
{
	free(part->blocks);
	part->blocks = NULL;
	part->count = part->capacity = 0;
}
