/*
 * machine.h: an architecture for the symbolic executor: its registers, and the
 * effect of each instruction on registers and stack. Each machine is a file of
 * this folder, machine_NAME.c.
 *
 * Instructions that move the stack pointer, or registers from and to the stack,
 * are modelled exactly. All others make the registers they write unknown. An
 * undecodable instruction ends the path (MACHINE_BAD), or its effect is
 * over-estimated (`guessed`).
 */
#ifndef GNOMON_CFI_MACHINE_H
#define GNOMON_CFI_MACHINE_H

#include <capstone/capstone.h>

#include "cli/symbol/cfi/symbolic.h"

/* Where execution continues after an instruction. */
enum machine_flow {
	MACHINE_NEXT,
	MACHINE_JUMP,		/* to the target; no target: anywhere */
	MACHINE_BRANCH,		/* to the target or the next */
	MACHINE_CALL,		/* to the next, if the call returns */
	MACHINE_RETURN,
	MACHINE_STOP,		/* a trap: nowhere */
	MACHINE_BAD		/* undecodable */
};

struct machine_step {
	uint8_t flow;		/* enum machine_flow */
	uint8_t size;		/* bytes */
	bool has_target;
	/* The next instruction is executed first (delay slot). */
	bool delayed;
	bool nullified;		/* the delay slot only if the branch is taken */
	bool guessed;		/* effect over-estimated */
	bool nothing;		/* no effect, as in padding */
	bool saves_ra;		/* stores the return address's register on the
				 * stack, as functions do once */
	bool thumb;		/* ARM: the target's state */
	uint64_t target;
	uint64_t literal;	/* address of a constant in the code that it
				 * loads; 0: none */
};

/* A jump table in the code: each word is the distance of its target from the
 * table. */
struct machine_table {
	uint64_t start;		/* address */
	uint32_t words;		/* 0: length unknown */
	uint8_t unit;		/* bytes of a word: 1, 2, or 4 (signed) */
	uint8_t scale;		/* bytes for each unit of a word */
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
	uint8_t entry_offset;	/* CFA - sp at a function's entry */
	/* The return address is on the stack, right below the CFA, not in a
	 * register. */
	bool ra_on_stack;
	uint16_t float_column;	/* DWARF's number of the first floating point
				 * register that calls preserve; 0: none */
	uint16_t half_column;	/* DWARF's number of its lower half, which
				 * compilers use too; 0: none */
	uint64_t preserved;	/* by calls, without sp: a bit for each */
	/*
	 * Executes the instruction at an address; at most `left` bytes are
	 * readable. The executor, not this function, clobbers registers for
	 * calls.
	 */
	void (*step)(struct machine_decoder *decoder, uint64_t address,
		     const uint8_t *bytes, size_t left,
		     struct symbolic_state *state, struct machine_step *step);
	/* Whether an instruction saves the return address, as only the first
	 * instructions of functions do; NULL: that identifies no functions. */
	bool (*begins)(const struct machine_decoder *decoder,
		       const uint8_t *bytes, size_t left);
	/* Whether the jump at `address` uses a table. `code` covers `start` to
	 * after the jump. NULL: there are no such jumps. */
	bool (*find_table)(const struct machine_decoder *decoder,
			   const uint8_t *code, uint64_t start,
			   uint64_t address, struct machine_table *table);
};

/* NULL: unsupported file. */
const struct machine *machine_of(unsigned elf_machine, bool wide);

/* False: Capstone was built without this machine. */
bool machine_open(struct machine_decoder *decoder,
		  const struct machine *machine, bool big);
void machine_close(struct machine_decoder *decoder);

/* The state at a function's entry. */
void machine_begin(const struct machine *machine,
		   struct symbolic_state *state);
/* The state after a call returns. */
void machine_return(const struct machine *machine,
		    struct symbolic_state *state);

/* The register for a column of DWARF's, or -1: not modelled. */
int machine_register(const struct machine *machine, unsigned column);
/* The column for a register; -1: this machine has no such register. */
int machine_column(const struct machine *machine, unsigned reg);
/* The register's name; "" if none. */
const char *machine_register_name(const struct machine *machine,
				  unsigned column, char text[16]);

extern const struct machine machine_x86_64, machine_aarch64, machine_mips64,
	machine_arm;

/* find_table of machine_arm (machine_arm_table.c). */
bool machine_arm_table(const struct machine_decoder *decoder,
		       const uint8_t *code, uint64_t start, uint64_t address,
		       struct machine_table *table);

#endif
