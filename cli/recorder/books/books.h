/*
 * books.h: the live heap: the block table and the features that use it (totals,
 * cull, parts, stats). Opened at the first request and then kept. The writer
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
	bool failed;		/* no memory; reported already */
	uint32_t own;		/* enum ledger_why: what the options need */
	uint32_t wants;		/* plus what the program last requested */
	struct ledger ledger;
	struct sequence sequence;
	struct cull cull;
	struct totals totals;
	struct parts parts;
	struct stats stats;
};

/* Before the first event: opens what the options need. 0 or -errno, with the
 * recorder's message set. */
int books_begin(struct writer *w);

/* In each round of the writer: opens the live heap if it is needed now, and
 * does work that is due. */
void books_look(struct writer *w, uint64_t now_ns);

/* All events have been written. */
void books_finish(struct writer *w);

/*
 * Brings the live heap up to date with all records so far, and opens it if
 * needed. nested: the requesting thread is in a hook, so do not wait for it. 0
 * or -ENOMEM.
 */
int books_settle(struct writer *w, bool nested);

/* Handles the target's request ASK_LEDGER. */
long books_answer(struct writer *w, struct gl_request *request);

/* Events before this tick no longer count; the trace gets a record of that.
 * unseen: and not all events before it were recorded. */
void books_begin_anew(struct writer *w, uint64_t tick, bool unseen);

#endif
