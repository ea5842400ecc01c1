/*
 * index_whole.h: from the index, the measures of all blocks of a view, whatever
 * a filter selects: the peak of which contexts have shares, totals, heaps of
 * the program's own, unpaired events.
 *
 * One thread per model. Private to this folder.
 */
#ifndef GNOMON_INDEX_WHOLE_H
#define GNOMON_INDEX_WHOLE_H

#include "cli/model/model_state.h"
#include "cli/model/index/index_facts.h"
#include "cli/store/store_group.h"

/* Sets values from the facts: unpaired events, the last stamp, events of
 * threads. */
void index_whole_facts(struct model *model, const struct index_facts *facts);

/*
 * Where blocks are selected, sets model->whole with its peak if it is wanted;
 * otherwise the peak of model->totals. Also sets measures of heaps, and foreign
 * frees, if wanted. *edge: the allocation that reached the peak. Errors as
 * store_scan_each.
 */
int index_whole_figures(struct model *model, bool wanted,
			const atomic_bool *cancel, uint64_t *edge);

#endif
