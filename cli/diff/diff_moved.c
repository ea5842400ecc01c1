/*
 * diff_moved.c: see diff.h. Compares stacks by their functions' names alone, as
 * hashes.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/hash.h"
#include "cli/base/sort.h"
#include "cli/command/print/profile_stack.h"
#include "cli/diff/diff.h"

/* 0: a function has no name. */
static uint64_t functions_of(const struct diff *diff, uint32_t group,
			     struct profile_stack *stack)
{
	uint64_t hash = 1;

	profile_stack_of_node(stack, diff->profile,
			      diff->groups.list[group].node, true);
	for (size_t i = 0; i < stack->count; i++) {
		const struct frame *frame = &stack->list[i];

		if (frame->function == NULL || frame->nameless)
			return 0;
		hash = hash_number(hash ^ hash_bytes(frame->function,
						     strlen(frame->function)));
	}
	return hash;
}

static int by_hash(const void *a, const void *b)
{
	const uint64_t *one = a, *other = b;

	return (*one > *other) - (*one < *other);
}

static bool has(const uint64_t *hashes, size_t count, uint64_t hash)
{
	return hash != 0 && count > 0 &&
	       bsearch(&hash, hashes, count, sizeof(hash), by_hash) != NULL;
}

size_t diff_moved(const struct diff *diff, enum measure cost)
{
	const struct differences *found = &diff->found[cost];
	uint64_t *gone;
	struct profile_stack stack = { 0 };
	size_t gone_count = 0, moved = 0;

	if (diff->query->keys[0]->of == QUERY_OF_FRAME ||
	    found->states[DIFFERENCE_NEW] == 0 ||
	    found->states[DIFFERENCE_GONE] == 0)
		return 0;
	gone = grow_alloc(found->states[DIFFERENCE_GONE] * sizeof(*gone));
	for (size_t i = 0; i < found->count; i++)
		if (found->list[i].state == DIFFERENCE_GONE)
			gone[gone_count++] = functions_of(
				diff, found->list[i].group, &stack);
	SORT(gone, gone_count, by_hash);
	for (size_t i = 0; i < found->count; i++)
		if (found->list[i].state == DIFFERENCE_NEW)
			moved += has(gone, gone_count,
				     functions_of(diff, found->list[i].group,
						  &stack));
	free(gone);
	profile_stack_free(&stack);
	return moved;
}
