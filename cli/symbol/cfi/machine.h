/*
 * machine.h: what the symbolic executor has to know of an architecture: its
 * registers, and what each instruction does to registers and stack. A machine
 * is one file of this folder, machine_NAME.c.
 *
 * Instructions that move the stack pointer, or registers from and to the stack,
 * are modelled exactly; of all others, what they write is unknown. What cannot
 * be decoded ends the path (SYMBOLIC_BAD), or its effect is over-estimated
 * (`guessed`).
 */
#ifndef GNOMON_CFI_MACHINE_H
#define GNOMON_CFI_MACHINE_H

#include <capstone/capstone.h>

#include "cli/symbol/cfi/symbolic.h"

/* Where an instruction goes on. */
enum machine_flow {
	MACHINE_NEXT,
	MACHINE_JUMP,		/* to the target; no target: anywhere */
	MACHINE_BRANCH,		/* to the target or the next */
	MACHINE_CALL,		/* to the next, if it comes back */
	MACHINE_RETURN,
	MACHINE_STOP,		/* a trap: nowhere */
	MACHINE_BAD		/* it cannot be decoded */
};

struct machine_step {
	uint8_t flow;		/* enum machine_flow */
	uint8_t size;		/* bytes */
	bool has_target;
	/* The next instruction is executed before it goes elsewhere. */
	bool delayed;
	bool nullified;		/* that one only if the branch is taken */
	bool guessed;		/* not known exactly: over-estimated */
	bool nothing;		/* padding does that */
	bool saves_ra;		/* it stores the return address's register on
				 * the stack, as functions do once */
	bool thumb;		/* ARM: the target's state */
	uint64_t target;
	uint64_t literal;	/* a word of data in the code that it loads;
				 * 0: none */
};

/* What a switch jumps by, in the code itself: words that say how far behind the
 * table their target lies. */
struct machine_table {
	uint64_t start;		/* address */
	uint32_t words;		/* 0: nothing says how many */
	uint8_t unit;		/* bytes of one: 1, 2, or 4 with a sign */
	uint8_t scale;		/* bytes that it counts */
};

/* Decoders of one file's code, for one thread. */
struct machine_decoder {
	const struct machine *machine;
	csh handle, thumb_handle;
	cs_insn *instruction;
	bool big;
	bool thumb;		/* the function's state */
};

struct machine {
	unsigned elf_machine;	/* EM_* */
	bool wide;
	cs_arch arch;
	cs_mode mode;
	uint8_t word;		/* bytes */
	uint8_t alignment;	/* of instructions */
	uint8_t sp, ra;		/* DWARF's numbers; ra: the return address */
	uint8_t fp[2];		/* frame pointers, the usual one first */
	uint8_t entry_offset;	/* CFA - sp where a function begins */
	/* The return address is on the stack, right below the CFA, and no
	 * register. */
	bool ra_on_stack;
	uint16_t float_column;	/* DWARF's number of the first floating point
				 * register that calls preserve; 0: none */
	uint16_t half_column;	/* that of its lower half, which compilers use
				 * beside it; 0: none */
	uint64_t preserved;	/* by calls, but for sp: a bit for each */
	/*
	 * Executes the instruction at an address, of which no more than `left`
	 * bytes are there. Calls do not clobber yet: the executor does that.
	 */
	void (*step)(struct machine_decoder *decoder, uint64_t address,
		     const uint8_t *bytes, size_t left,
		     struct symbolic_state *state, struct machine_step *step);
	/* Whether an instruction saves the return address, as only the first
	 * ones of functions do; NULL: that does not tell functions apart. */
	bool (*begins)(const struct machine_decoder *decoder,
		       const uint8_t *bytes, size_t left);
	/* Whether the jump at `address` is by a table; `code` is from `start` to
	 * behind it. NULL: it has no such jumps. */
	bool (*find_table)(const struct machine_decoder *decoder,
			   const uint8_t *code, uint64_t start,
			   uint64_t address, struct machine_table *table);
};

/* NULL: none is known for this file. */
const struct machine *machine_of(unsigned elf_machine, bool wide);

/* False: Capstone was built without it. */
bool machine_open(struct machine_decoder *decoder,
		  const struct machine *machine, bool big);
void machine_close(struct machine_decoder *decoder);

/* The state where a function begins. */
void machine_begin(const struct machine *machine,
		   struct symbolic_state *state);
/* What a call leaves of it, when it has come back. */
void machine_return(const struct machine *machine,
		    struct symbolic_state *state);

/* The register in a column of DWARF's, or -1: it is not followed. */
int machine_register(const struct machine *machine, unsigned column);
/* The other way; -1: this machine has no such register. */
int machine_column(const struct machine *machine, unsigned reg);
/* Its name; "" for none. */
const char *machine_register_name(const struct machine *machine,
				  unsigned column, char text[16]);

extern const struct machine machine_x86_64, machine_aarch64, machine_mips64,
	machine_arm;

/* find_table of machine_arm (machine_arm_table.c). */
bool machine_arm_table(const struct machine_decoder *decoder,
		       const uint8_t *code, uint64_t start, uint64_t address,
		       struct machine_table *table);

#endif
