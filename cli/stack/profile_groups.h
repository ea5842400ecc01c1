/*
 * profile_groups.h: a profile as a table: a row for each function, file,
 * library, site or stack.
 */
#ifndef GNOMON_PROFILE_GROUPS_H
#define GNOMON_PROFILE_GROUPS_H

#include "cli/stack/profile.h"

enum profile_by {
	PROFILE_BY_STACK,
	PROFILE_BY_SITE,	/* function, file, line and library of it */
	PROFILE_BY_FUNCTION,	/* function and library; without a name, where
				 * in the library its code is */
	PROFILE_BY_FILE,	/* without one: the library */
	PROFILE_BY_LINE,	/* of its file; without one as that */
	PROFILE_BY_LIBRARY,
	PROFILE_BY_COUNT
};

struct profile_group {
	uint32_t frame;		/* one of it, for its names; PROFILE_NONE:
				 * stacks without a frame */
	uint32_t node;		/* of its stacks the one that is largest in
				 * `key`; PROFILE_NONE if it has no self */
	uint64_t largest;	/* … and how large */
	uint64_t contexts;	/* that count to its self */
};

struct profile_groups {
	enum profile_by by;
	unsigned sides;
	struct profile_group *list;
	size_t count;
	uint32_t *of_self;	/* self -> the group that it counts to */
	uint32_t *of_frame;	/* frame -> its group; but for sites and stacks
				 * PROFILE_NONE where none asked */
	/*
	 * [group * sides + side]; see profile_group_self. NULL where they are
	 * those of the profile's selves.
	 */
	struct figures *self;
	struct figures *inclusive;
};

/* `key` decides which stack stands for a group. */
void profile_groups(const struct profile *profile, enum profile_by by,
		    enum figure key, struct profile_groups *groups);
/* Of the stacks whose site is in the group. */
const struct figures *profile_group_self(const struct profile *profile,
					 const struct profile_groups *groups,
					 uint32_t group, unsigned side);
/* Of all stacks with a frame in it, each once, however often it recurs; of
 * sites and stacks the same as self. */
const struct figures *profile_group_inclusive(
	const struct profile *profile, const struct profile_groups *groups,
	uint32_t group, unsigned side);
void profile_groups_free(struct profile_groups *groups);

#endif
