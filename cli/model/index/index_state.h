/*
 * index_state.h: the state of pairing at a point where reading a growing trace
 * can be resumed, so that the rows are the same as from a reading of the whole
 * trace.
 *
 * After a SYNC chunk all events have been handed out that cannot be preceded by
 * later ones. The *state* is what pairing knows at that point. Rows that the
 * reading makes after this point are valid only for the current end of the
 * file. So a later reading restores the state, skips the events that were
 * handed out before, and keeps the rows of blocks that had ended by then.
 *
 *	rows that ended before   kept, copied as they are
 *	blocks live then         rows of the index that began before the point
 *	                         and did not end before it; fields that rows do
 *	                         not have (which blocks were odd, sequences)
 *	                         are in the state
 *	threads, chains, pending reallocs, waiting events, controls
 *	                         in the state
 *
 * It is a blob of the index, an array of 64-bit numbers.
 *
 * One thread: the reader's.
 */
#ifndef GNOMON_INDEX_STATE_H
#define GNOMON_INDEX_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/model/index/index_pairing.h"
#include "cli/store/store_write.h"
#include "cli/trace/read/reader.h"

/* The words: a head, then lists, each a count and that many entries of these
 * widths. A chain is stored as its number, and the position of its last block
 * in it; 0 and 0: none. */
#define INDEX_STATE_BLOB "state"
#define INDEX_STATE_VERSION 2

#define INDEX_STATE_PEAK (sizeof(struct index_peak) / sizeof(uint64_t))

enum index_state_head {
	STATE_VERSION, STATE_OFFSET, STATE_ENDED, STATE_EDGES, STATE_CHAINS,
	STATE_STAMP, STATE_EVENTS, STATE_UNDEFINED, STATE_CONTROLS,
	STATE_FLAGS,		/* enum index_state_flag */
	STATE_PEAK,		/* struct index_peak, field by field */
	STATE_HEAD = STATE_PEAK + INDEX_STATE_PEAK
};

enum index_state_flag { STATE_OFF = 1, STATE_SAMPLED = 2, STATE_GAP = 4 };

enum index_state_list {
	STATE_POINTS,		/* ring, generation, first, given */
	STATE_THREADS,		/* allocations, events */
	STATE_STRETCHES,	/* unpaired, repaired, foreign */
	STATE_WAITING,		/* stamp, address, size, context, kind, layout,
				 * lane, chain, place, known */
	STATE_PENDING,		/* lane, address, by, chain, place, flags */
	STATE_SUSPENDED,	/* number, chain, place */
	STATE_NOTES,		/* lane, stamp, size, context, what, arguments */
	STATE_ODD,	/* allocation edges of live blocks that were odd,
				 * ascending */
	STATE_SEQUENCES,	/* of blocks that ended since, in that order */
	STATE_LISTS
};

#define INDEX_STATE_WIDTHS { 4, 2, 3, 10, 6, 3, 5 + GT_EXTRA_ARGS, 1, 1 }

enum index_state_moving { PENDING_FOUND = 1, PENDING_RELEASED = 2,
			 PENDING_UNKNOWN = 4 };

struct index_state {
	uint64_t *words;
	size_t count, capacity;
};

/* Takes the state between two steps of the reader, after the SYNC chunk that
 * ends at `offset`; replaces an earlier state. False: reading cannot be resumed
 * here; `state` is empty. */
bool index_state_take(struct index_state *state, struct index_pairing *pairing,
		      const struct reader *reader, uint64_t offset);
/* Writes the state after the rows of blocks that ended since, and then those of
 * live blocks, were added to this writer. Reading may continue. */
void index_state_write(struct index_state *state,
		       const struct index_pairing *pairing,
		       struct store_writer *writer);
void index_state_free(struct index_state *state);

#endif
