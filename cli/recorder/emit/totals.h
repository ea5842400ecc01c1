/*
 * totals.h: a trace of totals alone, without events (--depth 0): told now and
 * then and at the end, from the ledger. The writer only.
 */
#ifndef GNOMON_TOTALS_H
#define GNOMON_TOTALS_H

#include <stdbool.h>

#include "cli/recorder/emit/emit_totals.h"
#include "cli/recorder/books/ledger.h"
#include "cli/recorder/base/grown.h"

struct writer;

struct totals {
	struct writer *w;
	struct emit_totals emit;
	struct grown told;	/* figures, as they were told */
	struct ledger_class classes[GT_CLASSES];
	struct ledger_lives lives[GT_CLASSES];
	uint64_t blocks, frees;	/* of all, as they were told */
	uint64_t told_ns;
};

/* What options say. */
bool totals_wanted(void);

/* `bytes`: that it may take a part of. 0 or -ENOMEM. */
int totals_init(struct totals *totals, struct writer *w, uint64_t bytes);

/* Tells them if it is time for it. */
void totals_look(struct totals *totals, uint64_t now_ns);

/* What came since the last time. */
void totals_tell(struct totals *totals);

/* The ledger begins anew. */
void totals_forget(struct totals *totals);

#endif
