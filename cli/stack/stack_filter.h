/*
 * stack_filter.h: applies the words of a filter about a context as a whole:
 * functions, files and libraries in its stack, depth, allocations. The model
 * applies conditions on single blocks while it reads (cli/model/filters.h,
 * which has all words).
 *
 * A word given twice means either value (for words with "not": neither);
 * different words must all hold.
 */
#ifndef GNOMON_STACK_FILTER_H
#define GNOMON_STACK_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/model/coverage.h"
#include "cli/model/filters.h"
#include "cli/stack/frames.h"

struct stack_filter;

/*
 * For the contexts of the frames' model, which was read; both are borrowed.
 * NULL if a moment in the words is not in this trace, which is noted.
 */
struct stack_filter *stack_filter_new(const struct filter *words,
				      struct frames *frames);
/* For query_source and profile_add: `owner` is the struct stack_filter. The
 * filter sums up measures itself, since a context may have several costs. */
bool stack_filter_keeps(void *owner, uint32_t node,
			const struct figures *figures);
/*
 * Whether the filter's decision about contexts does not depend on measures.
 * Then stack_filter_chosen returns the decision for all contexts, with or
 * without blocks: a bit set, to be freed. `nodes`: number of bits.
 */
bool stack_filter_is_of_frames(const struct filter *words);
uint64_t *stack_filter_chosen(struct stack_filter *filter, size_t *nodes);
/* The coverage of a model with this filter; NULL: no conditions on stacks. */
void stack_filter_coverage(struct stack_filter *filter,
			   const struct model *model,
			   struct coverage *coverage);
void stack_filter_free(struct stack_filter *filter);	/* NULL is allowed */

#endif
