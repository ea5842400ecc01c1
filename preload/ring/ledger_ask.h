/*
 * ledger_ask.h: what a thread of the target may ask of the ledger. The writer
 * answers, when it has seen everything that was recorded before the question;
 * a thread that asks waits for that, some 0.1 ms.
 */
#ifndef GNOMON_LEDGER_ASK_H
#define GNOMON_LEDGER_ASK_H

#include <stdbool.h>
#include <stdint.h>

/* Who needs it. */
enum ledger_why {
	LEDGER_LIVE = 1,	/* the program asks for its live blocks */
	LEDGER_CULL = 2,
	LEDGER_PARTS = 4,
	LEDGER_STATS = 8,
	LEDGER_TOTALS = 16	/* totals instead of events */
};

/* Blocks of other heaps than the allocator's are in none. */
enum ledger_question {
	LEDGER_ASK_SUM,		/* struct gnomon_summary, of all threads */
	LEDGER_ASK_THREAD,	/* the same of the thread with a ring */
	LEDGER_ASK_CLASSES	/* struct gnomon_sizes */
};

struct recorder;

/*
 * It is needed from now on: blocks that were allocated before are not known.
 * Any thread of the target, also in handlers.
 */
void ledger_want(struct recorder *r, uint32_t why);

/* Whether the calling thread asks from a handler that interrupted a hook: then
 * the writer does not wait for that hook's event. */
bool ledger_nested(void);

/*
 * Has the writer answer into a structure that is zero. 0; -ENOMEM: there was
 * no memory for some blocks, and it lacks them; -ETIMEDOUT: there is no writer
 * that could. LEDGER_LIVE should have been wanted early (ledger_want). Threads
 * of the target outside of hooks.
 */
int ledger_ask(struct recorder *r, enum ledger_question what, uint32_t ring,
	       void *answer, uint32_t bytes);

#endif
