/*
 * index_resume.c: see index_resume.h. A state is hostile input, as is
 * everything from a file: numbers are compared with the model before they are
 * used.
 */
#include "cli/model/index/index_resume.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/search.h"
#include "cli/model/core/contexts.h"
#include "cli/model/core/threads.h"
#include "cli/model/model.h"
#include "cli/store/store_cursor.h"
#include "unwind/base/assertion.h"

static const size_t widths[STATE_LISTS] = INDEX_STATE_WIDTHS;

/* ---- opening ---- */

static uint64_t ring_key(uint64_t ring, uint64_t generation)
{
	return ring << 32 | (uint32_t)generation;
}

/* Finds the lists in the words. */
static bool find_lists(struct index_resume *resume, size_t count)
{
	size_t at = STATE_HEAD;

	for (unsigned i = 0; i < STATE_LISTS; i++) {
		if (at >= count ||
		    resume->words[at] > (count - at - 1) / widths[i])
			return false;
		resume->lists[i] = (struct index_list){
			&resume->words[at + 1], (size_t)resume->words[at] };
		at += 1 + resume->lists[i].count * widths[i];
	}
	return at == count;
}

bool index_resume_open(struct index_resume *resume, struct store *store)
{
	const struct index_list *points = &resume->lists[STATE_POINTS];
	size_t size = 0;

	memset(resume, 0, sizeof(*resume));
	resume->store = store;
	resume->words = store_blob(store, INDEX_STATE_BLOB, &size);
	if (resume->words == NULL || size % sizeof(*resume->words) != 0 ||
	    size < STATE_HEAD * sizeof(*resume->words) ||
	    resume->words[STATE_VERSION] != INDEX_STATE_VERSION ||
	    !find_lists(resume, size / sizeof(*resume->words)) ||
	    !index_facts_read(store, &resume->facts))
		return false;
	resume->offset = resume->words[STATE_OFFSET];
	resume->ended = resume->words[STATE_ENDED];
	for (size_t i = 0; i < points->count; i++)
		table_set(&resume->points,
			  ring_key(points->entries[4 * i],
				   points->entries[4 * i + 1]), (uint32_t)i);
	return resume->offset <= store_key(store)->prefix_bytes &&
	       resume->ended <= store_rows(store) - store_live_rows(store);
}

void index_resume_free(struct index_resume *resume)
{
	free(resume->words);
	index_facts_free(&resume->facts);
	table_free(&resume->points);
}

/* ---- up to the state ---- */

enum reader_chunk index_resume_chunk(const struct index_resume *resume,
				     struct index_pairing *pairing,
				     struct reader *reader,
				     const struct chunk *chunk)
{
	const uint64_t *point;
	uint32_t i;
	bool nested;

	if (chunk->type != GT_EVENTS)
		return READER_DECODE;
	/* the model numbers threads in the order of their chunks */
	model_lane_of_ring(pairing->model, chunk->ring, &nested);
	i = table_get(&resume->points,
		      ring_key(chunk->ring, chunk->generation));
	if (i == TABLE_NONE)
		return READER_TAKEN;
	point = &resume->lists[STATE_POINTS].entries[4 * (size_t)i];
	if (chunk->first < point[2])
		return READER_TAKEN;
	if (chunk->first == point[2])
		reader_pass_over(reader, point[3]);
	return READER_DECODE;
}

/* ---- the state ---- */

static bool is_thread(const struct index_pairing *pairing, uint64_t thread)
{
	return thread < model_threads(pairing->model)->count;
}

/* A chain with this number, whose last block has this position. False:
 * impossible; *chain is 0 if the number is 0. */
