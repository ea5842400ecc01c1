/*
 * profile_walk.h: visits a profile as a tree, from the outermost frames inward
 * (top down) or from the innermost frames outward (bottom up), largest first.
 */
#ifndef GNOMON_PROFILE_WALK_H
#define GNOMON_PROFILE_WALK_H

#include "cli/stack/profile.h"

/* One line of the tree. */
struct profile_branch {
	uint32_t frame;		/* of profile->frames */
	uint32_t node;		/* top down: the node; bottom up: one of the
				 * nodes it represents */
	unsigned depth;		/* 0: outermost, or innermost */
	size_t index;		/* among its siblings that are shown */
	size_t count;		/* number of these siblings */
	size_t left_out;	/* siblings that were too small */
	uint64_t contexts;
	/* By side. Inclusive: of all stacks through this branch. Self: of the
	 * stacks that end here: top down, in this function; bottom up, at the
	 * outermost frame of the stack. */
	const struct figures *inclusive;
	const struct figures *self;
};

struct profile_walk {
	bool bottom_up;
	bool from_site;		/* bottom up: begin at sites, without the
				 * allocator wrappers inside of them */
	enum measure key;	/* sort key: value of the larger side */
	uint64_t min;		/* branches with less are left out */
	size_t max;		/* branches per level; 0: unlimited */
	unsigned depth_max;	/* 0: unlimited */
	/* Called before and after the children of a branch. If `enter` returns
	 * false, the children are skipped. `leave` may be NULL. */
	bool (*enter)(void *owner, const struct profile_branch *branch);
	void (*leave)(void *owner, const struct profile_branch *branch);
	void *owner;
};

void profile_walk(const struct profile *profile,
		  const struct profile_walk *walk);

#endif
