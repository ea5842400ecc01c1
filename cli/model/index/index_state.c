/* index_state.c: see index_state.h: writes the state. index_resume.c reads
 * it. */
#include "cli/model/index/index_state.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"
#include "cli/model/core/threads.h"
#include "cli/model/model.h"
#include "unwind/base/assertion.h"

static void put(struct index_state *state, uint64_t word)
{
	GROW(state->words, state->count, state->capacity);
	state->words[state->count++] = word;
}

/* Reserves a word for a count that is known later; returns its index. */
static size_t put_count(struct index_state *state)
{
	put(state, 0);
	return state->count - 1;
}

static void put_chain(struct index_state *state,
		      const struct index_pairing *pairing, uint32_t chain)
{
	put(state, chain != 0 ? pairing->chain_numbers[chain] : 0);
	put(state, chain != 0 ? pairing->chains.list[chain].length : 0);
}

static void put_peak(struct index_state *state, const struct index_peak *peak)
{
	uint64_t words[INDEX_STATE_PEAK];

	memcpy(words, peak, sizeof(words));
	for (size_t i = 0; i < INDEX_STATE_PEAK; i++)
		put(state, words[i]);
}

static bool put_points(struct index_state *state, const struct reader *reader)
{
	struct merge_point *points;
	size_t count;
	bool known = reader_points(reader, &points, &count);

	put(state, count);
	for (size_t i = 0; i < count; i++) {
		put(state, points[i].ring);
		put(state, points[i].generation);
		put(state, points[i].first);
		put(state, points[i].given);
	}
	free(points);
	return known;
}

static void put_threads(struct index_state *state,
			const struct index_pairing *pairing)
{
	size_t count = model_threads(pairing->model)->count;

	if (count > pairing->thread_capacity)
		count = pairing->thread_capacity;
	put(state, count);
	for (size_t i = 0; i < count; i++) {
		put(state, pairing->allocations[i]);
		put(state, pairing->thread_events[i]);
	}
}

static void put_stretches(struct index_state *state,
			  const struct index_pairing *pairing)
{
	size_t count = pairing->next_control + 1;

	if (count > pairing->stretch_capacity)
		count = pairing->stretch_capacity;
	put(state, count);
	for (size_t i = 0; i < count; i++) {
		put(state, pairing->stretches[i].unpaired);
		put(state, pairing->stretches[i].repaired);
		put(state, pairing->stretches[i].foreign);
	}
}

static void put_waiting(struct index_state *state,
			const struct index_pairing *pairing)
{
	const struct pairing *waiting = &pairing->edges.waiting;

	put(state, waiting->count);
	for (unsigned i = waiting->oldest; i != PAIRING_NONE;
	     i = waiting->slots[i].newer) {
		const struct pairing_entry *entry = &waiting->slots[i].entry;

		put(state, entry->event.stamp);
		put(state, entry->event.address);
		put(state, entry->event.size);
		put(state, entry->event.context);
		put(state, entry->event.kind);
		put(state, entry->event.layout);
		put(state, entry->lane);
		put_chain(state, pairing, entry->chain);
		put(state, entry->known);
	}
}

static void put_pending(struct index_state *state,
			struct index_pairing *pairing)
{
	size_t count = put_count(state);

	for (uint32_t i = 0; i < pairing->edges.lane_count; i++) {
		const struct edges_pending *pending =
			edges_pending_of(&pairing->edges, i);

		if (!pending->active)
			continue;
		put(state, i);
		put(state, pending->address);
		put(state, pending->by);
		put_chain(state, pairing, pending->chain);
		put(state, (pending->found ? PENDING_FOUND : 0) |
			   (pending->released ? PENDING_RELEASED : 0) |
			   (pending->unknown ? PENDING_UNKNOWN : 0));
		state->words[count]++;
	}
}

static void put_suspended(struct index_state *state,
			  const struct index_pairing *pairing)
{
	const struct table *table = &pairing->chains.suspended;
	size_t count = put_count(state);

	for (uint64_t i = 0; table->slots != NULL && i <= table->mask; i++) {
		const struct table_slot *slot = &table->slots[i];

		if (slot->value == TABLE_NONE || slot->value == 0)
			continue;
		put(state, slot->key);
		put_chain(state, pairing, slot->value);
		state->words[count]++;
	}
}

static void put_notes(struct index_state *state,
		      const struct index_pairing *pairing)
{
	const struct chains *chains = &pairing->chains;

	put(state, chains->note_count);
	for (size_t i = 0; i < chains->note_count; i++) {
		const struct chain_note *note = &chains->notes[i];

		put(state, note->lane);
		put(state, note->event.stamp);
		put(state, note->event.size);
		put(state, note->event.context);
		put(state, note->event.what);
		for (unsigned k = 0; k < GT_EXTRA_ARGS; k++)
			put(state, note->args[k]);
	}
}

static int by_value(const void *a, const void *b)
{
	return sort_up(*(const uint64_t *)a, *(const uint64_t *)b);
}

static void put_odd(struct index_state *state,
		    const struct index_pairing *pairing)
{
	size_t count = put_count(state);
	const struct block *block;
	uint32_t number = 0;

	while ((block = blocks_next(&pairing->edges.blocks, &number)) != NULL)
		if (block->odd)
			put(state, pairing->allocs[number].edge);
	state->words[count] = state->count - count - 1;
	SORT(&state->words[count + 1], state->words[count], by_value);
}

bool index_state_take(struct index_state *state, struct index_pairing *pairing,
		      const struct reader *reader, uint64_t offset)
{
	state->count = pairing->sequence_count = 0;
	pairing->taken_edges = 0;
	DEBUG_ASSERT(pairing->leaving == 0);
	put(state, INDEX_STATE_VERSION);
	put(state, offset);
	put(state, pairing->ended);
	put(state, pairing->edge_count);
	put(state, pairing->chain_count);
	put(state, pairing->last_stamp);
	put(state, pairing->events);
	put(state, pairing->undefined);
	put(state, pairing->next_control);
	put(state, (pairing->off ? STATE_OFF : 0) |
		   (pairing->sampled ? STATE_SAMPLED : 0) |
		   (pairing->edges.gap ? STATE_GAP : 0));
	put_peak(state, &pairing->peak);
	DEBUG_ASSERT(state->count == STATE_HEAD);
	if (!put_points(state, reader) || !pairing->begun) {
		state->count = 0;
		return false;
	}
	put_threads(state, pairing);
	put_stretches(state, pairing);
	put_waiting(state, pairing);
	put_pending(state, pairing);
	put_suspended(state, pairing);
	put_notes(state, pairing);
	put_odd(state, pairing);
	pairing->taken_edges = pairing->edge_count;
	return true;
}

void index_state_write(struct index_state *state,
		       const struct index_pairing *pairing,
		       struct store_writer *writer)
{
	size_t count = state->count;

	put(state, pairing->sequence_count);
	for (size_t i = 0; i < pairing->sequence_count; i++)
		put(state, pairing->sequences[i]);
	store_writer_blob(writer, INDEX_STATE_BLOB, state->words,
			  state->count * sizeof(*state->words));
	state->count = count;
}

void index_state_free(struct index_state *state)
{
	free(state->words);
	memset(state, 0, sizeof(*state));
}
