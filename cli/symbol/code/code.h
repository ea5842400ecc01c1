/*
 * code.h: the machine code of an image: ranges and bytes of functions, the
 * source line of an instruction, the target of a call. For the few functions
 * that are disassembled; all other look-ups use symbols.h.
 *
 * Addresses are run-time addresses. All results live as long as the struct
 * code.
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
	const char *symbol;	/* mangled; NULL: its end is known from an
				 * unwind table or not at all */
};

struct code_line {
	const char *file;	/* NULL: unknown */
	const char *directory;	/* base of a relative `file`; or NULL */
	unsigned line;
};

struct code;

/* Never NULL. The file is searched as in symbols_find. */
struct code *code_open(const struct debugfile_places *places,
		       const struct symbol_image *image);
/* Code that is in no file; the caller owns `bytes`. */
struct code *code_open_bytes(const struct elf_kind *kind, uint64_t start,
			     const uint8_t *bytes, size_t size);
void code_free(struct code *code);

/* The processor of the code; machine 0: no file was found. */
const struct elf_kind *code_kind(const struct code *code);
const char *code_path(const struct code *code);	/* NULL: not found */

/*
 * The function around an address. Without a symbol: the range of its unwind
 * table entry, or else the space between the neighbouring symbols, cut to a few
 * KiB. False: not code of the image.
 */
bool code_range_at(struct code *code, uint64_t address,
		   struct code_range *range);
/*
 * The kind of instructions at an address of a range, or whether it is data;
 * *end: where that ends, at most the end of the range. False: unknown, which is
 * usual where a processor has one kind.
 */
bool code_mapping(struct code *code, const struct code_range *range,
		  uint64_t address, enum mapping_kind *kind, uint64_t *end);
/* NULL: the bytes are missing, as in a file with only symbols. */
const uint8_t *code_bytes(struct code *code, uint64_t start, size_t size);
/* The line of the instruction at exactly this address. */
bool code_line(struct code *code, uint64_t address, struct code_line *line);
/* The symbol at an address, mangled, and the offset from its start; also for
 * PLT stubs. NULL: none. */
const char *code_name(struct code *code, uint64_t address, uint64_t *offset);
/* The symbol whose address the loader stores at this address; NULL: none. */
const char *code_slot(struct code *code, uint64_t address);
/* Whether the loader stores an address there; *target: that address, if known
 * without its symbol, else 0. */
bool code_slot_target(struct code *code, uint64_t address, uint64_t *target);
/* The value of gp in MIPS functions; false: none, as on all other machines. */
bool code_gp(const struct code *code, uint64_t *gp);

#endif
