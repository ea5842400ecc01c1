/*
 * rows_whole.h: from a store, what is of all blocks that a view has, whatever a
 * filter selects: the peak, of which contexts have their shares; totals; heaps
 * of the program's own; events without their counterpart.
 *
 * One thread for each model. Private to this folder.
 */
#ifndef GNOMON_ROWS_WHOLE_H
#define GNOMON_ROWS_WHOLE_H

#include "cli/model/model_state.h"
#include "cli/model/rows/rows_facts.h"
#include "cli/store/store_group.h"

/* Sets what facts tell: events without counterpart, the last stamp, threads'
 * events. */
void rows_whole_facts(struct model *model, const struct rows_facts *facts);

/*
 * Where blocks are selected, model->whole, if it is wanted, and its peak; else
 * the peak of model->totals; and heaps' figures, and foreign frees, if they are
 * wanted. *edge: the
 * birth that brought the peak. As store_scan_each.
 */
int rows_whole_figures(struct model *model, bool wanted,
		       const atomic_bool *cancel, uint64_t *edge);

#endif
