/*
 * call_tree.c: random call stacks of a given depth, for measuring captures.
 *
 * 256 generated functions with frames of many sizes call each other in random
 * order until `levels` of them are on the stack; the innermost one calls the
 * hook. Then `changed` frames return and as many new ones are entered, and so
 * on:
 *
 *	          one burst, timed as a whole
 *	        ┌───────────────────────────────┐
 *	hook    hook    hook    …          hook   hook     hook
 *	 ↑ new stack, not timed                    ↑ new stack, not timed
 *
 * The order of stacks (enum tree_draw):
 *
 *	TREE_NEW	Between bursts all frames are drawn anew, and within a
 *			burst no innermost function repeats. So with
 *			`changed` > 0 a complete stack repeats only after
 *			TREE_CYCLE bursts: 16384 captures, more than a cache of
 *			complete stacks holds. The draw then starts over, as in
 *			real programs: they have many stacks, but most have
 *			occurred before.
 *	TREE_UNSEEN	The same without starting over: each changed frame is a
 *			new node in the tree of all stacks.
 *	TREE_OUTER	Unchanged frames stay for all bursts. With one frame
 *			changed there are 256 complete stacks.
 *	TREE_REPEATING	As TREE_OUTER, from 4 functions at each changed level:
 *			4 to the power of `changed` complete stacks.
 *
 * A wrapped hook is always called by the same function, like a program's own
 * xmalloc. The innermost return address is then always the same.
 *
 * Compiled twice, with and without frame pointers. Called by the main thread.
 *
 * I1  The sequence of calls does not depend on the hook.
 * I2  changed <= levels. If all of them are changed, only tree_run and its
 *     callers stay, as main and the C library's frames do in a program.
 * I3  All plans of a process run from one call, so that their stacks are the
 *     same down to main.
 */
#include "bench/call_tree.h"
#include "bench/count_mark.h"

#include <assert.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <valgrind/callgrind.h>

struct tree {
	unsigned levels;
	unsigned changed;
	unsigned back_to;	/* levels above it return */
	unsigned left;		/* captures until tree_turn */
	void (*hook)(void);
	uint64_t random, seed;
	unsigned innermost;	/* last choice of the innermost function */
	unsigned choice_mask;
	enum tree_draw draw;
	bool counted, timing;
	size_t burst, bursts;
	uint64_t start_ns, end_ns;
	uint64_t *burst_ns;
	uint64_t sum;
};

#define TREE_SEED UINT64_C(0x243f6a8885a308d3)

static void *tree_caller;	/* of tree_run, I3 */
static void (*tree_wrapped)(void);	/* what the wrapper calls */

static uint64_t tree_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Knuth's MMIX generator: one multiplication, and the high bits are good. */
static inline uint64_t tree_draw(struct tree *tree)
{
	tree->random = tree->random * UINT64_C(6364136223846793005) +
		       UINT64_C(1442695040888963407);
	return tree->random >> 40;
}

/* The function for the level inside `level`. The innermost one of a burst
 * steps by an odd number through all 256, from a random start. Not inlined,
 * so that the functions stay small and differ in the registers they save. */
static __attribute__((noinline)) unsigned tree_choose(struct tree *tree,
						      unsigned level)
{
	if (level + 1 == tree->levels && tree->draw != TREE_REPEATING) {
		tree->innermost = (tree->innermost + 97) & 255;
		return tree->innermost;
	}
	return tree_draw(tree) & tree->choice_mask;
}

/* For counters: callgrind, or a qemu plugin. */
static void tree_mark(void)
{
	CALLGRIND_TOGGLE_COLLECT;
	syscall(SYS_getppid, COUNT_MARK);
}

/* Begins a burst after the first capture of a new stack, or ends one. */
static __attribute__((noinline)) void tree_turn(struct tree *tree)
{
	uint64_t now;

	tree->back_to = tree->levels - tree->changed;
	if (!tree->timing) {
		tree->timing = true;
		tree->left = TREE_BURST;
		if (tree->counted)
			tree_mark();
		tree->start_ns = tree_now();
		return;
	}
	now = tree_now();
	if (tree->counted)
		tree_mark();
	tree->timing = false;
	tree->left = 1;
	tree->burst_ns[tree->burst++] = now - tree->start_ns;
	if (tree->burst % TREE_CYCLE == 0 && tree->draw != TREE_UNSEEN)
		tree->random = tree->seed;
	tree->innermost = (unsigned)tree_draw(tree) & 255;
	if (now >= tree->end_ns)
		tree->bursts = tree->burst;
	if (tree->draw == TREE_NEW || tree->draw == TREE_UNSEEN ||
	    tree->burst == tree->bursts)
		tree->back_to = 0;
}