static bool make_chain(struct index_pairing *pairing, uint64_t number,
		       uint64_t place, uint32_t *chain)
{
	const struct chain_gap gap = { .length = (uint32_t)place };

	*chain = 0;
	if (number == 0)
		return true;
	if (number > pairing->chain_count || place == 0 || place > UINT32_MAX)
		return false;
	*chain = chains_resume(&pairing->chains, &gap, 0, 0, CONTEXT_NO_COST);
	GROW_TO(pairing->chain_numbers, pairing->chain_capacity, *chain);
	pairing->chain_numbers[*chain] = (uint32_t)number;
	return true;
}

static bool take_head(const struct index_resume *resume,
		      struct index_pairing *pairing)
{
	const uint64_t *head = resume->words;

	if (pairing->begun || head[STATE_CONTROLS] > pairing->controls->count ||
	    head[STATE_CHAINS] > UINT32_MAX)
		return false;
	index_pairing_head(pairing);
	pairing->begun = true;
	pairing->ended = head[STATE_ENDED];
	pairing->edge_count = head[STATE_EDGES];
	pairing->chain_count = (uint32_t)head[STATE_CHAINS];
	pairing->last_stamp = head[STATE_STAMP];
	pairing->events = head[STATE_EVENTS];
	pairing->undefined = head[STATE_UNDEFINED];
	pairing->next_control = (size_t)head[STATE_CONTROLS];
	pairing->off = head[STATE_FLAGS] & STATE_OFF;
	pairing->sampled = head[STATE_FLAGS] & STATE_SAMPLED;
	pairing->sample_mean = model_sample_mean(pairing->model);
	memcpy(&pairing->peak, head + STATE_PEAK, sizeof(pairing->peak));
	pairing->edges.gap |= (head[STATE_FLAGS] & STATE_GAP) != 0;
	return true;
}

static bool take_threads(const struct index_list *list,
			 struct index_pairing *pairing)
{
	for (size_t i = 0; i < list->count; i++) {
		if (!is_thread(pairing, i))
			return false;
		index_pairing_reach(pairing, (uint32_t)i << 1);
		pairing->allocations[i] = list->entries[2 * i];
		pairing->thread_events[i] = list->entries[2 * i + 1];
	}
	return true;
}

static bool take_stretches(const struct index_list *list,
			   struct index_pairing *pairing)
{
	if (list->count > pairing->next_control + 1)
		return false;
	for (size_t i = 0; i < list->count; i++) {
		GROW_TO(pairing->stretches, pairing->stretch_capacity, i);
		pairing->stretches[i] = (struct index_stretch){
			list->entries[3 * i], list->entries[3 * i + 1],
			list->entries[3 * i + 2],
		};
	}
	return true;
}

static bool take_waiting(const struct index_list *list,
			 struct index_pairing *pairing)
{
	for (size_t i = 0; i < list->count; i++) {
		const uint64_t *words = &list->entries[10 * i];
		struct pairing_entry entry = {
			.event = {
				.stamp = words[0], .address = words[1],
				.size = words[2],
				.context = (uint32_t)words[3],
				.kind = (uint8_t)words[4],
				.layout = (uint16_t)words[5],
			},
			.lane = (uint32_t)words[6],
			.known = words[9],
		};

		if (!is_thread(pairing, words[6] >> 1) ||
		    !make_chain(pairing, words[7], words[8], &entry.chain))
			return false;
		index_pairing_reach(pairing, entry.lane);
		if (!edges_put_waiting(&pairing->edges, &entry))
			return false;
	}
	return true;
}

static bool take_pending(const struct index_list *list,
			 struct index_pairing *pairing)
{
	for (size_t i = 0; i < list->count; i++) {
		const uint64_t *words = &list->entries[6 * i];
		struct edges_pending pending = {
			.address = words[1], .by = (uint32_t)words[2],
			.found = words[5] & PENDING_FOUND,
			.released = words[5] & PENDING_RELEASED,
			.unknown = words[5] & PENDING_UNKNOWN,
		};

		if (!is_thread(pairing, words[0] >> 1) ||
		    !make_chain(pairing, words[3], words[4], &pending.chain))
			return false;
		index_pairing_reach(pairing, (uint32_t)words[0]);
		if (!edges_put_pending(&pairing->edges, (uint32_t)words[0],
				       &pending))
			return false;
	}
	return true;
}

