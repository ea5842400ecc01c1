/*
 * totals.h: writes a trace of totals without events (--depth 0), at intervals
 * and at the end, from the block table. The recorder only.
 */
#ifndef GNOMON_TOTALS_H
#define GNOMON_TOTALS_H

#include <stdbool.h>

#include "cli/recorder/emit/emit_totals.h"
#include "cli/recorder/live_blocks/block_table.h"
#include "cli/recorder/base/vector.h"

struct recorder;

struct totals {
	struct recorder *rec;
	struct emit_totals emit;
	struct vector reported;	/* measures, as last written */
	struct block_table_class classes[GT_CLASSES];
	struct block_table_lifetimes lives[GT_CLASSES];
	uint64_t blocks, frees;	/* of all contexts, as last written */
	uint64_t reported_ns;
};

/* Whether options request totals only. */
bool totals_wanted(void);

/* `bytes`: memory budget, of which it takes a part. 0 or -ENOMEM. */
int totals_init(struct totals *totals, struct recorder *rec, uint64_t bytes);

/* Writes totals if they are due. */
void totals_poll(struct totals *totals, uint64_t now_ns);

/* Writes the changes since the last time. */
void totals_report(struct totals *totals);

/* The block table starts from zero. */
void totals_forget(struct totals *totals);

#endif