/* The code after the call keeps it from becoming a jump. */
static __attribute__((noinline)) void tree_wrapper(void)
{
	tree_wrapped();
	__asm__ volatile("" ::: "memory");
}

typedef void tree_function(struct tree *tree, unsigned level);
static tree_function *const tree_functions[256];

/* Each function's body: call the next level, or be the innermost one. */
static inline __attribute__((always_inline)) void tree_body(struct tree *tree,
							    unsigned level)
{
	do {
		if (level < tree->levels) {
			tree_functions[tree_choose(tree, level)](tree,
								 level + 1);
			continue;
		}
		tree->hook();
		if (--tree->left == 0)
			tree_turn(tree);
		else
			tree->back_to = tree->levels - tree->changed;
	} while (tree->back_to >= level);
}

/*
 * A function of the tree. Its number decides the size of its frame and how
 * many callee-saved registers it needs; used at the end, the number also
 * keeps the compiler from merging functions and from making tail calls.
 */
#define TREE_FUNCTION(hi, lo)                                               \
	static void tree_f##hi##lo(struct tree *tree, unsigned level)       \
	{                                                                   \
		enum { N = 0x##hi##lo };                                    \
		volatile char pad[16 * (1 + N * 7 % 13)];                   \
		uint64_t a = tree->random, b = tree->sum ^ N;               \
                                                                            \
		pad[0] = (char)N;                                           \
		tree_body(tree, level);                                     \
		tree->sum += N + (uint64_t)pad[0];                          \
		if (N & 1)                                                  \
			tree->sum ^= a;                                     \
		if (N & 2)                                                  \
			tree->sum += b;                                     \
	}

#define TREE_ROW(M, hi)                                                     \
	M(hi, 0) M(hi, 1) M(hi, 2) M(hi, 3) M(hi, 4) M(hi, 5) M(hi, 6)      \
	M(hi, 7) M(hi, 8) M(hi, 9) M(hi, a) M(hi, b) M(hi, c) M(hi, d)      \
	M(hi, e) M(hi, f)

#define TREE_ALL(M)                                                         \
	TREE_ROW(M, 0) TREE_ROW(M, 1) TREE_ROW(M, 2) TREE_ROW(M, 3)         \
	TREE_ROW(M, 4) TREE_ROW(M, 5) TREE_ROW(M, 6) TREE_ROW(M, 7)         \
	TREE_ROW(M, 8) TREE_ROW(M, 9) TREE_ROW(M, a) TREE_ROW(M, b)         \
	TREE_ROW(M, c) TREE_ROW(M, d) TREE_ROW(M, e) TREE_ROW(M, f)

TREE_ALL(TREE_FUNCTION)

#define TREE_NAME(hi, lo) tree_f##hi##lo,
static tree_function *const tree_functions[256] = { TREE_ALL(TREE_NAME) };

size_t tree_run(const struct tree_plan *plan, uint64_t *burst_ns)
{
	struct tree tree = {
		.levels = plan->levels,
		.changed = plan->changed,
		.left = 1,
		.hook = plan->wrapped ? tree_wrapper : plan->hook,
		.seed = plan->seed ? plan->seed : TREE_SEED,
		.choice_mask = plan->draw == TREE_REPEATING ? 3 : 255,
		.draw = plan->draw,
		.counted = plan->counted,
		.bursts = plan->bursts,
		.end_ns = tree_now() + plan->budget_ns,
		.burst_ns = burst_ns,
	};

	assert(!tree_caller || tree_caller == __builtin_return_address(0));
	tree_caller = __builtin_return_address(0);	/* I3 */
	assert(plan->changed <= plan->levels);		/* I2 */
	assert(plan->bursts > 0);
	tree_wrapped = plan->hook;
	tree.random = tree.seed;
	tree.innermost = (unsigned)tree_draw(&tree) & 255;
	while (tree.burst < tree.bursts)
		tree_functions[tree_choose(&tree, 0)](&tree, 1);
	return tree.burst;
}
