/*
 * elf_kind.h: which processor an ELF file is for: its machine, word size and
 * order of bytes. A trace says the same of its program, by name.
 *
 * Pure; any thread.
 */
#ifndef GNOMON_ELF_KIND_H
#define GNOMON_ELF_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/symbol/elf/elf_tables.h"

struct elf_kind {
	unsigned machine;	/* EM_*; 0: not known */
	bool wide;		/* 64 bits */
	bool big;		/* big-endian */
	uint32_t flags;		/* e_flags */
};

struct elf_kind elf_kind_of(const struct elf_tables *tables);
/*
 * Of a trace, by what its INFO says (docs/FORMAT.md): `arch` and `byte_order`
 * may be NULL. Of a name that is not known, the machine is 0.
 */
struct elf_kind elf_kind_named(const char *arch, uint64_t word_bytes,
			       const char *byte_order);
/* Of programs of this machine; the machine is 0 if that has another name here. */
struct elf_kind elf_kind_here(void);
/* Whether code of the one can be of the other; yes, if either is not known. */
bool elf_kind_agree(const struct elf_kind *one, const struct elf_kind *other);

#endif
