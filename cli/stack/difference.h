/*
 * difference.h: what the two sides of a profile have not in common, for one
 * cost: stacks (or sites, functions, files, libraries) that are new on the
 * second side, gone there, grown or shrunk.
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
	uint64_t size;		/* of the difference, whichever its sign */
};

struct differences {
	enum figure key;
	struct difference *list;	/* largest first */
	size_t count;
	size_t states[DIFFERENCE_STATES];	/* how many are which */
	uint64_t equal;		/* groups with the same cost, not 0 */
	uint64_t below;		/* whose difference is not over the threshold */
};

/*
 * Groups whose self costs differ by more than `threshold`. A group that costs
 * nothing on the first side is new, whatever else is known of it there.
 */
void differences_find(const struct profile *profile,
		      const struct profile_groups *groups, enum figure key,
		      uint64_t threshold, struct differences *found);
void differences_free(struct differences *found);

#endif
