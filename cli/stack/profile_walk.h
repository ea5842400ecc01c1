/*
 * profile_walk.h: a profile as a tree, from the outermost frames inward (top
 * down) or from the innermost ones outward (bottom up), largest first.
 */
#ifndef GNOMON_PROFILE_WALK_H
#define GNOMON_PROFILE_WALK_H

#include "cli/stack/profile.h"

/* One line of the tree. */
struct profile_branch {
	uint32_t frame;		/* of profile->frames */
	uint32_t node;		/* top down: itself; bottom up: one of those
				 * that it stands for */
	unsigned depth;		/* 0: outermost, or innermost */
	size_t index;		/* among the branches that are shown beside */
	size_t count;		/* … of which there are so many */
	size_t left_out;	/* and so many that were too small */
	uint64_t contexts;
	/* By side. Inclusive: of all stacks that pass here on this way.
	 * Self: of those that end here: in this function, top down; bottom
	 * up, in a stack's outermost one. */
	const struct figures *inclusive;
	const struct figures *self;
};

struct profile_walk {
	bool bottom_up;
	bool from_site;		/* bottom up: begin at sites, without the
				 * glue inside of them */
	enum figure key;	/* the order: by the larger side */
	uint64_t least;		/* branches with less of it are left out */
	size_t most;		/* branches side by side; 0: any number */
	unsigned depth_max;	/* 0: any */
	/* Before what lies behind a branch, in which it is not interested if
	 * it returns false; and after that. `leave` may be NULL. */
	bool (*enter)(void *owner, const struct profile_branch *branch);
	void (*leave)(void *owner, const struct profile_branch *branch);
	void *owner;
};

void profile_walk(const struct profile *profile,
		  const struct profile_walk *walk);

#endif
