/*
 * symbolic_run.h: executes a function symbolically, from its entry along all
 * paths, until the state before each instruction holds on every path to it
 * (Kildall, POPL '73). Bastian, Kell and Zappa Nardelli (OOPSLA '19) check and
 * make unwind tables in this way.
 *
 * Some edges are not known for certain:
 *
 *	a call           returns, unless another path reaches the code after it
 *	                 with another stack pointer, or the caller knows better
 *	                 (`returns`)
 *	a jump by a      goes to all code of the function that no other path
 *	register         reaches: usually a switch. Counted as `assumed`
 *	an exception     goes to the landing pads that the caller gives
 *
 * No state but the caller's: any thread.
 */
#ifndef GNOMON_SYMBOLIC_RUN_H
#define GNOMON_SYMBOLIC_RUN_H

#include "cli/symbol/cfi/machine.h"

#define SYMBOLIC_RUN_SIZE (1u << 20)	/* bytes of a function, at most */
#define SYMBOLIC_RUN_NODES 60000	/* instructions of a function; 2 KiB
					 * each */
/* Each state can lose each register and slot once. */
#define SYMBOLIC_RUN_STEPS (SYMBOLIC_RUN_NODES * 16)

/* Calls in [start, end) may end at the pad. */
struct symbolic_pad {
	uint64_t start, end, pad;
};

/* What to run; the caller owns all of it. */
struct symbolic_wanted {
	struct machine_decoder *decoder;
	uint64_t start, end;
	const uint8_t *bytes;		/* all of the code */
	const struct symbolic_state *entry;
	const struct symbolic_pad *pads;
	size_t pad_count;
	/* Whether the call that ends at an address returns; NULL: all do. */
	bool (*returns)(void *owner, uint64_t behind);
	/* Called for each jump out of the function; bare: with stack and return
	 * address as at the entry. False: no function continues there in this
	 * way. NULL: not called. */
	bool (*leaves)(void *owner, uint64_t to, bool bare);
	void *owner;
};

/* An instruction, and the state before it. */
struct symbolic_node {
	uint64_t address;
	uint8_t size;
	bool flows;		/* executed, not only as a delay slot */
	bool strong;		/* reached not only by assuming that calls
				 * return */
	uint8_t flow;		/* enum machine_flow */
	uint32_t owner;		/* what reached it first: 0: the entry; else the
				 * call with this number */
	struct symbolic_state state;
};

/* The code after call `from` leads to code that call `to` reached first. */
struct symbolic_link {
	uint32_t from, to;
};

struct symbolic_run {
	struct symbolic_wanted wanted;
	uint32_t *node_at;	/* by offset: index + 1; 0: not reached; DATA:
				 * data */
	struct symbolic_node *nodes;
	size_t count, capacity;
	uint64_t *work;
	size_t work_count, work_capacity;
	struct symbolic_later *later;	/* calls that may return */
	size_t later_count, later_capacity, later_done;
	uint32_t current;	/* whose return is being processed; 0: none */
	struct symbolic_link *links;
	size_t link_count, link_capacity;
	/* Joined states of jumps by registers: with a frame; with the stack as
	 * at the entry. */
	struct symbolic_state jump[2];
	bool has_jump[2];
	uint64_t steps;
	/* results */
	unsigned indirect;	/* jumps by registers */
	unsigned exits;		/* returns, and jumps out, with stack and return
				 * address as at the entry */
	unsigned odd_exits;	/* other returns, and places with a return
				 * address that is no longer there: the code is
				 * more than one function, or none */
	bool lost;		/* at a return the target, or the distance of
				 * the stack pointer from the CFA, is unknown */
	/* The assumption before the first odd exit: that a call returns to this
	 * address, or that a jump by a register leads to it. 0: there was
	 * none. */
	uint64_t odd_from;
	bool odd_is_call;
	uint32_t odd_call;	/* number of that call */
	unsigned assumed;	/* targets assumed for jumps by registers */
	unsigned bad;		/* instructions that cannot be decoded */
	uint64_t first_bad;	/* address; 0: none */
	unsigned guessed;
	unsigned unreached;	/* bytes, without padding */
	bool too_large;
};

/* Runs the function; nodes are sorted by address then. Free in any case. */
void symbolic_run(struct symbolic_run *run,
		  const struct symbolic_wanted *wanted);
void symbolic_run_free(struct symbolic_run *run);

/*
 * The cause of an odd exit after a call (odd_call): that call does not return,
 * or one of the calls before it on the path, as far as these lead to no proper
 * exit. Returns where `call` would return to; *outer: the next outer suspect,
 * 0: none.
 */
uint64_t symbolic_run_suspect(const struct symbolic_run *run, uint32_t call,
			      uint32_t *outer);

/* NULL: no path leads there. */
const struct symbolic_node *symbolic_run_at(const struct symbolic_run *run,
					    uint64_t address);
/* The first code at or after an address that no path leads to and that is not
 * data; else the end. */
uint64_t symbolic_run_unreached(const struct symbolic_run *run, uint64_t from);

#endif
