/*
 * ledger_whole.h: rounds the block table's sums to integers for output. With
 * --sample they are estimates. The writer only.
 */
#ifndef GNOMON_LEDGER_WHOLE_H
#define GNOMON_LEDGER_WHOLE_H

#include "cli/recorder/books/ledger.h"

/* Of all blocks, or of a thread. */
struct ledger_sum ledger_whole(const struct ledger *ledger,
			       const struct ledger_sum *sum);

/* Of the context with this number (1 … figure_count). Results never decrease
 * over time, so differences can be written. */
struct ledger_figure ledger_whole_figure(const struct ledger *ledger,
					 uint32_t number);

struct ledger_class ledger_whole_class(const struct ledger *ledger,
				       unsigned class);
struct ledger_lives ledger_whole_lives(const struct ledger *ledger,
				       unsigned class);

#endif
