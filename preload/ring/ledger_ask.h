/*
 * ledger_ask.h: what a thread of the target may ask of the ledger. The writer
 * answers, when it has seen everything that was recorded before the question;
 * a thread that asks waits for that, some 0.1 ms.
 */
#ifndef GNOMON_LEDGER_ASK_H
#define GNOMON_LEDGER_ASK_H

#include "preload/ring/shared.h"

/* Who needs it. */
enum ledger_why {
	LEDGER_LIVE = 1,	/* the program asks for its live blocks */
	LEDGER_CULL = 2,
	LEDGER_PARTS = 4,
	LEDGER_STATS = 8,
	LEDGER_TOTALS = 16	/* totals instead of events */
};

/* Sums, in fixed point if it is a sample; lifetimes never. */
struct ledger_sum {
	uint64_t blocks, bytes;		/* allocated in all */
	uint64_t frees, freed;		/* of them not live any more */
	uint64_t peak_bytes, peak_blocks, peak_tick;
};

/* Of one context. */
struct ledger_figure {
	struct ledger_sum sum;
	uint64_t first, last;		/* ticks of allocations */
	uint64_t lifetime;		/* ticks, of the freed ones */
	uint64_t temporary;		/* as GT_TOTALS_TEMPORARY */
	uint32_t context;
	uint32_t told;			/* of who writes it down, */
	uint16_t rest_blocks, rest_bytes;	/* of a sample: not told yet, */
	uint16_t rest_freed, rest_freed_bytes;	/* by who frees */
};

/* Of sizes with the same bit length. */
struct ledger_class {
	uint64_t blocks, bytes, frees, freed, temporary, lifetime;
};

enum ledger_question_what {
	LEDGER_ASK_SUM,		/* `sum`, of all threads */
	LEDGER_ASK_THREAD,	/* `sum`, of the thread with `ring` */
	LEDGER_ASK_CLASSES,	/* `classes` */
	LEDGER_ASK_FIGURES,	/* of contexts, in pieces: `figures` */
	LEDGER_ASK_KINDS
};

struct ledger_question {
	enum ledger_question_what what;
	uint32_t ring;		/* index of struct thread */
	bool nested;		/* by a handler that interrupted a hook */
	/* LEDGER_ASK_FIGURES: where to go on (0 at first; 0 when all were
	 * told); how many there is room for, and were put there. Contexts
	 * that have nothing live are left out if `live_only`. */
	uint32_t next, room, count;
	bool live_only;
	struct ledger_figure *figures;
	struct ledger_class *classes;	/* GT_CLASSES of them */
	/* the answer: 0; -ENOMEM: there was no memory for some blocks, and the
	 * figures lack them */
	int err;
	struct ledger_sum sum;
};

/* Figures that fit into one answer. */
#define LEDGER_PIECE                                                \
	((uint32_t)((GL_REQUEST_ROOM - sizeof(struct ledger_question)) / \
		    sizeof(struct ledger_figure)))

struct recorder;

/*
 * It is needed from now on: blocks that were allocated before are not known.
 * Any thread of the target, also in handlers; before the writer starts, too.
 */
void ledger_want(struct recorder *r, uint32_t why);

/*
 * Has the writer answer; everything may lie on the stack. False: there is no
 * writer that could. LEDGER_LIVE should have been wanted (ledger_want) early:
 * blocks that are older than that are not known. Threads of the target outside
 * of hooks. Blocks of other heaps than the allocator's are in no sum, class or
 * figure.
 */
bool ledger_ask(struct recorder *r, struct ledger_question *question);

#endif
