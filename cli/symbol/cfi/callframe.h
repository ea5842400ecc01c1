/*
 * callframe.h: the unwind tables of an ELF file of any machine: .eh_frame,
 * .debug_frame (DWARF 5, 6.4; Linux Standard Base Core 5.0, 10) and .ARM.exidx
 * (exidx.h), all as rows of one form.
 *
 *	entry: a function's code ──▶ rows: for a range of its code, the CFA and
 *	                             the caller's value of each register
 *
 * The target has a reader of its own (unwind/rules/cfi.h), for its own word size and
 * the few registers that a walk needs. This one has all registers.
 *
 * The file may hold anything: invalid records are left out and counted. Opened
 * by one thread; read by any.
 */
#ifndef GNOMON_CALLFRAME_H
#define GNOMON_CALLFRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/symbol/elf/elffile.h"

/* DWARF's register numbers. The highest that a supported machine saves are
 * ARM's d0 to d31, 256 to 287. */
#define CALLFRAME_COLUMNS 288

/* How the caller's value of a register, or the CFA, is found. */
enum callframe_how {
	CALLFRAME_UNSPECIFIED,	/* no rule: as the ABI says */
	CALLFRAME_UNDEFINED,
	CALLFRAME_SAME,
	CALLFRAME_OFFSET,	/* at CFA + value */
	CALLFRAME_VAL_OFFSET,	/* is CFA + value */
	CALLFRAME_REGISTER,	/* in register number value */
	CALLFRAME_EXPRESSION,	/* at the expression's result */
	CALLFRAME_VAL_EXPRESSION	/* is the expression's result */
};

/* The value of an expression is its offset in the section: a ULEB128 size, then
 * the bytes (callframe_expression). */
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

/* A CIE. */
struct callframe_common {
	uint64_t at;			/* offset in its section */
	uint64_t code_align;
	int64_t data_align;
	uint64_t program, program_end;	/* in its section */
	uint16_t ra_column;
	uint8_t address_size;
	uint8_t encoding;		/* of addresses */
	uint8_t lsda_encoding;		/* DW_EH_PE_omit: no LSDA */
	bool has_size;			/* of augmentation data */
	bool signal;			/* the kernel returns here */
};

struct callframe_entry {
	uint64_t start, end;		/* the code */
	uint8_t source;			/* enum callframe_source */
	bool thumb;			/* ARM: state of its code; set by
					 * callers with symbols (binary.c) */
	uint32_t common;		/* index of its CIE; not for EXIDX */
	uint32_t index;			/* EXIDX: its number */
	uint64_t at;			/* offset of the record */
	uint64_t program, program_end;
	uint64_t lsda;			/* address; 0: none */
};

struct callframe {
	struct elffile *file;
	struct span section[2];		/* by source */
	uint64_t address[2];		/* addresses at which they are mapped */
	uint8_t address_size;
	unsigned machine;		/* EM_* */
	struct callframe_common *commons;
	size_t common_count, common_capacity;
	struct callframe_entry *entries;	/* by address */
	size_t count, capacity;
	size_t left_out;		/* invalid records */
};

/* The file has to stay open. */
void callframe_open(struct callframe *table, struct elffile *file);
void callframe_free(struct callframe *table);

/* The entry that covers an address, the last to begin if there are several;
 * NULL: none. */
const struct callframe_entry *callframe_find(const struct callframe *table,
					     uint64_t address);

/* The first entry that begins after an address; the count if there is none. */
size_t callframe_behind(const struct callframe *table, uint64_t address);

/*
 * Calls `each` for the rows of an entry, in order and without gaps, until it
 * returns false. A row is valid only during the call. False: the entry is
 * invalid from some address on; the rows before were passed.
 */
bool callframe_rows(const struct callframe *table,
		    const struct callframe_entry *entry,
		    bool (*each)(void *owner, const struct callframe_row *row),
		    void *owner);

/* The bytes of an expression; empty if they exceed the section. */
struct span callframe_expression(const struct callframe *table,
				 const struct callframe_entry *entry,
				 uint64_t value);

/* The column of the return address. */
unsigned callframe_ra(const struct callframe *table,
		      const struct callframe_entry *entry);

/* Reads a DW_EH_PE_* pointer and adds its base. */
uint64_t callframe_pointer(const struct callframe *table, struct bytes *bytes,
			   uint64_t address, uint8_t encoding);

#endif
