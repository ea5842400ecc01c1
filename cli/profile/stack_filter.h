/*
 * stack_filter.h: the filters that are about a context as a whole: what
 * functions, files and libraries its stack has, how deep it is, how much was
 * allocated there. Filters of single blocks are in cli/model/filter.h.
 *
 * One filter given twice means either of them (of those that begin with
 * "not": neither), different ones mean all.
 */
#ifndef GNOMON_STACK_FILTER_H
#define GNOMON_STACK_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/base/command.h"
#include "cli/model/figures.h"
#include "cli/profile/frames.h"

#define STACK_FILTER_FIRST_ID 3000
#define STACK_FILTER_LAST_ID 3999

/* Ids from STACK_FILTER_FIRST_ID on, for stack_filter_take. */
extern const struct command_group stack_filter_options;

struct stack_filter;

struct stack_filter *stack_filter_new(void);
/* 0; -EINVAL or -ERANGE if the value is wrong (what is wrong with a regular
 * expression has been said then). */
int stack_filter_take(struct stack_filter *filter, int id, const char *value);
/* No filter was given: all is kept. */
bool stack_filter_is_empty(const struct stack_filter *filter);
/* Which model's contexts are asked about from now on, once it was read. */
void stack_filter_bind(struct stack_filter *filter, struct frames *frames);
/* For profile_add; `owner` is the filter, `node` the context's. */
bool stack_filter_keeps(void *owner, uint32_t node,
			const struct figures *figures);
void stack_filter_free(struct stack_filter *filter);

#endif
