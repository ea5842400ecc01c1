/*
 * binary.c: see binary.h.
 */
#include "cli/symbol/cfi/binary.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/symbol/names/names.h"

#define NAME_WIDTH 60

static void open_debug(struct binary *binary,
		       const struct debugfile_places *places)
{
	const struct debugfile_wanted wanted = {
		binary->file->path, binary->id, binary->id_size, 0 };
	char link[PATH_MAX], *found = NULL;
	bool linked = elf_tables_link(&binary->file->tables, link,
				      sizeof(link));
	int fd = debugfile_debug(places, &wanted, linked ? link : NULL,
				 &found);

	if (fd >= 0)
		binary->debug = elffile_open(fd, found);
	free(found);
}

static bool begins_as_elf(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, SELFMAG, 0) == SELFMAG &&
	       memcmp(magic, ELFMAG, SELFMAG) == 0;
}

const char *binary_open(struct binary *binary, const char *path)
{
	bool is_elf;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const Elf64_Ehdr *header;

	memset(binary, 0, sizeof(*binary));
	if (fd < 0)
		return strerror(errno);
	is_elf = begins_as_elf(fd);
	binary->file = elffile_open(fd, path);
	if (binary->file == NULL && is_elf)
		return "its ELF headers describe more than the file has: it is "
		       "cut short or damaged, build or copy it again";
	if (binary->file == NULL)
		return "not an ELF file: give a program or a shared library";
	header = &binary->file->tables.header;
	binary->machine = machine_of(header->e_machine,
				     header->e_ident[EI_CLASS] == ELFCLASS64);
	if (binary->machine == NULL) {
		elffile_close(binary->file);
		return "code of this machine is not supported: x86-64, "
			"AArch64, ARM and MIPS64 are";
	}
	binary->id_size = elf_tables_id(&binary->file->tables, binary->id);
	callframe_open(&binary->table, binary->file);
	return NULL;
}

void binary_close(struct binary *binary)
{
	callframe_free(&binary->table);
	symtab_free(&binary->symbols);
	elffile_close(binary->debug);
	elffile_close(binary->file);
	memset(binary, 0, sizeof(*binary));
}

const char *binary_symbol_at(const struct binary *binary, uint64_t address)
{
	const struct symtab_symbol *symbol =
		symtab_find(&binary->symbols, address);

	return symbol != NULL && symbol->address == address ? symbol->name :
							      NULL;
}

/* Instructions in ARM state are words, nearly all of which begin with 14: the
 * condition "always". */
static bool looks_like_words(const struct binary *binary, uint64_t address)
{
	enum { LOOKED_AT = 16 };
	unsigned always = 0, count = 0;

	for (; count < LOOKED_AT; count++) {
		const uint8_t *word = binary_code(binary, (address & ~3u) +
						  4 * count, 4);

		if (word == NULL)
			break;
		always += word[binary->file->tables.class->big ? 0 : 3] >> 4 == 14;
	}
	return 4 * always >= 3 * count;
}

bool binary_is_thumb(const struct binary *binary, uint64_t address)
{
	const struct symtab_symbol *symbol;

	if (binary->machine->elf_machine != EM_ARM)
		return false;
	symbol = symtab_find(&binary->symbols, address);
	return symbol != NULL ? symbol->thumb :
		!looks_like_words(binary, address);
}

void binary_name(const struct binary *binary, uint64_t address,
		 struct buffer *text)
{
	const struct symtab_symbol *symbol =
		symtab_find(&binary->symbols, address);
	LOCAL_BUFFER plain = { 0 };

	if (symbol == NULL || (symbol->end == symbol->address &&
			       symbol->address != address)) {
		buffer_printf(text, "0x%" PRIx64, address);
		return;
	}
	names_demangle(&plain, symbol->name);
	names_brief(text, buffer_text(&plain), NAME_WIDTH);
	if (symbol->address != address)
		buffer_printf(text, "+0x%" PRIx64, address - symbol->address);
}

const uint8_t *binary_code(const struct binary *binary, uint64_t start,
			   uint64_t size)
{
	const struct elf_tables *t = &binary->file->tables;

	for (uint32_t i = 0; i < t->sections; i++) {
		const Elf64_Shdr *section = &t->section[i];
		uint64_t skip = start - section->sh_addr;

		if (section->sh_flags & SHF_EXECINSTR &&
		    start >= section->sh_addr && skip < section->sh_size &&
		    size <= section->sh_size - skip && elf_tables_has(t, section))
			return t->bytes + section->sh_offset + skip;
	}
	return NULL;
}

void binary_read_names(struct binary *binary,
		       const struct debugfile_places *places)
{
	struct symtab *symbols = &binary->symbols;

	open_debug(binary, places);
	if (symtab_add(symbols, binary->file, SHT_SYMTAB) == 0 &&
	    (binary->debug == NULL ||
	     symtab_add(symbols, binary->debug, SHT_SYMTAB) == 0))
		symtab_add(symbols, binary->file, SHT_DYNSYM);
	symtab_sort(symbols);
	for (size_t i = 0; i < binary->table.count; i++)
		binary->table.entries[i].thumb = binary_is_thumb(
			binary, binary->table.entries[i].start);
}

const char *binary_open_named(struct binary *binary, const char *path,
			      const struct debugfile_places *places)
{
	const char *wrong = binary_open(binary, path);

	if (wrong == NULL)
		binary_read_names(binary, places);
	return wrong;
}
