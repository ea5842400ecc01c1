/*
 * prologue_way.h: code followed with values that say only where they come from:
 *
 *	CONSTANT n	n
 *	ENTRY r, n	what register r held where this began, + n
 *	WORD r, n, m	the word that lay at ENTRY r, n then, + m
 *	BEYOND r, n, m	the word that lay at WORD r, n, m then
 *	UNKNOWN		anything
 *
 * Onward, from pc: the function is followed until it is left. There the stack
 * pointer is the CFA, as ENTRY sp or fp; the return address is a WORD between;
 * each register that a called function must preserve is its own ENTRY, or a
 * WORD. Of a branch the way that does not jump is followed first.
 *
 * Where calls push, a function that has aligned its stack pointer keeps the CFA
 * in its frame: that is a WORD then, and the return address BEYOND.
 *
 * Where code is followed onward only (ARCH_DECODES_BACK), another way out has to
 * say the same, and the stack pointer has to be as calls want it, which it is not
 * at the end of another function.
 *
 * Back, to pc: the nearest store of a return address, and the stack pointer's
 * last decrease before it, are the function's beginning. From there all is
 * followed in the order in which it lies, passing over the ends that lie
 * between. ENTRY sp is the CFA then.
 *
 * What comes behind a call that never returns is often another function. There
 * the way onward ends: that stores a return address of its own, or returns by
 * one that nobody has loaded.
 *
 * Any thread, also signal handlers.
 *
 * I1  Code is read inside of the given bounds only, by at most `left`
 *     instructions.
 */
#ifndef GNOMON_UNWIND_PROLOGUE_WAY_H
#define GNOMON_UNWIND_PROLOGUE_WAY_H

#include "unwind/prologue.h"

#if ARCH_DECODES

enum {
	WAYS_MAX = ARCH_DECODES_BACK ? 4 : 8,	/* that are yet to be followed;
						 * of more, the newest */
	JUMPS_MAX = 32		/* backward, each followed once */
};

enum value_kind { UNKNOWN, CONSTANT, ENTRY, WORD, BEYOND };

struct value {
	uint8_t kind;		/* enum value_kind */
	uint8_t reg;
	int16_t m;		/* of WORD and BEYOND; else 0 */
	int32_t n;
};

struct way {
	uintptr_t pc;
	unsigned mode;		/* of the processor, as arch_decode has it */
	struct value reg[ARCH_REG_COUNT];
	/* The place where the ENTRY of a register was stored, if it was; or,
	 * onward only, what it held when it was stored last. */
	struct value home[ARCH_REG_COUNT], held[ARCH_REG_COUNT];
};

struct search {
	const struct prologue_code *code;
	bool exact;
	unsigned left;		/* operations */
	unsigned ways;
	struct way way[WAYS_MAX];
	unsigned jumps;
	uintptr_t jump[JUMPS_MAX];
};

/* UNKNOWN where it cannot be told. */
struct value value_add(struct value v, int64_t n);
/* m is 0 of it. */
bool value_is(struct value v, unsigned kind, unsigned reg, int32_t n);

/* Whether frames are found from it. */
bool way_is_base(unsigned reg);

/* What a called function preserves, the stack pointer apart. */
bool way_preserves(unsigned reg);

/* Whether a function may store or load these at once, and who called it among
 * them. Compilers that want room take registers of no use next to the preserved
 * ones: a list with any else is data. */
bool way_is_list(uint64_t mask);

/* From pc; unless `exact`, behind a call. */
void way_begin(struct way *w, uintptr_t pc, unsigned mode, bool exact);

/* What an instruction does to registers, wherever it leads. */
void way_apply(struct way *w, const struct arch_operation *op);

/* The instruction at w->pc, which is passed. False: there is none. */
bool way_next(struct search *s, struct way *w, struct arch_operation *op);

/* Whether a frame may be this one. exact: a signal may have come where the stack
 * pointer was any word's. */
bool way_is_sane(const struct prologue_frame *f, bool exact);

/* False: not known. */
bool prologue_onward(struct search *s, uintptr_t pc, struct prologue_frame *f);

/* Behind it: whether another way out, if one is near, says the same. */
bool prologue_is_confirmed(struct search *s, const struct prologue_frame *f);

/* False: not known. *at: how it is at pc. */
bool prologue_back(struct search *s, uintptr_t pc, struct prologue_frame *f,
		   struct way *at);

#endif

#endif
