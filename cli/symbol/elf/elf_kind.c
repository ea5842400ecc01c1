/*
 * elf_kind.c: see elf_kind.h.
 */
#include "cli/symbol/elf/elf_kind.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>
#include <sys/utsname.h>

/* The recorder's names. */
static const struct {
	const char *name;
	unsigned machine;
} names[] = {
	{ "x86_64", EM_X86_64 },
	{ "aarch64", EM_AARCH64 },
	{ "arm", EM_ARM },
	{ "mips64el", EM_MIPS },
	{ "mips64", EM_MIPS },
};

struct elf_kind elf_kind_of(const struct elf_tables *tables)
{
	const Elf64_Ehdr *header = &tables->header;

	return (struct elf_kind){
		.machine = header->e_machine,
		.wide = header->e_ident[EI_CLASS] == ELFCLASS64,
		.big = header->e_ident[EI_DATA] == ELFDATA2MSB,
		.flags = header->e_flags,
	};
}

struct elf_kind elf_kind_named(const char *arch, uint64_t word_bytes,
			       const char *byte_order)
{
	struct elf_kind kind = {
		.wide = word_bytes == 8,
		.big = byte_order != NULL && strcmp(byte_order, "big") == 0,
	};

	for (size_t i = 0; arch != NULL &&
	     i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i].name, arch) == 0)
			kind.machine = names[i].machine;
	return kind;
}

struct elf_kind elf_kind_here(void)
{
	struct utsname here;
	const char *order = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? "big" :
								     "little";

	return elf_kind_named(uname(&here) == 0 ? here.machine : NULL,
			      sizeof(void *), order);
}

bool elf_kind_agree(const struct elf_kind *one, const struct elf_kind *other)
{
	if (one->machine == 0 || other->machine == 0)
		return true;
	return one->machine == other->machine && one->wide == other->wide &&
		one->big == other->big;
}
