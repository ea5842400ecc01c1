/*
 * ledger_ask.h: what a thread of the target may ask of the ledger. The writer
 * answers, when it has seen everything that was recorded before the question;
 * a thread that asks waits for that, some 0.1 ms.
 */
#ifndef GNOMON_LEDGER_ASK_H
#define GNOMON_LEDGER_ASK_H

#include "preload/ledger.h"
#include "preload/shared.h"

enum ledger_question_what {
	LEDGER_ASK_SUM,		/* `sum`, of all threads */
	LEDGER_ASK_THREAD,	/* `sum`, of the thread with `ring` */
	LEDGER_ASK_CLASSES,	/* `classes` */
	LEDGER_ASK_FIGURES,	/* of contexts, in pieces: `figures` */
	LEDGER_ASK_BLOCK,	/* the live block at `address` */
	LEDGER_ASK_KINDS
};

struct ledger_question {
	enum ledger_question_what what;
	uint32_t ring;		/* index of struct thread */
	uint64_t address;
	bool nested;		/* by a handler that interrupted a hook */
	/* LEDGER_ASK_FIGURES: where to go on (0 at first; 0 when all were
	 * told); how many there is room for, and were put there. Contexts
	 * that have nothing live are left out if `live_only`. */
	uint32_t next, room, count;
	bool live_only;
	struct ledger_figure *figures;
	struct ledger_class *classes;	/* GT_CLASSES of them */
	/* the answer: 0; -ENOENT: no such block; -ENOMEM: there was no memory
	 * for some blocks, and the figures lack them */
	int err;
	struct ledger_sum sum;
	struct ledger_block block;	/* `figure` is its context here */
};

/* Figures that fit into one answer. */
#define LEDGER_PIECE                                                \
	((uint32_t)((GL_REQUEST_ROOM - sizeof(struct ledger_question)) / \
		    sizeof(struct ledger_figure)))

/*
 * Has the writer answer; everything may lie on the stack. False: there is no
 * writer that could. LEDGER_LIVE should have been wanted (ledger_want) early:
 * blocks that are older than that are not known. Threads of the target outside
 * of hooks. Blocks of other heaps than the allocator's are found by address, but
 * are in no sum, class or figure.
 */
bool ledger_ask(struct recorder *r, struct ledger_question *question);

/* The writer: a question that came as a request's data has room for its arrays
 * in the `bytes` behind it. False: that does not suffice. */
bool ledger_request(struct ledger_question *question, unsigned char *more,
		    size_t bytes);

/* The writer's half; all is in the ledger that was recorded so far. */
void ledger_answer(const struct ledger *ledger,
		   struct ledger_question *question);

#endif
