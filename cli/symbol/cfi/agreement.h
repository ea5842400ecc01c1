/*
 * agreement.h: checks unwind tables against code. At each instruction of a
 * function it compares the table's row with the state of the symbolic executor:
 * the CFA, the place of the return address, and the places of the registers
 * that calls preserve.
 *
 * No state but the caller's: any thread.
 */
#ifndef GNOMON_AGREEMENT_H
#define GNOMON_AGREEMENT_H

#include "cli/base/text/buffer.h"
#include "cli/symbol/cfi/callframe.h"
#include "cli/symbol/cfi/symbolic_run.h"
#include "cli/symbol/elf/symtab.h"

enum agreement_verdict {
	AGREEMENT_AGREES,
	AGREEMENT_UNDECIDABLE,
	AGREEMENT_DISAGREES,
	AGREEMENT_VERDICTS
};

/* Why an instruction cannot be decided. */
enum agreement_reason {
	AGREEMENT_UNREACHED,	/* no known path leads to it */
	AGREEMENT_BASE,		/* the value of the CFA's register is unknown */
	AGREEMENT_SLOT,		/* the content of the stack slot is unknown */
	AGREEMENT_EXPRESSION,	/* of a kind that is not evaluated */
	AGREEMENT_UNDECODED,	/* unknown instructions */
	AGREEMENT_SIGNATURE,	/* the return address may or may not be
				 * signed */
	AGREEMENT_SIGNAL,	/* the kernel makes this frame */
	AGREEMENT_TOO_LARGE,
	AGREEMENT_NONSENSE,	/* the table's program is invalid */
	AGREEMENT_NO_CODE,	/* the code is not in the file */
	AGREEMENT_REASONS
};

#define AGREEMENT_CFA UINT32_MAX	/* in place of a column */

/* A rule of the table that the code contradicts, or that cannot be decided,
 * from the first such address on. */
struct agreement_finding {
	uint64_t address;
	size_t instructions;	/* number of such instructions */
	uint32_t column;	/* AGREEMENT_CFA or DWARF's number */
	char table[48], code[48];
};

struct agreement {
	enum agreement_verdict verdict;	/* the worst */
	size_t instructions, undecided;
	unsigned reasons;		/* bits of enum agreement_reason */
	bool part;	/* begins within a frame: its first row's */
	unsigned assumed;	/* symbolic_run.h */
	struct agreement_finding *findings;	/* disagreements */
	size_t count, capacity;
};

/* The checker for one file. */
struct agreement_checker {
	const struct callframe *table;
	const struct symtab *symbols;
	const struct machine *machine;
	struct machine_decoder decoder;
};

/* False: the machine's code is not supported. */
bool agreement_open(struct agreement_checker *checker,
		    const struct callframe *table,
		    const struct symtab *symbols);
void agreement_close(struct agreement_checker *checker);

/* named: a symbol says that a function begins at the entry. */
void agreement_check(struct agreement_checker *checker,
		     const struct callframe_entry *entry, bool named,
		     struct agreement *result);
void agreement_free(struct agreement *result);

/* The reason as text; also a key of JSON. */
const char *agreement_reason_text(enum agreement_reason reason);

/* Texts of a row's rules: "rsp+16", "c-8". */
void agreement_cfa_text(const struct machine *machine,
			const struct callframe_row *row, char *text,
			size_t size);
void agreement_rule_text(const struct machine *machine,
			 const struct callframe_row *row, unsigned column,
			 char *text, size_t size);
void agreement_value_text(const struct machine *machine,
			  struct symbolic_value value, char *text,
			  size_t size);

#endif
