/*
 * rows_resume.h: go on where an earlier reading of a trace has taken a state
 * (rows_state.h): the trace is read from its begin, as a model of it has to know
 * everything, but events that were handed out then are passed over unread.
 *
 * One thread: the reader's.
 */
#ifndef GNOMON_ROWS_RESUME_H
#define GNOMON_ROWS_RESUME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/table.h"
#include "cli/model/rows/rows_facts.h"
#include "cli/model/rows/rows_pairing.h"
#include "cli/model/rows/rows_state.h"
#include "cli/trace/read/reader.h"

struct rows_resume {
	struct store *store;		/* borrowed */
	uint64_t *words;
	struct rows_list {
		const uint64_t *entries;
		size_t count;
	} lists[STATE_LISTS];
	struct rows_facts facts;	/* of the store */
	uint64_t offset;		/* chunks before it were read */
	uint64_t ended;			/* rows that are kept */
	struct table points;		/* ring and generation -> point */
	bool done;			/* the state was taken up */
};

/* What an older store has. False: no state, or none that we understand;
 * rows_resume_free in any case. */
bool rows_resume_open(struct rows_resume *resume, struct store *store);
void rows_resume_free(struct rows_resume *resume);
/* A chunk from before `offset`: what becomes of it. */
enum reader_chunk rows_resume_chunk(const struct rows_resume *resume,
				    struct rows_pairing *pairing,
				    struct reader *reader,
				    const struct chunk *chunk);
/* The first chunk behind it comes, or there is none: the pairing, which is new,
 * is what it was. False: they do not fit each other; then it is worth nothing. */
bool rows_resume_take_up(struct rows_resume *resume,
			 struct rows_pairing *pairing);

#endif
