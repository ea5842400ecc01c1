/*
 * code.h: the machine code of an image: where its functions begin and end,
 * their bytes, the source line of an instruction, what a call calls. For few
 * functions that somebody looks at closely; symbols.h is for all the others.
 *
 * Addresses are those at run time. Everything returned lives as long as the
 * struct code.
 */
#ifndef GNOMON_CODE_H
#define GNOMON_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/symbol/code/mapping.h"
#include "cli/symbol/elf/elf_kind.h"
#include "cli/symbol/names/symbols.h"

struct code_range {
	uint64_t start, end;
	const char *symbol;	/* mangled; NULL: only its unwind table or
				 * nothing at all says where it ends */
};

struct code_line {
	const char *file;	/* NULL: not known */
	const char *directory;	/* that it is relative to; or NULL */
	unsigned line;
};

struct code;

/* Never NULL. The file is looked for as symbols_find does. */
struct code *code_open(const struct debugfile_places *places,
		       const struct symbol_image *image);
/* Code that is in no file: `bytes` stay the caller's. */
struct code *code_open_bytes(const struct elf_kind *kind, uint64_t start,
			     const uint8_t *bytes, size_t size);
void code_free(struct code *code);

/* What its instructions are; machine 0: no file was found. */
const struct elf_kind *code_kind(const struct code *code);
const char *code_path(const struct code *code);	/* NULL: not found */

/*
 * The function around an address. Without a symbol it is what an unwind table
 * calls a function, or else the space between the symbols around it, of which
 * no more than some KiB are told. False: not code of the image.
 */
bool code_range_at(struct code *code, uint64_t address,
		   struct code_range *range);
/*
 * Of which kind the instructions at an address of a range are, or that it is
 * data between them, and where that ends: no further than the range. False:
 * nothing says so, which is usual where a processor has one kind.
 */
bool code_mapping(struct code *code, const struct code_range *range,
		  uint64_t address, enum mapping_kind *kind, uint64_t *end);
/* NULL: the bytes are not there, as in a file of symbols alone. */
const uint8_t *code_bytes(struct code *code, uint64_t start, size_t size);
/* Of the instruction at exactly this address. */
bool code_line(struct code *code, uint64_t address, struct code_line *line);
/* The symbol at an address, mangled, and how far behind its start it is; also
 * of stubs (PLT) that only jump on. NULL: none. */
const char *code_name(struct code *code, uint64_t address, uint64_t *offset);
/* The symbol whose address the loader writes to this one; NULL: none. */
const char *code_slot(struct code *code, uint64_t address);
/* Whether the loader writes something there; the address, where it is known
 * without its symbol, else 0. */
bool code_slot_target(struct code *code, uint64_t address, uint64_t *target);
/* What MIPS' functions have in gp; false: none, as on all other machines. */
bool code_gp(const struct code *code, uint64_t *gp);

#endif
