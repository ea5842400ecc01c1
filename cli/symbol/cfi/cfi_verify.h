/*
 * cfi_verify.h: checks unwind tables against code. At each instruction of a
 * function it compares the table's row with the state of the symbolic executor:
 * the CFA, the place of the return address, and the places of the registers
 * that calls preserve.
 *
 * No state but the caller's: any thread.
 */
#ifndef GNOMON_CFI_VERIFY_H
#define GNOMON_CFI_VERIFY_H

#include "cli/base/text/buffer.h"
#include "cli/symbol/cfi/callframe.h"
#include "cli/symbol/cfi/symbolic_run.h"
#include "cli/symbol/elf/symtab.h"

enum cfi_verify_verdict {
	CFI_VERIFY_AGREES,
	CFI_VERIFY_UNDECIDABLE,
	CFI_VERIFY_DISAGREES,
	CFI_VERIFY_VERDICTS
};

/* Why an instruction cannot be decided. */
enum cfi_verify_reason {
	CFI_VERIFY_UNREACHED,	/* no known path leads to it */
	CFI_VERIFY_BASE,	/* the value of the CFA's register is unknown */
	CFI_VERIFY_SLOT,	/* the content of the stack slot is unknown */
	CFI_VERIFY_EXPRESSION,	/* of a kind that is not evaluated */
	CFI_VERIFY_UNDECODED,	/* unknown instructions */
	CFI_VERIFY_SIGNATURE,	/* the return address may or may not be
				 * signed */
	CFI_VERIFY_SIGNAL,	/* the kernel makes this frame */
	CFI_VERIFY_TOO_LARGE,
	CFI_VERIFY_INVALID,	/* the table's program is invalid */
	CFI_VERIFY_NO_CODE,	/* the code is not in the file */
	CFI_VERIFY_REASONS
};

#define CFI_VERIFY_CFA UINT32_MAX	/* in place of a column */

/* A rule of the table that the code contradicts, or that cannot be decided,
 * from the first such address on. */
struct cfi_verify_finding {
	uint64_t address;
	size_t instructions;	/* number of such instructions */
	uint32_t column;	/* CFI_VERIFY_CFA or DWARF's number */
	char table[48], code[48];
};

struct cfi_verify_result {
	enum cfi_verify_verdict verdict;	/* the worst */
	size_t instructions, undecided;
	unsigned reasons;		/* bits of enum cfi_verify_reason */
	/* The entry starts in the body of a function, as GCC's .cold does. The
	 * first row is then taken as right. */
	bool starts_in_body;
	unsigned assumed;	/* targets of jumps by registers: see
				 * symbolic_run.assumed */
	struct cfi_verify_finding *findings;	/* disagreements */
	size_t count, capacity;
};

/* For one file. */
struct cfi_verifier {
	const struct callframe *table;
	const struct symtab *symbols;
	const struct machine *machine;
	struct machine_decoder decoder;
};

/* False: the machine's code is not supported. */
bool cfi_verify_open(struct cfi_verifier *verifier,
		     const struct callframe *table,
		     const struct symtab *symbols);
void cfi_verify_close(struct cfi_verifier *verifier);

/*
 * Checks one entry of the table, with entry->thumb set. named: a symbol says
 * that a function begins there. Initialises *result in any case; call
 * cfi_verify_free after it.
 */
void cfi_verify_entry(struct cfi_verifier *verifier,
		      const struct callframe_entry *entry, bool named,
		      struct cfi_verify_result *result);
void cfi_verify_free(struct cfi_verify_result *result);

/* The reason as text; also a key of JSON. */
const char *cfi_verify_reason_text(enum cfi_verify_reason reason);

/* Texts of a row's rules: "rsp+16", "c-8". They are cut to size - 1 bytes. */
void cfi_verify_cfa_text(const struct machine *machine,
			 const struct callframe_row *row, char *text,
			 size_t size);
void cfi_verify_rule_text(const struct machine *machine,
			  const struct callframe_row *row, unsigned column,
			  char *text, size_t size);
void cfi_verify_value_text(const struct machine *machine,
			   struct symbolic_value value, char *text,
			   size_t size);

#endif
