/*
 * ledger_answer.h: the recorder's half of ledger_ask.h.
 */
#ifndef GNOMON_LEDGER_ANSWER_H
#define GNOMON_LEDGER_ANSWER_H

#include "cli/recorder/books/ledger.h"
#include "preload/ring/ledger_ask.h"

/*
 * All is in the ledger that was recorded so far. `answer` is zero, `bytes` of
 * it are there. 0; -ENOMEM: it lacks blocks there was no memory for; -EINVAL:
 * there is no such question, or no room for the answer.
 */
long ledger_answer(const struct ledger *ledger, uint64_t what, uint64_t ring,
		   void *answer, size_t bytes);

#endif
