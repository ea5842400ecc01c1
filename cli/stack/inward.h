/*
 * inward.h: one number for each context of a model, made from that of the
 * context around it and the place that the context adds: a fold over stacks
 * from their outermost frame inward, in which stacks that share their outer
 * frames share the work.
 *
 *	0 or early(stop) ─ step(place of main) ─ step(place of f) ─▶ that of f's
 */
#ifndef GNOMON_INWARD_H
#define GNOMON_INWARD_H

#include <stdint.h>

#include "cli/base/table.h"
#include "cli/stack/frames.h"

struct inward_frame {
	uint32_t node;
	uint32_t place;
	bool exact;
};

struct inward {
	struct frames *frames;
	/* The value where a stack begins of which the walk ended early: why,
	 * and that in words. All others begin with 0; NULL: these, too. */
	uint32_t (*early)(void *owner, enum gt_stop stop, const char *words);
	/* The value of what is called at `place`. Neither is TABLE_NONE. */
	uint32_t (*step)(void *owner, uint32_t outer, uint32_t place);
	void *owner;
	uint32_t *values;	/* by node; TABLE_NONE: not known yet */
	struct table exact;	/* of nodes into which a signal came */
	struct inward_frame *stack;
	size_t stack_count;
	size_t stack_capacity;
};

/* The first four members; the model must have been read. */
void inward_init(struct inward *inward, struct frames *frames,
		 uint32_t (*early)(void *owner, enum gt_stop stop,
				   const char *words),
		 uint32_t (*step)(void *owner, uint32_t outer, uint32_t place),
		 void *owner);
uint32_t inward_value(struct inward *inward, uint32_t node);
void inward_free(struct inward *inward);

#endif
