/*
 * stack_filter.h: the words of a filter that are about a context as a whole:
 * what functions, files and libraries its stack has, how deep it is, how much
 * was allocated there. Words about single blocks are applied by the model
 * while it reads (cli/model/filters.h, which has all of them).
 *
 * A word given twice means either (of those that begin with "not": neither),
 * different ones mean all.
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
/* For query_source and profile_add: `owner` is the struct stack_filter. What
 * it wants to know of figures it sums up itself: a context may have several
 * costs. */
bool stack_filter_keeps(void *owner, uint32_t node,
			const struct figures *figures);
/*
 * Whether which contexts a filter keeps does not depend on figures. Then
 * stack_filter_chosen tells it for all of the frames' contexts, those with blocks
 * or without: a bit for each, to be freed. `nodes`: how many.
 */
bool stack_filter_is_of_frames(const struct filter *words);
uint64_t *stack_filter_chosen(struct stack_filter *filter, size_t *nodes);
/* The coverage of a model whose filter this is; NULL: it has no words about
 * stacks. */
void stack_filter_coverage(struct stack_filter *filter,
			   const struct model *model,
			   struct coverage *coverage);
void stack_filter_free(struct stack_filter *filter);	/* NULL is allowed */

#endif
