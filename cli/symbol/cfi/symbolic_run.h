/*
 * symbolic_run.h: runs a function symbolically: from its entry along all paths,
 * until the state before each instruction is what holds on every path that
 * leads there (Kildall, POPL '73). Bastian, Kell and Zappa Nardelli (OOPSLA '19)
 * do so to check and to make unwind tables.
 *
 * Where a path leads is not always known:
 *
 *	a call           comes back, unless what follows it is reached with
 *	                 another stack pointer otherwise, or the caller knows
 *	                 better (`returns`)
 *	a jump by a      goes to all code of the function that nothing else
 *	register         leads to: what switches are made of. Counted as
 *	                 `assumed`
 *	an exception     goes to the landing pads that the caller names
 *
 * No state but the caller's: any thread.
 */
#ifndef GNOMON_SYMBOLIC_RUN_H
#define GNOMON_SYMBOLIC_RUN_H

#include "cli/symbol/cfi/machine.h"

#define SYMBOLIC_RUN_SIZE (1u << 20)	/* bytes of a function */
#define SYMBOLIC_RUN_NODES 60000	/* instructions of one; 2 KiB each */
/* A state may lose each register and slot once. */
#define SYMBOLIC_RUN_STEPS (SYMBOLIC_RUN_NODES * 16)

/* Calls in [start, end) may end at the pad. */
struct symbolic_pad {
	uint64_t start, end, pad;
};

/* What is asked to be run; all of it stays the caller's. */
struct symbolic_wanted {
	struct machine_decoder *decoder;
	uint64_t start, end;
	const uint8_t *bytes;		/* all of the code */
	const struct symbolic_state *entry;
	const struct symbolic_pad *pads;
	size_t pad_count;
	/* Whether a call that ends at an address comes back; NULL: all do. */
	bool (*returns)(void *owner, uint64_t behind);
	/* Hears of each jump to elsewhere; bare: with stack and return address
	 * as at the entry. False: no function goes on there in this way. NULL:
	 * nobody does. */
	bool (*leaves)(void *owner, uint64_t to, bool bare);
	void *owner;
};

/* An instruction, and the state before it. */
struct symbolic_node {
	uint64_t address;
	uint8_t size;
	bool flows;		/* not only as a delay slot */
	bool strong;		/* reached by more than calls that come back */
	uint8_t flow;		/* enum machine_flow */
	uint32_t owner;		/* what led there first: 0, the entry; else the
				 * call with this number */
	struct symbolic_state state;
};

/* That what one call comes back to leads to code that another led to first. */
struct symbolic_link {
	uint32_t from, to;
};

struct symbolic_run {
	struct symbolic_wanted wanted;
	uint32_t *node_at;	/* by offset: index + 1; 0: not reached; or
				 * what it is for data */
	struct symbolic_node *nodes;
	size_t count, capacity;
	uint64_t *work;
	size_t work_count, work_capacity;
	struct symbolic_later *later;	/* calls that come back */
	size_t later_count, later_capacity, later_done;
	uint32_t current;	/* the call that is worked off; 0: none */
	struct symbolic_link *links;
	size_t link_count, link_capacity;
	/* of jumps by registers, joined: with a frame; with the stack as at
	 * the entry */
	struct symbolic_state jump[2];
	bool has_jump[2];
	uint64_t steps;
	/* what happened */
	unsigned indirect;	/* jumps by registers */
	unsigned exits;		/* returns, and jumps to elsewhere, with stack
				 * and return address as at the entry */
	unsigned odd_exits;	/* returns without, and places where a return
				 * address is saved that is not there any more:
				 * it is more than a function, or none */
	bool lost;		/* at a return nobody knows where that leads, or
				 * how far the stack pointer is from the CFA */
	/* What was taken for granted when that happened for the first time:
	 * that a call comes back there, or a jump by a register leads there.
	 * 0: it did so before. */
	uint64_t odd_from;
	bool odd_is_call;
	uint32_t odd_call;	/* its number, if it is one */
	unsigned assumed;	/* pieces taken for their targets */
	unsigned bad;		/* instructions that cannot be decoded */
	uint64_t first_bad;	/* address; 0: none */
	unsigned guessed;
	unsigned unreached;	/* bytes, without padding */
	bool too_large;
};

/* Nodes are in the order of addresses then. To be freed in any case. */
void symbolic_run(struct symbolic_run *run,
		  const struct symbolic_wanted *wanted);
void symbolic_run_free(struct symbolic_run *run);

/*
 * Where it was odd behind a call (odd_call), that one does not come back, or one
 * of those it is behind, as long as these lead to no proper exit either. Where a
 * call would come back to, and the next outer one that may be to blame; 0: none.
 */
uint64_t symbolic_run_suspect(const struct symbolic_run *run, uint32_t call,
			      uint32_t *outer);

/* NULL: no path leads there. */
const struct symbolic_node *symbolic_run_at(const struct symbolic_run *run,
					    uint64_t address);
/* The first code at or behind an address that nothing leads to, and that is no
 * data; the end. */
uint64_t symbolic_run_unreached(const struct symbolic_run *run, uint64_t from);

#endif
