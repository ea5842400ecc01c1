/*
 * difference.h: the differences between the two sides of a profile, in one
 * measure: stacks (or sites, functions, files, libraries) that are new on the
 * second side, gone, grown or shrunk.
 */
#ifndef GNOMON_DIFFERENCE_H
#define GNOMON_DIFFERENCE_H

#include "cli/stack/profile_groups.h"

enum difference_state {
	DIFFERENCE_NEW,
	DIFFERENCE_GONE,
	DIFFERENCE_GROWN,
	DIFFERENCE_SHRUNK,
	DIFFERENCE_STATES
};
extern const char *const difference_names[DIFFERENCE_STATES];

struct difference {
	enum difference_state state;
	uint32_t group;
	uint64_t before, after;
	uint64_t size;		/* of the difference, without sign */
};

struct differences {
	enum measure key;
	struct difference *list;	/* largest first */
	size_t count;
	size_t states[DIFFERENCE_STATES];	/* how many have each state */
	uint64_t equal;		/* groups with the same value, not 0 */
	uint64_t below;		/* groups whose difference is not over the
				 * threshold */
};

/*
 * Finds groups whose self values differ by more than `threshold`. A group with
 * the value 0 on the first side is new, whatever its other measures there.
 */
void differences_find(const struct profile *profile,
		      const struct profile_groups *groups, enum measure key,
		      uint64_t threshold, struct differences *found);
void differences_free(struct differences *found);

#endif
