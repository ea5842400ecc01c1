/*
 * profile_groups.h: a profile as a table: one row per function, file, library,
 * site or stack.
 */
#ifndef GNOMON_PROFILE_GROUPS_H
#define GNOMON_PROFILE_GROUPS_H

#include "cli/stack/profile.h"

enum profile_by {
	PROFILE_BY_STACK,
	PROFILE_BY_SITE,	/* its function, file, line and library */
	PROFILE_BY_FUNCTION,	/* function and library; without a name, the
				 * address in the library */
	PROFILE_BY_FILE,	/* or the library if the file is not known */
	PROFILE_BY_LINE,	/* of the file; if not known, as
				 * PROFILE_BY_FILE */
	PROFILE_BY_LIBRARY,
	PROFILE_BY_COUNT
};

struct profile_group {
	uint32_t frame;		/* a frame of the group, for names;
				 * PROFILE_NONE: stacks without a frame */
	uint32_t node;		/* of its stacks, the one with the largest
				 * `key`; PROFILE_NONE if there is no self */
	uint64_t largest;	/* the value of that stack */
	uint64_t contexts;	/* in its self */
};

struct profile_groups {
	enum profile_by by;
	unsigned sides;
	struct profile_group *list;
	size_t count;
	uint32_t *of_self;	/* self -> its group */
	uint32_t *of_frame;	/* frame -> its group; for sites and stacks,
				 * PROFILE_NONE if it was never requested */
	/*
	 * [group * sides + side]; see profile_group_self. NULL: the same as the
	 * profile's self costs.
	 */
	struct figures *self;
	struct figures *inclusive;
};

/* `key` selects the stack that represents a group. */
void profile_groups(const struct profile *profile, enum profile_by by,
		    enum measure key, struct profile_groups *groups);
/* Measures of the stacks whose site is in the group. */
const struct figures *profile_group_self(const struct profile *profile,
					 const struct profile_groups *groups,
					 uint32_t group, unsigned side);
/* Measures of all stacks with a frame in the group, each once, even if
 * recursive; for sites and stacks the same as self. */
const struct figures *profile_group_inclusive(
	const struct profile *profile, const struct profile_groups *groups,
	uint32_t group, unsigned side);
void profile_groups_free(struct profile_groups *groups);

#endif
