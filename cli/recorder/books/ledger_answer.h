/*
 * ledger_answer.h: the recorder's half of ledger_ask.h.
 */
#ifndef GNOMON_LEDGER_ANSWER_H
#define GNOMON_LEDGER_ANSWER_H

#include "cli/recorder/books/ledger.h"
#include "preload/ring/ledger_ask.h"

/* The writer: a question that came as a request's data has room for its arrays
 * in the `bytes` behind it. False: that does not suffice. */
bool ledger_request(struct ledger_question *question, unsigned char *more,
		    size_t bytes);

/* The writer's half; all is in the ledger that was recorded so far. */
void ledger_answer(const struct ledger *ledger,
		   struct ledger_question *question);

#endif
