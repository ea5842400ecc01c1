/*
 * agreement.h: whether unwind tables say what the code does: at each
 * instruction of a function the row of the table is held against the state of
 * the symbolic executor: the CFA, where the return address is, and where the
 * registers are that calls preserve.
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

/* Why something is not decided. */
enum agreement_reason {
	AGREEMENT_UNREACHED,	/* no path is known to lead there */
	AGREEMENT_BASE,		/* the CFA's register holds something unknown */
	AGREEMENT_SLOT,		/* what lies on the stack there is unknown */
	AGREEMENT_EXPRESSION,	/* of a kind that is not evaluated */
	AGREEMENT_UNDECODED,	/* instructions that are not known */
	AGREEMENT_SIGNATURE,	/* the return address may be signed or not */
	AGREEMENT_SIGNAL,	/* the kernel makes this frame */
	AGREEMENT_TOO_LARGE,
	AGREEMENT_NONSENSE,	/* the table's program is none */
	AGREEMENT_NO_CODE,	/* its bytes are not in the file */
	AGREEMENT_REASONS
};

#define AGREEMENT_CFA UINT32_MAX	/* in place of a column */

/* Something that the table says and the code does not do, or that is not
 * known, from the first address on. */
struct agreement_finding {
	uint64_t address;
	size_t instructions;	/* where this is so */
	uint32_t column;	/* AGREEMENT_CFA or DWARF's number */
	char table[48], code[48];
};

struct agreement {
	enum agreement_verdict verdict;	/* the worst */
	size_t instructions, undecided;
	unsigned reasons;		/* bits of enum agreement_reason */
	bool part;	/* begins within a frame: that of its first row */
	unsigned assumed;	/* symbolic_run.h */
	struct agreement_finding *findings;	/* disagreements */
	size_t count, capacity;
};

/* The checks of one file. */
struct agreement_checker {
	const struct callframe *table;
	const struct symtab *symbols;
	const struct machine *machine;
	struct machine_decoder decoder;
};

/* False: code of this machine is not known. */
bool agreement_open(struct agreement_checker *checker,
		    const struct callframe *table,
		    const struct symtab *symbols);
void agreement_close(struct agreement_checker *checker);

/* named: a symbol says that a function begins there. */
void agreement_check(struct agreement_checker *checker,
		     const struct callframe_entry *entry, bool named,
		     struct agreement *result);
void agreement_free(struct agreement *result);

/* In words, for people. */
const char *agreement_reason_text(enum agreement_reason reason);

/* How a row says it: "rsp+16", "c-8". */
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
