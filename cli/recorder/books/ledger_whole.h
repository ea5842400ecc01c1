/*
 * ledger_whole.h: the ledger's sums in whole numbers, as they are told to
 * somebody. Of a sample they are estimates. The writer only.
 */
#ifndef GNOMON_LEDGER_WHOLE_H
#define GNOMON_LEDGER_WHOLE_H

#include "cli/recorder/books/ledger.h"

/* Of all blocks, or of a thread's. */
struct ledger_sum ledger_whole(const struct ledger *ledger,
			       const struct ledger_sum *sum);

/* Of the context with this number (1 … figure_count). Later ones are never
 * less, so differences can be told. */
struct ledger_figure ledger_whole_figure(const struct ledger *ledger,
					 uint32_t number);

struct ledger_class ledger_whole_class(const struct ledger *ledger,
				       unsigned class);
struct ledger_lives ledger_whole_lives(const struct ledger *ledger,
				       unsigned class);

#endif
