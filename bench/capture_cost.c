/*
 * capture_cost.c: the cost of one capture. Prints one row as JSON.
 *
 *	bench-capture UNWINDER DEPTH CHANGED|all new|repeating|outer|unseen
 *			time|count|check [wrapped]
 *
 * DEPTH counts every frame from the caller of the hook to the outermost one of
 * the C library; CHANGED of them are replaced between two captures, or all
 * functions of the call tree. bench/call_tree.c describes the stacks and
 * `wrapped`. The same calls run with the unwinder and with a hook that does
 * nothing, in turns; the cost is the difference of the median bursts. Each
 * process measures one unwinder and one row, so that no row is slowed down by
 * what another has left in tables and caches. The very first stack is timed
 * alone, with cold tables and caches. The row has gnomon's memory for the
 * thread before it and at the end.
 *
 * `count` is for callgrind with --collect-atstart=no: one cycle with the
 * unwinder alone, whose bursts callgrind counts; the count of the unwinder
 * "nothing" is that of the calls themselves. `check` compares each stack of two
 * cycles with backtrace()'s; a timed run compares only some.
 *
 * I1  All steps call tree_run from the same place, so that their stacks are
 *     the same down to main.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/call_tree.h"
#include "bench/unwinders.h"

#define COST_OUTER 5	/* frames outside the tree: tree_run, main, libc's */
#define COST_DEPTH_MAX 1024
#define COST_BUDGET_NS 40000000u	/* of one step, for slow unwinders */
#define COST_BURSTS_MAX (4 * TREE_CYCLE)
#define COST_CHECKED 64		/* bursts whose stacks are compared … */
#define COST_CHECKED_FRAMES 6400u	/* … fewer if they are deep */
#define COST_WARM_UP 2		/* cycles: tables that grow in the first are
				 * filled anew in the second */
#define COST_ROUNDS 3

/* The steps of a process. The rounds are of both hooks; the last step checks
 * again, other stacks and with all that has been learned. */
enum {
	STEP_FIRST,
	STEP_CHECK,
	STEP_WARM_UP,
	STEP_ROUNDS,
	STEP_LAST = STEP_ROUNDS + 2 * COST_ROUNDS,
	STEPS
};
#define COST_LAST_SEED 1
#define COST_UNSEEN_SEED 2	/* of the first round, if no stack may have been
				 * met before; 1 more of the next ones */

static const char *const cost_draws[] = {
	[TREE_NEW] = "new",
	[TREE_REPEATING] = "repeating",
	[TREE_OUTER] = "outer",
	[TREE_UNSEEN] = "unseen",
};
#define COST_DRAWS (sizeof(cost_draws) / sizeof(*cost_draws))

struct cost {
	const struct unwinder *unwinder;
	struct tree_plan plan;		/* as the arguments have it */
	bool count, check;
	uint64_t first_ns;
	struct unwinder_thread fresh;	/* before the first stack */
	struct unwinder_tiers before, after;	/* the rounds */
	unsigned frames;
	double base[COST_ROUNDS], with[COST_ROUNDS];
	size_t captures;		/* in the rounds, timed or not */
};

static uint64_t cost_bursts[COST_BURSTS_MAX];
static struct cost cost;

static uint64_t cost_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The hook of STEP_FIRST. */
static void cost_first(void)
{
	uint64_t start = cost_now();

	cost.unwinder->hook();
	if (!cost.first_ns)
		cost.first_ns = cost_now() - start;
}

