/*
 * difference.c: see difference.h. Called by the main thread.
 */
#include "cli/stack/difference.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"

const char *const difference_names[DIFFERENCE_STATES] = {
	[DIFFERENCE_NEW] = "new",
	[DIFFERENCE_GONE] = "gone",
	[DIFFERENCE_GROWN] = "grown",
	[DIFFERENCE_SHRUNK] = "shrunk",
};

static enum difference_state state_of(uint64_t before, uint64_t after)
{
	if (before == 0)
		return DIFFERENCE_NEW;
	if (after == 0)
		return DIFFERENCE_GONE;
	return after > before ? DIFFERENCE_GROWN : DIFFERENCE_SHRUNK;
}

static int by_size(const void *a, const void *b)
{
	const struct difference *x = a, *y = b;

	/* Grown before shrunk. */
	return sort_down(x->size, y->size) ?:
	       sort_down(x->after > x->before, y->after > y->before) ?:
	       sort_up(x->group, y->group);
}

void differences_find(const struct profile *profile,
		      const struct profile_groups *groups, enum measure key,
		      uint64_t threshold, struct differences *found)
{
	size_t capacity = 0;

	assert(groups->sides == 2);
	memset(found, 0, sizeof(*found));
	found->key = key;
	for (uint32_t i = 0; i < groups->count; i++) {
		uint64_t before = profile_value(profile,
			profile_group_self(profile, groups, i, 0), key);
		uint64_t after = profile_value(profile,
			profile_group_self(profile, groups, i, 1), key);
		uint64_t size = after > before ? after - before :
			before - after;

		if (size <= threshold) {
			found->equal += size == 0 && before > 0;
			found->below += size > 0;
			continue;
		}
		GROW(found->list, found->count, capacity);
		found->list[found->count++] = (struct difference){
			state_of(before, after), i, before, after, size
		};
		found->states[state_of(before, after)]++;
	}
	assert(found->count <= groups->count);
	SORT(found->list, found->count, by_size);
}

void differences_free(struct differences *found)
{
	free(found->list);
	memset(found, 0, sizeof(*found));
}
