/*
 * context_value.h: computes a value for each context of a model from the value
 * of its parent and the place that the context adds: a fold over stacks from
 * the outermost frame inward. Stacks that share outer frames share the work.
 *
 *	0 or early(stop) ─ step(place of main) ─ step(place of f) ─▶ value of f
 */
#ifndef GNOMON_CONTEXT_VALUE_H
#define GNOMON_CONTEXT_VALUE_H

#include <stdint.h>

#include "cli/base/table.h"
#include "cli/stack/frames.h"

struct context_value_frame {
	uint32_t node;
	uint32_t place;
	bool exact;
};

struct context_value {
	struct frames *frames;
	/* The initial value of a stack whose walk ended early: the reason, and
	 * the reason in words. All other stacks begin with 0; if NULL, these
	 * too. */
	uint32_t (*early)(void *owner, enum gt_stop stop, const char *words);
	/* The value of a frame at `place` called from `outer`. Neither is
	 * TABLE_NONE. */
	uint32_t (*step)(void *owner, uint32_t outer, uint32_t place);
	void *owner;
	uint32_t *values;	/* by node; TABLE_NONE: not known yet */
	struct table exact;	/* values of nodes interrupted by a signal */
	struct context_value_frame *stack;
	size_t stack_count;
	size_t stack_capacity;
};

/* Sets the first four members; the model has been read. */
void context_value_init(
	struct context_value *context_value, struct frames *frames,
	uint32_t (*early)(void *owner, enum gt_stop stop, const char *words),
	uint32_t (*step)(void *owner, uint32_t outer, uint32_t place),
	void *owner);
uint32_t context_value_of(struct context_value *context_value, uint32_t node);
void context_value_free(struct context_value *context_value);

#endif
