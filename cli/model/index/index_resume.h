/*
 * index_resume.h: resumes at the state (index_state.h) of an earlier reading of
 * a trace. The trace is read from its begin, since the model needs all other
 * records, but events that were handed out before the state are skipped.
 *
 * One thread: the reader's.
 */
#ifndef GNOMON_INDEX_RESUME_H
#define GNOMON_INDEX_RESUME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/table.h"
#include "cli/model/index/index_facts.h"
#include "cli/model/index/index_pairing.h"
#include "cli/model/index/index_state.h"
#include "cli/trace/read/reader.h"

struct index_resume {
	struct store *store;		/* borrowed */
	uint64_t *words;
	struct index_list {
		const uint64_t *entries;
		size_t count;
	} lists[STATE_LISTS];
	struct index_facts facts;	/* of the store */
	uint64_t offset;		/* chunks before it were read */
	uint64_t ended;			/* rows that are kept */
	struct table points;		/* (ring, generation) -> point */
	bool done;			/* the state was restored */
};

/* Reads the state of an older index. False: no state, or one of another
 * version; call index_resume_free in any case. */
bool index_resume_open(struct index_resume *resume, struct store *store);
void index_resume_free(struct index_resume *resume);
/* What to do with a chunk before `offset`. */
enum reader_chunk index_resume_chunk(const struct index_resume *resume,
				     struct index_pairing *pairing,
				     struct reader *reader,
				     const struct chunk *chunk);
/* Call before the first chunk after `offset`, or at the end if there is none.
 * Restores the state into the pairing, which is new. False: they contradict
 * each other; then the pairing is unusable. */
bool index_resume_take_up(struct index_resume *resume,
			  struct index_pairing *pairing);

#endif
