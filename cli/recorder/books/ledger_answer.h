/*
 * ledger_answer.h: handles requests for live heap measures (the recorder's half
 * of ledger_ask.h).
 */
#ifndef GNOMON_LEDGER_ANSWER_H
#define GNOMON_LEDGER_ANSWER_H

#include "cli/recorder/books/ledger.h"
#include "preload/ring/ledger_ask.h"

/*
 * The block table must be up to date. `answer` has `bytes` bytes, all zero. 0;
 * -ENOMEM: blocks are missing for lack of memory; -EINVAL: unknown request, or
 * no room for the answer.
 */
long ledger_answer(const struct ledger *ledger, uint64_t what, uint64_t ring,
		   void *answer, size_t bytes);

#endif
