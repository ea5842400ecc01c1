/*
 * index_gap.c: chains with blocks missing in the trace, which EXTRA events
 * describe (core/chain.h). The same as in the model (model_apply.c, account.c),
 * but a chain has a number here, and no measures.
 *
 * An EXTRA is about the next event of its lane, which may come in a later call:
 * then the EXTRA waits in `chains`.
 */
#include "cli/model/core/contexts.h"
#include "cli/model/maps/maps.h"
#include "cli/model/index/index_pairing.h"

static bool is_suspended(const struct chains *chains, uint64_t number)
{
	uint32_t chain = table_get(&chains->suspended, number);

	return chain != TABLE_NONE && chain != 0;
}

/* The next event's block continues the chain. */
static uint32_t resume(struct index_pairing *pairing,
		       const struct trace_event *gap,
		       const struct trace_event *event)
{
	const struct chain_gap past = chain_gap_of(gap);
	bool known = is_suspended(&pairing->chains, past.number);
	uint32_t chain;

	if (past.number == 0)
		return 0;
	chain = chains_resume(&pairing->chains, &past, event->stamp,
			      event->address, CONTEXT_NO_COST);
	if (!known)
		index_pairing_number(pairing, chain);
	return chain;
}

static void leave_off(struct index_pairing *pairing,
		      const struct chain_gap *gap)
{
	uint32_t chain = chains_leave_off(&pairing->chains, gap);

	if (chain != 0)
		chains_end(&pairing->chains, chain, 0, false);
}

/* The event that an EXTRA was about. */
static void take_chained(struct index_pairing *pairing,
			 const struct trace_event *gap,
			 const struct trace_event *event)
{
	const struct chain_gap again = { .number = chain_gap_of(gap).number };

	edges_advance(&pairing->edges, event->stamp);
	if (event->stamp >= pairing->alarm &&
	    !index_pairing_alarm(pairing, event))
		return;
	if (pairing->maps != NULL)
		maps_event(pairing->maps, event);
	if (gap->what == GT_EXTRA_CHAIN_RESUMES && event->kind == GT_ALLOC &&
	    event->address != 0) {
		edges_resume(&pairing->edges, pairing->lane, event,
			     resume(pairing, gap, event));
		return;
	}
	if (gap->what == GT_EXTRA_CHAIN_LEAVES &&
	    event->kind == GT_REALLOC_FREED) {
		/* a repeated record */
		leave_off(pairing, &again);
		pairing->leaving = again.number;
	}
	edges_take(&pairing->edges, pairing->lane, event);
	pairing->leaving = 0;
}

size_t index_gap_take(struct index_pairing *pairing,
		      const struct trace_event *events, size_t count)
{
	const struct chain_gap past = chain_gap_of(events);

	if (events->what == GT_EXTRA_CHAIN_ENDS)
		leave_off(pairing, &past);
	else if (count == 1)
		chains_note(&pairing->chains, pairing->lane, events);
	if (events->what == GT_EXTRA_CHAIN_ENDS || count == 1 ||
	    events[1].kind == GT_EXTRA)
		return 1;
	take_chained(pairing, events, &events[1]);
	return 2;
}

size_t index_gap_noted(struct index_pairing *pairing,
		       const struct trace_event *events)
{
	struct chain_note note;

	if (!chains_take_note(&pairing->chains, pairing->lane, &note) ||
	    events->kind == GT_EXTRA)
		return 0;
	take_chained(pairing, &note.event, events);
	return 1;
}
