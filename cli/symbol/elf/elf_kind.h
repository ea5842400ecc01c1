/*
 * elf_kind.h: the processor of an ELF file: machine, word size and byte order.
 * A trace has the same values of its program, by name.
 *
 * Pure; any thread.
 */
#ifndef GNOMON_ELF_KIND_H
#define GNOMON_ELF_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/symbol/elf/elf_tables.h"

struct elf_kind {
	unsigned machine;	/* EM_*; 0: unknown */
	bool wide;		/* 64 bits */
	bool big;		/* big-endian */
	uint32_t flags;		/* e_flags */
};

struct elf_kind elf_kind_of(const struct elf_tables *tables);
/*
 * From a trace's INFO (docs/FORMAT.md): `arch` and `byte_order` may be NULL.
 * The machine is 0 if the name is unknown.
 */
struct elf_kind elf_kind_named(const char *arch, uint64_t word_bytes,
			       const char *byte_order);
/* Of the host's programs; the machine is 0 if its name is unknown. */
struct elf_kind elf_kind_here(void);
/* Whether they may be the same; true if either is unknown. */
bool elf_kind_agree(const struct elf_kind *one, const struct elf_kind *other);

#endif
