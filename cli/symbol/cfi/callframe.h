/*
 * callframe.h: the unwind tables of an ELF file, whatever machine it is for:
 * .eh_frame, .debug_frame (DWARF 5, 6.4; Linux Standard Base Core 5.0, 10) and
 * .ARM.exidx (exidx.h), all as rows of one kind.
 *
 *	entry: a function's code ──▶ rows: from here to there, the CFA is this,
 *	                             and each register of the caller's is that
 *
 * What runs in a program has a reader of its own (unwind/cfi.h), for its own
 * size of words, with the few registers that a walk needs. This one keeps all.
 *
 * The file may hold anything: what makes no sense is left out and counted.
 * Opened by one thread, asked by any.
 */
#ifndef GNOMON_CALLFRAME_H
#define GNOMON_CALLFRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/symbol/elf/elffile.h"

/* DWARF's numbers of registers; the highest that any of our machines saves are
 * ARM's d0 to d31, 256 to 287. */
#define CALLFRAME_COLUMNS 288

/* How the caller's value of a register is found, or the CFA. */
enum callframe_how {
	CALLFRAME_UNSPECIFIED,	/* no word about it: as the ABI has it */
	CALLFRAME_UNDEFINED,
	CALLFRAME_SAME,
	CALLFRAME_OFFSET,	/* at CFA + value */
	CALLFRAME_VAL_OFFSET,	/* is CFA + value */
	CALLFRAME_REGISTER,	/* in register number value */
	CALLFRAME_EXPRESSION,	/* at the expression's result */
	CALLFRAME_VAL_EXPRESSION	/* is the expression's result */
};

/* For expressions a value is where its bytes lie in the section: a ULEB128
 * size and so many bytes (callframe_expression). */
struct callframe_row {
	uint64_t start, end;		/* addresses in the file */
	uint8_t cfa_how;		/* CALLFRAME_OFFSET: a register and an
					 * offset; _EXPRESSION; or none yet */
	uint16_t cfa_reg;
	int64_t cfa_offset;
	uint64_t cfa_expression;
	bool signs;			/* the return address is signed */
	uint8_t how[CALLFRAME_COLUMNS];
	int64_t value[CALLFRAME_COLUMNS];
};

enum callframe_source { CALLFRAME_EH, CALLFRAME_DEBUG, CALLFRAME_EXIDX };

/* What a CIE says. */
struct callframe_common {
	uint64_t at;			/* in its section */
	uint64_t code_align;
	int64_t data_align;
	uint64_t program, program_end;	/* in its section */
	uint16_t ra_column;
	uint8_t address_size;
	uint8_t encoding;		/* of addresses */
	uint8_t lsda_encoding;		/* DW_EH_PE_omit: there are none */
	bool has_size;			/* of augmentation data */
	bool signal;			/* the kernel returns here */
};

struct callframe_entry {
	uint64_t start, end;		/* the code */
	uint8_t source;			/* enum callframe_source */
	bool thumb;			/* EXIDX: by bit 0 of its address */
	uint32_t common;		/* index; not of EXIDX */
	uint32_t index;			/* EXIDX: its number */
	uint64_t at;			/* where the record begins */
	uint64_t program, program_end;
	uint64_t lsda;			/* address; 0: none */
};

struct callframe {
	struct elffile *file;
	struct span section[2];		/* by source */
	uint64_t address[2];		/* where they are mapped */
	uint8_t address_size;
	unsigned machine;		/* EM_* */
	struct callframe_common *commons;
	size_t common_count, common_capacity;
	struct callframe_entry *entries;	/* by address */
	size_t count, capacity;
	size_t left_out;		/* records that make no sense */
};

/* The file has to stay open. */
void callframe_open(struct callframe *table, struct elffile *file);
void callframe_free(struct callframe *table);

/* The entry that covers an address, of several the last that begins; NULL:
 * none does. */
const struct callframe_entry *callframe_find(const struct callframe *table,
					     uint64_t address);

/* The first entry that begins behind an address; the count if none does. */
size_t callframe_behind(const struct callframe *table, uint64_t address);

/*
 * Calls `each` for the rows of an entry, in order and without gaps, until it
 * says false. A row is gone when it returns. False: the entry makes no sense
 * from some address on, up to which there were rows.
 */
bool callframe_rows(const struct callframe *table,
		    const struct callframe_entry *entry,
		    bool (*each)(void *owner, const struct callframe_row *row),
		    void *owner);

/* The bytes of an expression; empty if they do not lie in the section. */
struct span callframe_expression(const struct callframe *table,
				 const struct callframe_entry *entry,
				 uint64_t value);

/* The column of the return address. */
unsigned callframe_ra(const struct callframe *table,
		      const struct callframe_entry *entry);

/* How DW_EH_PE_* pointers are written, and what is added. */
uint64_t callframe_pointer(const struct callframe *table, struct bytes *bytes,
			   uint64_t address, uint8_t encoding);

#endif