static bool take_suspended(const struct index_list *list,
			   struct index_pairing *pairing)
{
	for (size_t i = 0; i < list->count; i++) {
		const uint64_t *words = &list->entries[3 * i];
		uint32_t chain;

		if (words[1] == 0 ||
		    table_get(&pairing->chains.suspended, words[0]) !=
			    TABLE_NONE ||
		    !make_chain(pairing, words[1], words[2], &chain))
			return false;
		chains_suspend(&pairing->chains, words[0], chain);
	}
	return true;
}

static bool take_notes(const struct index_list *list,
		       struct index_pairing *pairing)
{
	for (size_t i = 0; i < list->count; i++) {
		const uint64_t *words =
			&list->entries[widths[STATE_NOTES] * i];
		const struct trace_event event = {
			.stamp = words[1], .size = words[2],
			.context = (uint32_t)words[3], .kind = GT_EXTRA,
			.what = (uint8_t)words[4], .args = &words[5],
		};

		if (!is_thread(pairing, words[0] >> 1))
			return false;
		index_pairing_reach(pairing, (uint32_t)words[0]);
		chains_note(&pairing->chains, (uint32_t)words[0], &event);
	}
	return true;
}

/* ---- live blocks ---- */

static const enum store_column wanted[] = {
	STORE_BEGIN, STORE_ALLOC_EDGE, STORE_HOW, STORE_ADDRESS, STORE_SIZE,
	STORE_LAYOUT, STORE_THREAD, STORE_NODE, STORE_CHAIN, STORE_PLACE,
	STORE_BETWEEN, STORE_FLAGS,
};

static bool is_at_or_above(const void *list, size_t i, uint64_t edge)
{
	return ((const uint64_t *)list)[i] >= edge;
}

static bool was_odd(const struct index_list *odd, uint64_t edge)
{
	size_t i = search_first(odd->entries, odd->count, is_at_or_above, edge);

	return i < odd->count && odd->entries[i] == edge;
}

/* Restores the chain of a block that was in one at the state. The first block
 * of a chain is in none until it is replaced. */
static bool join_chain(struct index_pairing *pairing, uint64_t number,
		       uint64_t place, uint32_t block)
{
	uint32_t chain;

	if (number == 0 || number > pairing->chain_count || place < 2)
		return true;
	if (!make_chain(pairing, number, place - 1, &chain))
		return false;
	chains_enter(&pairing->chains, chain, block,
		     &pairing->edges.blocks.list[block]);
	pairing->allocs[block].chain = chain;
	return true;
}

/* The sequence of a block: from the state if it has ended since; from its row
 * if it was live at the end of the index. */
static bool find_sequence(const struct index_resume *resume, bool live,
			  uint64_t thread, uint64_t between, size_t *ended,
			  uint64_t *sequence)
{
	const struct index_list *list = &resume->lists[STATE_SEQUENCES];

	if (live && thread >= resume->facts.thread_count)
		return false;
	if (!live && *ended >= list->count)
		return false;
	*sequence = live ? resume->facts.thread_allocations[thread] - between :
		list->entries[(*ended)++];
	return true;
}

