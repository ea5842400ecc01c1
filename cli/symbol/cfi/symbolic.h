/*
 * symbolic.h: symbolic values of registers and stack during a function, as far
 * as unwinding needs them. Each value is one of
 *
 *	entry r      the value of register r at the function's entry: the
 *	             caller's value
 *	CFA + n      an address on the stack
 *	aligned + n  the same, from a base known only at run time: the stack
 *	             pointer after a function's prologue has aligned it
 *	dynamic + n  likewise: the stack pointer after alloca or a later
 *	             alignment
 *	n            a constant
 *	unknown
 *
 * Where paths meet, values that differ become unknown; so states only lose, and
 * loops end. Stores to unknown addresses are taken not to hit the stack:
 * compilers save registers where no other pointer points.
 *
 *  I1  At most one base of either kind is alive: a new one makes values of the
 *      old one unknown.
 *  I2  Slots are sorted by (base, offset), have one word each and do not
 *      overlap.
 *
 * No state but the caller's: any thread.
 */
#ifndef GNOMON_SYMBOLIC_H
#define GNOMON_SYMBOLIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Registers have DWARF's numbers up to SYMBOLIC_FLOATS. From there on are the 8
 * floating point registers that calls preserve, if any. */
#define SYMBOLIC_REGS 48
#define SYMBOLIC_FLOATS 40
#define SYMBOLIC_SLOTS 48	/* more are dropped */

enum symbolic_kind {
	SYMBOLIC_UNKNOWN,
	SYMBOLIC_ENTRY,
	SYMBOLIC_CFA,
	SYMBOLIC_ALIGNED,
	SYMBOLIC_DYNAMIC,
	SYMBOLIC_CONSTANT
};

struct symbolic_value {
	int64_t number;		/* 0 for UNKNOWN and ENTRY */
	uint8_t kind;
	uint8_t reg;		/* for ENTRY; else 0 */
};

/* Whether the return address is signed (AArch64's pointer authentication). */
enum symbolic_signed { SYMBOLIC_PLAIN, SYMBOLIC_SIGNED, SYMBOLIC_EITHER };

struct symbolic_slot {
	int64_t offset;
	struct symbolic_value value;	/* never unknown */
	uint8_t base;		/* SYMBOLIC_CFA, _ALIGNED or _DYNAMIC */
};

struct symbolic_state {
	struct symbolic_value reg[SYMBOLIC_REGS];
	struct symbolic_slot slot[SYMBOLIC_SLOTS];
	uint32_t slots;
	uint8_t signed_ra;	/* enum symbolic_signed */
};

static inline struct symbolic_value symbolic_unknown(void)
{
	return (struct symbolic_value){ 0 };
}

static inline struct symbolic_value symbolic_entry(unsigned reg)
{
	return (struct symbolic_value){ .kind = SYMBOLIC_ENTRY,
					.reg = (uint8_t)reg };
}

static inline struct symbolic_value symbolic_cfa(int64_t offset)
{
	return (struct symbolic_value){ offset, SYMBOLIC_CFA, 0 };
}

static inline struct symbolic_value symbolic_constant(int64_t number)
{
	return (struct symbolic_value){ number, SYMBOLIC_CONSTANT, 0 };
}

bool symbolic_same(struct symbolic_value a, struct symbolic_value b);
/* Unknown, unless one is a constant. */
struct symbolic_value symbolic_add(struct symbolic_value a,
				   struct symbolic_value b);
struct symbolic_value symbolic_plus(struct symbolic_value a, int64_t number);
struct symbolic_value symbolic_minus(struct symbolic_value a,
				     struct symbolic_value b);

/* All registers have their values at the entry. */
void symbolic_begin(struct symbolic_state *state);

/* The register becomes a new base: SYMBOLIC_ALIGNED or _DYNAMIC. */
void symbolic_make_base(struct symbolic_state *state, unsigned reg,
			enum symbolic_kind kind);

/* The word at an address; unknown if it was not stored. */
struct symbolic_value symbolic_load(const struct symbolic_state *state,
				    struct symbolic_value address);
/* Stores `size` bytes; the value is kept only if they are a word. */
void symbolic_store(struct symbolic_state *state,
		    struct symbolic_value address, unsigned size,
		    unsigned word, struct symbolic_value value);

/* The offset from a base, not below `lowest`, at which a value is stored. */
bool symbolic_find(const struct symbolic_state *state, enum symbolic_kind base,
		   struct symbolic_value value, int64_t lowest,
		   int64_t *offset);

/* The offset from the CFA at which the caller's value of a register is
 * stored. */
bool symbolic_saved(const struct symbolic_state *state, unsigned reg,
		    int64_t *offset);

/* Keep only what holds in both states; true: `to` lost something. */
bool symbolic_join(struct symbolic_state *to,
		   const struct symbolic_state *from);

/* Checks I2, and that values without a number have 0. With
 * GNOMON_DEBUG_ASSERTS. */
bool symbolic_is_valid(const struct symbolic_state *state);

#endif
