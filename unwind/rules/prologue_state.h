/*
 * prologue_state.h: symbolic execution of code: register values are only known
 * by their origin:
 *
 *	CONSTANT n	n
 *	ENTRY r, n	register r's value at the start, + n
 *	WORD r, n, m	the word at ENTRY r, n at the start, + m
 *	BEYOND r, n, m	the word at WORD r, n, m at the start
 *	UNKNOWN		anything
 *
 * Forward: executes from pc until the function returns. There the stack pointer
 * is the CFA, as ENTRY sp or fp; the return address is a WORD in between; each
 * callee-saved register is its own ENTRY, or a WORD. At a branch the path that
 * does not jump is followed first.
 *
 * Where calls push, a function that has realigned its stack pointer keeps the
 * CFA in its frame: the CFA is then a WORD, and the return address BEYOND.
 *
 * Without a backward analysis (ARCH_DECODES_BACK), another exit must agree, and
 * the stack pointer must be aligned as calls require, which it is not at the
 * end of another function.
 *
 * Backward: the nearest store of a return address before pc, and the last
 * decrease of the stack pointer before that store, are the function's
 * beginning. From there the instructions are executed in address order up to
 * pc, passing over exits in between. ENTRY sp is the CFA then.
 *
 * The code after a call that never returns is often another function. The
 * forward analysis ends there: that function stores a return address of its
 * own, or returns by one that no instruction has loaded.
 *
 * Any thread, also signal handlers.
 *
 * I1  Code is read only inside the given bounds, and at most `left`
 *     instructions.
 */
#ifndef GNOMON_UNWIND_PROLOGUE_STATE_H
#define GNOMON_UNWIND_PROLOGUE_STATE_H

#include "unwind/rules/prologue.h"

#if ARCH_DECODES

enum {
	STATES_MAX = ARCH_DECODES_BACK ? 4 : 8,	/* still to be followed; if
						 * there are more, the newest */
	JUMPS_MAX = 32		/* backward jumps; each is followed once */
};

enum value_kind { UNKNOWN, CONSTANT, ENTRY, WORD, BEYOND };

struct value {
	uint8_t kind;		/* enum value_kind */
	uint8_t reg;
	int16_t m;		/* of WORD and BEYOND; else 0 */
	int32_t n;
};

struct code_state {
	uintptr_t pc;
	unsigned mode;		/* of the processor, as in arch_decode */
	struct value reg[ARCH_REG_COUNT];
	/* The slot where a register's ENTRY was stored, if it was; or, forward
	 * only, the register's value when it was last stored. */
	struct value home[ARCH_REG_COUNT], held[ARCH_REG_COUNT];
};

struct search {
	const struct prologue_code *code;
	bool exact;
	unsigned left;		/* operations */
	unsigned state_count;
	struct code_state state[STATES_MAX];
	unsigned jumps;
	uintptr_t jump[JUMPS_MAX];
};

/* v + n; UNKNOWN if that cannot be represented. */
struct value value_add(struct value v, int64_t n);
/* Whether v has these fields, with m = 0. */
bool value_is(struct value v, unsigned kind, unsigned reg, int32_t n);

/* Whether a CFA may be relative to it. */
bool state_is_base(unsigned reg);

/* Whether it is callee-saved, the stack pointer excluded. */
bool state_preserves(unsigned reg);

/* Whether a function may store or load these registers in one instruction, the
 * return address among them. Compilers that need space add unused registers
 * next to the callee-saved ones: a list with any other register is data. */
bool state_is_list(uint64_t mask);

/* Starts at pc; unless `exact`, pc follows a call. */
void state_begin(struct code_state *w, uintptr_t pc, unsigned mode, bool exact);

/* Applies an instruction's effect on registers, wherever it jumps. */
void state_apply(struct code_state *w, const struct arch_operation *op);

/* Decodes the instruction at w->pc and advances w->pc. False: there is none. */
bool state_next(struct search *s, struct code_state *w,
		struct arch_operation *op);

/* Whether a frame may look like this. exact: a signal may have interrupted it
 * where the stack pointer had any alignment to words. */
bool state_is_sane(const struct prologue_frame *f, bool exact);

/* False: not known. */
bool prologue_forward(struct search *s, uintptr_t pc, struct prologue_frame *f);

/* After prologue_forward: whether another exit, if one is near, agrees. */
bool prologue_is_confirmed(struct search *s, const struct prologue_frame *f);

/* Backward analysis. False: not known. *at: the state at pc. */
bool prologue_backward(struct search *s, uintptr_t pc, struct prologue_frame *f,
		       struct code_state *at);

#endif

#endif
