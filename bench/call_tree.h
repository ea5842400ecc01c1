/*
 * call_tree.h: random call stacks of a given depth, for measuring captures.
 */
#ifndef GNOMON_BENCH_CALL_TREE_H
#define GNOMON_BENCH_CALL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TREE_BURST 32		/* captures that are timed together */
#define TREE_CYCLE 512		/* bursts; then stacks are repeated */

/* How stacks are chosen (call_tree.c). */
enum tree_draw {
	TREE_NEW,	/* drawn anew for each burst; repeated after
			 * TREE_CYCLE */
	TREE_REPEATING,	/* from few stacks */
	TREE_OUTER,	/* the frames that do not change are the same in all
			 * bursts */
	TREE_UNSEEN,	/* as TREE_NEW, but never repeated */
};

struct tree_plan {
	unsigned levels;	/* functions of the tree on the stack */
	unsigned changed;	/* how many of them are replaced between two
				 * captures */
	enum tree_draw draw;
	bool wrapped;		/* call the hook through a function */
	bool counted;		/* let callgrind collect during the bursts */
	uint64_t budget_ns;	/* stop after this time, even before
				 * `bursts` */
	size_t bursts;
	uint64_t seed;		/* of the draw; 0: the usual one */
	void (*hook)(void);	/* called by the innermost function, or by the
				 * wrapper, which it calls */
};

/*
 * Runs the plan and stores the time of each burst in burst_ns (room for
 * plan->bursts). Returns the number of bursts that ran. The stacks depend
 * only on levels, changed, draw, wrapped and seed, so two runs see the same
 * ones; they must come from the same call instruction (asserted). One thread.
 */
size_t tree_run(const struct tree_plan *plan, uint64_t *burst_ns);

#endif