static int cost_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int cost_compare_ns(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static double cost_median(double *values)
{
	qsort(values, COST_ROUNDS, sizeof(*values), cost_compare);
	return values[COST_ROUNDS / 2];
}

/* Checking is slow, and more so under callgrind: a timed run checks. */
static size_t cost_checked(void)
{
	size_t bursts = COST_CHECKED_FRAMES / cost.plan.levels;

	if (cost.check)
		return TREE_CYCLE;
	return bursts < COST_CHECKED ? bursts : COST_CHECKED;
}

/* Runs a step. Only an unwinder that learns complete stacks (gnomon) must meet
 * all of them before it is measured. */
static bool cost_step_plan(int step, struct tree_plan *plan)
{
	bool learns = unwinder_learns();

	if (cost.count && (step < STEP_WARM_UP || step == STEP_LAST))
		return false;
	if (cost.check && step != STEP_CHECK && step != STEP_LAST)
		return false;
	*plan = cost.plan;
	plan->hook = cost.unwinder->hook;
	plan->bursts = cost.count ? TREE_CYCLE : COST_BURSTS_MAX;
	if (step == STEP_FIRST) {
		plan->hook = cost_first;
		plan->bursts = 1;
	} else if (step == STEP_CHECK || step == STEP_LAST) {
		plan->hook = unwinder_checked(cost.unwinder);
		plan->bursts = cost_checked();
		plan->seed = step == STEP_LAST ? COST_LAST_SEED : 0;
	} else if (step == STEP_WARM_UP) {
		plan->bursts = COST_WARM_UP * TREE_CYCLE;
	} else if (cost.count) {
		plan->counted = true;
		return step == STEP_ROUNDS;
	} else if ((step - STEP_ROUNDS) % 2 == 0) {
		plan->hook = unwinder_nothing;
	}
	if (plan->draw == TREE_UNSEEN && step >= STEP_ROUNDS &&
	    step < STEP_LAST)
		plan->seed = COST_UNSEEN_SEED +
			     (unsigned)(step - STEP_ROUNDS) / 2;
	if (learns && (step <= STEP_WARM_UP || step == STEP_LAST))
		plan->budget_ns = UINT64_MAX / 2;
	return plan->hook != NULL;
}

/* Takes a step's result: ns per capture and the calls around it, as the
 * median burst has them. */
static void cost_step_done(int step, size_t bursts)
{
	int round = (step - STEP_ROUNDS) / 2;
	double ns;

	if (step < STEP_ROUNDS)
		cost.before = unwinder_tiers();
	if (step < STEP_ROUNDS || step == STEP_LAST)
		return;
	qsort(cost_bursts, bursts, sizeof(*cost_bursts), cost_compare_ns);
	ns = (double)cost_bursts[bursts / 2] / TREE_BURST;
	if ((step - STEP_ROUNDS) % 2 == 0) {
		cost.base[round] = ns;
	} else {
		cost.with[round] = ns;
		cost.captures += bursts * (TREE_BURST + 1);
		cost.after = unwinder_tiers();
		cost.frames = unwinder_frames();
	}
}

static void cost_print_thread(void)
{
	struct unwinder_thread now;

	if (!unwinder_describe(&now))
		return;
	printf(",\"thread\":{\"mode\":\"%s\",\"bytes_new\":%" PRIu64
	       ",\"bytes\":%" PRIu64 ",\"path_bytes\":%" PRIu64
	       ",\"path_bytes_max\":%" PRIu64 ",\"barriers_placed\":%" PRIu64
	       ",\"barriers_met\":%" PRIu64 "}",
	       now.mode, cost.fresh.bytes, now.bytes, now.path_bytes,
	       now.path_bytes_max, now.barriers_placed, now.barriers_met);
}

static void cost_print(size_t last_bursts)
{
	double base, join, full;

	printf("{\"unwinder\":\"%s\",\"changed\":%u,\"draw\":\"%s\","
	       "\"wrapped\":%s,", cost.unwinder->name, cost.plan.changed,
	       cost_draws[cost.plan.draw],
	       cost.plan.wrapped ? "true" : "false");
	if (cost.count || cost.check) {
		printf("\"captures\":%zu}\n", last_bursts * TREE_BURST);
		return;
	}
	join = (double)(cost.after.join - cost.before.join) /
	       (double)cost.captures;
	full = (double)(cost.after.full - cost.before.full) /
	       (double)cost.captures;
	base = cost_median(cost.base);
	printf("\"frames\":%u,\"ns\":%.2f,\"calls_ns\":%.2f,"
	       "\"first_ns\":%" PRIu64 ","
	       "\"path\":%.4f,\"join\":%.4f,\"full\":%.4f",
	       cost.frames, cost_median(cost.with) - base, base,
	       cost.first_ns, 1 - join - full, join, full);
	cost_print_thread();
	printf("}\n");
}

static bool cost_draw_argument(const char *name)
{
	unsigned draw;

	for (draw = 0; draw < COST_DRAWS; draw++)
		if (strcmp(name, cost_draws[draw]) == 0) {
			cost.plan.draw = (enum tree_draw)draw;
			return true;
		}
	return false;
}

static bool cost_arguments(int argc, char **argv)
{
	unsigned depth, outer;

	cost.plan.wrapped = argc == 7 && strcmp(argv[6], "wrapped") == 0;
	if (argc != 6 && !cost.plan.wrapped)
		return false;
	cost.unwinder = unwinder_find(argv[1]);
	depth = (unsigned)strtoul(argv[2], NULL, 10);
	cost.plan.changed = (unsigned)strtoul(argv[3], NULL, 10);
	cost.count = strcmp(argv[5], "count") == 0;
	cost.check = strcmp(argv[5], "check") == 0;
	outer = COST_OUTER + cost.plan.wrapped;
	cost.plan.levels = depth > outer ? depth - outer : 1;
	if (strcmp(argv[3], "all") == 0)
		cost.plan.changed = cost.plan.levels;
	else if (cost.plan.levels <= cost.plan.changed)
		cost.plan.levels = cost.plan.changed + 1;
	cost.plan.budget_ns = cost.count ? UINT64_MAX / 2 : COST_BUDGET_NS;
	return cost.unwinder && cost_draw_argument(argv[4]) &&
	       depth <= COST_DEPTH_MAX && cost.plan.changed < COST_DEPTH_MAX;
}

int main(int argc, char **argv)
{
	struct tree_plan plan;
	size_t bursts = 0;
	volatile int step;	/* I1: nothing is peeled off the loop */

	if (!cost_arguments(argc, argv)) {
		fprintf(stderr, "usage: bench-capture UNWINDER DEPTH "
				"CHANGED|all new|repeating|outer|unseen "
				"time|count|check [wrapped]\n");
		return 2;
	}
	if (cost.unwinder->open() != 0) {
		fprintf(stderr, "bench: %s cannot be had here\n",
			cost.unwinder->name);
		return 77;
	}
	unwinder_describe(&cost.fresh);
	for (step = 0; step < STEPS; step++) {
		if (!cost_step_plan(step, &plan))
			continue;
		/* I1: the only call */
		bursts = tree_run(&plan, cost_bursts);
		cost_step_done(step, bursts);
	}
	cost_print(bursts);
	return 0;
}
