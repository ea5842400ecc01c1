/*
 * fuzz_edges.c: events of some lanes, in any order and of any kind, through
 * edges.h. A list of live blocks checks the results: a block begins only where
 * there is none, and ends once; each realloc chain is continued or lost, once;
 * no block is left at the end.
 *
 * The input is a row of steps, five bytes each:
 *
 *	what (enum step, or a kind of event) and lane, address, size,
 *	advance of the stamp (signed), context
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model/core/edges.h"

#define LANES 4
#define PLACES 32		/* addresses */
#define STEP_BYTES 5
#define CHAINS_MAX 2048
#define WINDOW 16
#define START 4096		/* so that stamps can go back */

enum step {			/* in the upper bits of the first byte */
	STEP_EVENT,		/* four kinds: GT_ALLOC, GT_FREE, … */
	STEP_EVENTS_END = 4,
	STEP_FORGET = 4,
	STEP_FORGET_CHAINS,
	STEP_LANE_ENDS,
	STEP_SETTLE,
	STEPS
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
	struct edges edges;
	bool live[PLACES];	/* a block that has begun is there */
	uint64_t blocks;	/* how many that are */
	bool chain[CHAINS_MAX];	/* one that has been begun, and not ended */
	uint32_t chains;	/* numbers given so far */
} seen;

static void must(bool what)
{
	if (!what)
		abort();
}

static uint64_t address_of(unsigned place)
{
	return place == 0 ? 0 : 0x1000 + 16 * (uint64_t)place;
}

static unsigned place_of(uint64_t address)
{
	unsigned place = (unsigned)((address - 0x1000) / 16);

	must(place > 0 && place < PLACES && address_of(place) == address);
	return place;
}

static void end_chain(uint32_t chain)
{
	if (chain == 0)
		return;
	must(chain <= seen.chains && seen.chain[chain]);
	seen.chain[chain] = false;
}

static void alloc(void *owner, struct block *block, uint32_t lane,
		  uint32_t context, uint32_t chain)
{
	unsigned place = place_of(block->address);

	must(owner == &seen && lane < LANES && !seen.live[place]);
	seen.live[place] = true;
	seen.blocks++;
	end_chain(chain);
	block->cost = context;
	block->thread = lane;
}

static uint32_t end(void *owner, struct block *block, uint64_t stamp,
		    uint32_t by, enum edge_end how)
{
	unsigned place = place_of(block->address);

	(void)stamp;
	(void)by;
	must(owner == &seen && seen.live[place] && seen.blocks > 0);
	must(blocks_find(&seen.edges.blocks, block->address) == block);
	seen.live[place] = false;
	seen.blocks--;
	if (how != EDGE_MOVED || seen.chains + 1 == CHAINS_MAX)
		return 0;
	seen.chain[++seen.chains] = true;
	return seen.chains;
}

static void chain_lost(void *owner, uint32_t chain, uint64_t stamp)
{
	(void)stamp;
	must(owner == &seen);
	end_chain(chain);
}

static void odd(void *owner, enum edge_odd what, uint64_t stamp)
{
	(void)stamp;
	must(owner == &seen && what <= EDGE_REPAIRED);
}

static void refused(void *owner, uint32_t lane)
{
	(void)owner;
	(void)lane;
	abort();		/* there is room for all of PLACES */
}

static const struct edges_sink sink = { alloc, end, chain_lost, odd, refused };

static void forget_chains(void)
{
	memset(seen.chain, 0, sizeof(seen.chain));
}

static void take_step(const uint8_t *bytes, uint64_t *stamp)
{
	struct edges *edges = &seen.edges;
	unsigned step = (bytes[0] >> 2) % STEPS, lane = bytes[0] % LANES;
	const struct trace_event event = {
		.stamp = *stamp += (uint64_t)(int64_t)(int8_t)bytes[3],
		.address = address_of(bytes[1] % PLACES),
		.size = bytes[2],
		.context = bytes[4],
		.kind = (uint8_t)step,
	};

	if (*stamp < START)
		*stamp = START;
	switch (step) {
	case STEP_FORGET:
		edges_forget(edges);
		memset(seen.live, 0, sizeof(seen.live));
		seen.blocks = 0;
		forget_chains();
		break;
	case STEP_FORGET_CHAINS:
		edges_forget_chains(edges);
		forget_chains();
		break;
	case STEP_LANE_ENDS:
		edges_lane_ends(edges, lane, *stamp);
		break;
	case STEP_SETTLE:
		edges->settled = bytes[1] % 2 ? UINT64_MAX : *stamp;
		edges->gap = bytes[2] % 2;
		break;
	default:
		edges_advance(edges, event.stamp);
		edges_event(edges, &sink, lane, &event);
		break;
	}
}

/* Blocks that are known are those that have begun and not ended. */
static void compare(void)
{
	uint64_t count = 0;

	for (unsigned place = 1; place < PLACES; place++) {
		bool known = blocks_find(&seen.edges.blocks,
					 address_of(place)) != NULL;

		must(known == seen.live[place]);
		count += known;
	}
	must(count == seen.blocks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t stamp = START;

	memset(&seen, 0, sizeof(seen));
	must(edges_init(&seen.edges, &sink, &seen, 0));
	seen.edges.waiting.window = WINDOW;
	seen.edges.settled = UINT64_MAX;
	for (unsigned lane = 0; lane < LANES; lane++)
		must(edges_reach(&seen.edges, lane));
	for (; size >= STEP_BYTES; size -= STEP_BYTES, data += STEP_BYTES)
		take_step(data, &stamp);
	compare();
	edges_finish(&seen.edges, stamp);
	must(seen.edges.waiting.count == 0);
	compare();
	for (uint32_t chain = 1; chain <= seen.chains; chain++)
		must(!seen.chain[chain]);	/* none is held any more */
#ifdef GNOMON_DEBUG_ASSERTS
	must(edges_is_valid(&seen.edges));
#endif
	edges_free(&seen.edges);
	return 0;
}
