/*
 * books.h: the writer's books on live blocks: the ledger and what needs it,
 * tied together. Opened when somebody wants them, and kept then. The writer
 * only.
 */
#ifndef GNOMON_BOOKS_H
#define GNOMON_BOOKS_H

#include "cli/recorder/books/cull.h"
#include "cli/recorder/books/ledger.h"
#include "preload/ring/ledger_ask.h"
#include "cli/recorder/books/parts.h"
#include "cli/recorder/sequence.h"
#include "cli/recorder/books/stats.h"
#include "cli/recorder/emit/totals.h"

struct writer;

struct books {
	bool open;
	bool failed;		/* no memory; it was said */
	uint32_t own;		/* enum ledger_why: what the recording wants */
	uint32_t wants;		/* with what the program wants, as it was last */
	struct ledger ledger;
	struct sequence sequence;
	struct cull cull;
	struct totals totals;
	struct parts parts;
	struct stats stats;
};

/* Before the first event: what options want. 0 or -errno, and the recorder's
 * message says what is wrong. */
int books_begin(struct writer *w);

/* In each round of the writer: opens them if somebody has come to want them,
 * and does what is due. */
void books_look(struct writer *w, uint64_t now_ns);

/* All events have been written. */
void books_finish(struct writer *w);

/*
 * Everything that was recorded before is in the books, which are opened if they
 * were not. nested: a thread that is in a hook asks, and is not waited for. 0
 * or -ENOMEM.
 */
int books_settle(struct writer *w, bool nested);

/* A question of the target's (ASK_LEDGER). */
long books_answer(struct writer *w, struct gl_request *request);

/* What was before this tick does not count any more: that is told. unseen:
 * and not all that happened was recorded. */
void books_begin_anew(struct writer *w, uint64_t tick, bool unseen);

#endif