static bool take_block(const struct index_resume *resume,
		       struct index_pairing *pairing,
		       const struct store_batch *batch, size_t i,
		       size_t *ended)
{
	const uint64_t *const *column = batch->column;
	uint64_t thread = column[STORE_THREAD][i], sequence;
	uint64_t edge = column[STORE_ALLOC_EDGE][i];
	struct block *block;
	uint32_t number;
	int is_new;

	if (!is_thread(pairing, thread) || column[STORE_ADDRESS][i] == 0 ||
	    column[STORE_NODE][i] >=
		    model_contexts(pairing->model)->node_count ||
	    !find_sequence(resume, column[STORE_HOW][i] == STORE_LIVE, thread,
			   column[STORE_BETWEEN][i], ended, &sequence))
		return false;
	block = blocks_add(&pairing->edges.blocks, column[STORE_ADDRESS][i],
			   &is_new);
	if (!is_new)
		return false;
	index_pairing_reach(pairing, (uint32_t)thread << 1);
	*block = (struct block){
		.address = column[STORE_ADDRESS][i],
		.size = column[STORE_SIZE][i],
		.alloc = column[STORE_BEGIN][i],
		.sequence = sequence & BLOCK_SEQUENCE,
		.layout = column[STORE_LAYOUT][i] & BLOCK_LAYOUT,
		.odd = was_odd(&resume->lists[STATE_ODD], edge),
		.pooled = (column[STORE_FLAGS][i] & STORE_POOLED) != 0,
		.cost = CONTEXT_NO_COST,
		.thread = (uint32_t)thread,
	};
	number = blocks_number(&pairing->edges.blocks, block);
	*index_pairing_alloc(pairing, number) = (struct index_alloc){
		.edge = edge, .node = (uint32_t)column[STORE_NODE][i],
	};
	return join_chain(pairing, column[STORE_CHAIN][i],
			  column[STORE_PLACE][i], number);
}

/* Whether edges and rows of the state agree: the rows that are kept are those
 * of blocks that had ended. */
static bool keeps_ended(const struct index_resume *resume)
{
	const struct store_range behind = { resume->words[STATE_EDGES] + 1,
					    UINT64_MAX };
	const struct store_term term = {
		.column = STORE_END_EDGE, .ranges = &behind, .range_count = 1,
	};
	const struct store_scan scan = { .terms = &term, .term_count = 1 };
	uint64_t rows, bytes;

	return behind.min > 0 &&
	       store_scan_count(resume->store, &scan, &rows, &bytes) == 0 &&
	       rows == store_rows(resume->store) - resume->ended;
}

static bool take_blocks(const struct index_resume *resume,
			struct index_pairing *pairing)
{
	const uint64_t edges = resume->words[STATE_EDGES];
	const struct store_range before = { 0, edges };
	const struct store_range behind = { edges + 1, UINT64_MAX };
	const struct store_term terms[] = {
		{ .column = STORE_ALLOC_EDGE, .ranges = &before,
		  .range_count = 1 },
		{ .column = STORE_END_EDGE, .ranges = &behind,
		  .range_count = 1 },
	};
	const struct store_scan scan = { .terms = terms, .term_count = 2 };
	const struct store_batch *batch;
	struct store_cursor *cursor;
	uint32_t columns = 0;
	size_t ended = 0;
	bool good = true;
	int more = 1;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		columns |= STORE_BIT(wanted[i]);
	cursor = store_cursor_new(resume->store, &scan, columns);
	while (good && (more = store_cursor_next(cursor, &batch)) == 1)
		for (size_t i = 0; i < batch->count && good; i++)
			good = take_block(resume, pairing, batch, i, &ended);
	store_cursor_free(cursor);
	return good && more == 0 &&
	       ended == resume->lists[STATE_SEQUENCES].count;
}

bool index_resume_take_up(struct index_resume *resume,
			  struct index_pairing *pairing)
{
	const struct index_list *lists = resume->lists;

	ASSERT(!resume->done);
	resume->done = true;
	return keeps_ended(resume) && take_head(resume, pairing) &&
	       take_threads(&lists[STATE_THREADS], pairing) &&
	       take_stretches(&lists[STATE_STRETCHES], pairing) &&
	       take_blocks(resume, pairing) &&
	       take_waiting(&lists[STATE_WAITING], pairing) &&
	       take_pending(&lists[STATE_PENDING], pairing) &&
	       take_suspended(&lists[STATE_SUSPENDED], pairing) &&
	       take_notes(&lists[STATE_NOTES], pairing);
}
