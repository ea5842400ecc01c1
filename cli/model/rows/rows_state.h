/*
 * rows_state.h: where a reading of a growing trace can be taken up again, and
 * what has to be known for that, so that the rows are those of a reading from
 * the trace's begin.
 *
 * Behind a SYNC chunk all events are handed out that
 * no later ones can precede: what pairing knows then is the *state*. What the
 * reading does from there on holds for this end of the file alone. So a later
 * reading takes up the state, passes over the events that were handed out, and
 * keeps the rows of blocks that had ended by then.
 *
 *	rows that ended before   kept, copied as they are
 *	live blocks, then        rows of the store that began before it and did
 *	                         not end before it; what rows do not have (whose
 *	                         events were odd by then, sequences) is here
 *	threads, chains, reallocs that are under way, events that wait, controls
 *	                         here
 *
 * It is a blob of the store, of 64-bit numbers.
 *
 * One thread: the reader's.
 */
#ifndef GNOMON_ROWS_STATE_H
#define GNOMON_ROWS_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/model/rows/rows_pairing.h"
#include "cli/store/store_write.h"
#include "cli/trace/read/reader.h"

/* The words: a head, then lists, each of them a count and so many entries of
 * these widths. A chain is told by its number, and the place of its last block
 * in it; 0 and 0: none. */
#define ROWS_STATE_BLOB "state"
#define ROWS_STATE_VERSION 2

#define ROWS_STATE_MOST (sizeof(struct rows_most) / sizeof(uint64_t))

enum rows_state_head {
	STATE_VERSION, STATE_OFFSET, STATE_ENDED, STATE_EDGES, STATE_CHAINS,
	STATE_STAMP, STATE_EVENTS, STATE_UNDEFINED, STATE_CONTROLS,
	STATE_FLAGS,		/* enum rows_state_flag */
	STATE_MOST,		/* struct rows_most, in its order */
	STATE_HEAD = STATE_MOST + ROWS_STATE_MOST
};

enum rows_state_flag { STATE_OFF = 1, STATE_SAMPLED = 2, STATE_GAP = 4 };

enum rows_state_list {
	STATE_POINTS,		/* ring, generation, first, given */
	STATE_THREADS,		/* allocations, events */
	STATE_STRETCHES,	/* unpaired, repaired, foreign */
	STATE_WAITING,		/* stamp, address, size, context, kind, layout,
				 * lane, chain, place, known */
	STATE_MOVING,		/* lane, address, by, chain, place, flags */
	STATE_SUSPENDED,	/* number, chain, place */
	STATE_NOTES,		/* lane, stamp, size, context, what, arguments */
	STATE_ODD,		/* birth edges of live blocks that were odd,
				 * rising */
	STATE_SEQUENCES,	/* of blocks that ended since, in that order */
	STATE_LISTS
};

#define ROWS_STATE_WIDTHS { 4, 2, 3, 10, 6, 3, 5 + GT_EXTRA_ARGS, 1, 1 }

enum rows_state_moving { MOVING_FOUND = 1, MOVING_RELEASED = 2,
			 MOVING_UNKNOWN = 4 };

struct rows_state {
	uint64_t *words;
	size_t count, capacity;
};

/* Between two steps of the reader, behind the SYNC chunk that ends at `offset`;
 * it takes the place of an earlier one. False: it cannot be taken up again from
 * here; `state` is empty. */
bool rows_state_take(struct rows_state *state, struct rows_pairing *pairing,
		     const struct reader *reader, uint64_t offset);
/* The rows of blocks that ended since, and then those of live ones, were told to
 * this writer. More may be read behind it. */
void rows_state_write(struct rows_state *state,
		      const struct rows_pairing *pairing,
		      struct store_writer *writer);
void rows_state_free(struct rows_state *state);

#endif
