/*
 * ledger_ask.h: queries of the live heap by threads of the target. The writer
 * answers after it has read everything that was recorded before the query; that
 * takes some 0.1 ms, for which the thread waits.
 */
#ifndef GNOMON_LEDGER_ASK_H
#define GNOMON_LEDGER_ASK_H

#include <stdbool.h>
#include <stdint.h>

/* Why the live heap is needed. */
enum ledger_why {
	LEDGER_LIVE = 1,	/* the program reads its own numbers */
	LEDGER_CULL = 2,
	LEDGER_PARTS = 4,
	LEDGER_STATS = 8,
	LEDGER_TOTALS = 16	/* totals instead of events */
};

/* Kinds of query. None includes blocks of custom heaps. */
enum ledger_question {
	LEDGER_ASK_SUM,		/* struct gnomon_summary, of all threads */
	LEDGER_ASK_THREAD,	/* the same for the thread of one ring */
	LEDGER_ASK_CLASSES	/* struct gnomon_sizes */
};

struct recorder;

/*
 * From now on the live heap is needed; blocks allocated before are not in it.
 * Any thread of the target, also in handlers.
 */
void ledger_want(struct recorder *r, uint32_t why);

/* Whether the calling thread is in a handler that interrupted a hook: then the
 * writer does not wait for that hook's event. */
bool ledger_nested(void);

/*
 * Lets the writer fill a structure that is zero. 0; -ENOMEM: there was no
 * memory for some blocks, and the answer lacks them; -ETIMEDOUT: no writer can
 * answer. Call ledger_want with LEDGER_LIVE early. Threads of the target
 * outside of hooks.
 */
int ledger_ask(struct recorder *r, enum ledger_question what, uint32_t ring,
	       void *answer, uint32_t bytes);

#endif
