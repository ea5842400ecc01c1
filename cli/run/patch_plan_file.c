/*
 * patch_plan_file.c: see patch_plan_file.h.
 *
 * I1: struct patch_plan_memory is the first member of struct patch_plan_file,
 * so that its
 *     callbacks can reach the file.
 * I2: bytes are only returned if a segment has them in the file, and the file
 *     is long enough.
 */
#include "cli/run/patch_plan_file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/search.h"
#include "cli/symbol/elf/elf_symbols.h"
#include "cli/symbol/files/debugfile.h"

#define NAME_MAX_BYTES 4096	/* longer names are not of functions to patch */

/* ---- memory ---- */

static const Elf64_Phdr *segment_of(const struct patch_plan_file *file,
				    uint64_t address)
{
	const struct elf_tables *tables = &file->elf->tables;

	for (uint32_t i = 0; i < tables->phdrs; i++) {
		const Elf64_Phdr *s = &tables->phdr[i];

		if (s->p_type == PT_LOAD && address >= s->p_vaddr &&
		    address - s->p_vaddr < s->p_filesz &&
		    elf_tables_within(s->p_offset, s->p_filesz, tables->size))
			return s;
	}
	return NULL;
}

static const uint8_t *read_bytes(const struct patch_plan_memory *memory,
				 uint64_t address, size_t size, size_t *left)
{
	const struct patch_plan_file *file =
		(const struct patch_plan_file *)memory;
	const Elf64_Phdr *s = segment_of(file, address);
	uint64_t offset, rest;

	if (s == NULL)
		return NULL;
	offset = address - s->p_vaddr;
	rest = s->p_filesz - offset;
	if (rest < size)
		return NULL;
	if (left != NULL)
		*left = rest;
	return file->elf->tables.bytes + s->p_offset + offset;
}

static bool is_code(const struct patch_plan_memory *memory, uint64_t address)
{
	const struct patch_plan_file *file =
		(const struct patch_plan_file *)memory;

	return address >= file->code && address < file->code_end;
}

/* ---- symbols ---- */

static int by_address(const void *left, const void *right)
{
	const struct patch_plan_symbol *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return strcmp(a->name, b->name);
}

struct reading {
	struct patch_plan_file *file;
	bool exported;
};

static bool add_symbol(void *owner, const Elf64_Sym *symbol, const char *name,
		       uint32_t section)
{
	const struct reading *reading = owner;
	struct patch_plan_file *file = reading->file;
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	if (section == SHN_UNDEF || *name == 0 ||
	    (type != STT_FUNC && type != STT_GNU_IFUNC &&
	     type != STT_NOTYPE) ||
	    !is_code(&file->memory, symbol->st_value) ||
	    strnlen(name, NAME_MAX_BYTES) == NAME_MAX_BYTES)
		return true;
	if (file->symbol_count == ELF_SYMBOLS_MAX)
		return false;
	GROW(file->symbols, file->symbol_count, file->symbol_capacity);
	file->symbols[file->symbol_count++] = (struct patch_plan_symbol){
		name, symbol->st_value, symbol->st_size, reading->exported,
		type == STT_GNU_IFUNC };
	return true;
}

static void read_table(struct patch_plan_file *file,
		       const struct elf_tables *tables, uint32_t type)
{
	struct reading reading = { file, type == SHT_DYNSYM };
	const Elf64_Shdr *table = elf_tables_of_type(tables, type);

	/* an unreadable table may exist in a debug file */
	if (table != NULL &&
	    elf_symbols_each(tables, table, add_symbol, &reading))
		file->has_table |= type == SHT_SYMTAB;
}

/* Reads the symbols of a stripped file from its debug file. */
static void read_debug_file(struct patch_plan_file *file, const char *path)
{
	/* no debuginfod: do not wait for a server */
	static const struct debugfile_places usual = {
		.no_debuginfod = true,
	};
	const struct elf_tables *tables = &file->elf->tables;
	uint8_t id[ELF_TABLES_ID_MAX];
	char link[PATH_MAX];
	struct debugfile_wanted wanted = {
		path, id, elf_tables_id(tables, id), 0,
	};
	char *found = NULL;
	int fd;

	if (wanted.build_id_size == 0)
		return;
	fd = debugfile_debug(&usual, &wanted,
			     elf_tables_link(tables, link, sizeof(link)) ?
			     link : NULL, &found);
	if (fd < 0)
		return;
	file->debug = elffile_open(fd, found);
	free(found);
	if (file->debug != NULL)
		read_table(file, &file->debug->tables, SHT_SYMTAB);
}

static bool is_not_below(const void *list, size_t i, uint64_t address)
{
	return ((const struct patch_plan_symbol *)list)[i].address >= address;
}

size_t patch_plan_file_symbol(const struct patch_plan_file *file,
			      uint64_t address)
{
	return search_first(file->symbols, file->symbol_count, is_not_below,
			    address);
}

/* ---- the file ---- */

static bool is_ours(const Elf64_Ehdr *header)
{
	return header->e_ident[EI_CLASS] == ELFCLASS64 &&
		header->e_ident[EI_DATA] == ELFDATA2LSB &&
		header->e_machine == EM_X86_64;
}

static void read_segments(struct patch_plan_file *file)
{
	const struct elf_tables *tables = &file->elf->tables;
	size_t codes = 0;

	for (uint32_t i = 0; i < tables->phdrs; i++) {
		const Elf64_Phdr *s = &tables->phdr[i];

		if (s->p_type == PT_LOAD && s->p_flags & PF_X) {
			file->code = s->p_vaddr;
			file->code_end = s->p_vaddr + s->p_filesz;
			codes += s->p_flags & PF_W ? 2 : 1;
		}
		/* the first PT_INTERP counts, as for the kernel */
		if (s->p_type == PT_INTERP && file->interpreter == NULL &&
		    s->p_filesz > 0 &&
		    elf_tables_within(s->p_offset, s->p_filesz, tables->size))
			file->interpreter = grow_copy(
				tables->bytes + s->p_offset, s->p_filesz);
	}
	if (codes != 1)
		file->code_end = file->code;
}

bool patch_plan_file_open_any(struct patch_plan_file *file, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	memset(file, 0, sizeof(*file));
	file->memory = (struct patch_plan_memory){ read_bytes, is_code };
	file->elf = fd >= 0 ? elffile_open(fd, path) : NULL;
	return file->elf != NULL &&
		(file->elf->tables.header.e_type == ET_EXEC ||
		 file->elf->tables.header.e_type == ET_DYN);
}

bool patch_plan_file_open(struct patch_plan_file *file, const char *path)
{
	if (!patch_plan_file_open_any(file, path) ||
	    !is_ours(&file->elf->tables.header))
		return false;
	read_segments(file);
	read_table(file, &file->elf->tables, SHT_DYNSYM);
	read_table(file, &file->elf->tables, SHT_SYMTAB);
	if (!file->has_table)
		read_debug_file(file, path);
	if (file->symbol_count > 0)
		qsort(file->symbols, file->symbol_count,
		      sizeof(*file->symbols), by_address);
	return true;
}

void patch_plan_file_close(struct patch_plan_file *file)
{
	elffile_close(file->elf);
	elffile_close(file->debug);
	free(file->symbols);
	free(file->interpreter);
}

/* Reads one of the two words of an entry. */
static uint64_t word_at(const struct elf_tables *tables, const uint8_t *at,
			bool wide)
{
	uint32_t half;
	uint64_t word;

	if (!wide) {
		memcpy(&half, at, sizeof(half));
		return elf_class_word(tables->class, half);
	}
	memcpy(&word, at, sizeof(word));
	return tables->class->swapped ? __builtin_bswap64(word) : word;
}

void patch_plan_file_dynamic(const struct patch_plan_file *file,
			     void (*visit)(void *data,
					   enum patch_plan_dynamic what,
					   const char *text),
			     void *data)
{
	const struct elf_tables *tables = &file->elf->tables;
	const Elf64_Shdr *section = elf_tables_of_type(tables, SHT_DYNAMIC);
	bool wide = tables->class->sym_size == sizeof(Elf64_Sym);
	size_t word = wide ? sizeof(uint64_t) : sizeof(uint32_t);
	struct elf_texts texts;

	if (section == NULL ||
	    elf_texts_load(&texts, tables, section->sh_link, UINT64_MAX) != 0)
		return;
	for (uint64_t at = 0; section->sh_size - at >= 2 * word;
	     at += 2 * word) {
		const uint8_t *entry = tables->bytes + section->sh_offset + at;
		uint64_t tag = word_at(tables, entry, wide);
		uint64_t value = word_at(tables, entry + word, wide);

		if (value < texts.size &&
		    (tag == DT_NEEDED || tag == DT_RPATH || tag == DT_RUNPATH))
			visit(data,
			      tag == DT_NEEDED	? PATCH_PLAN_NEEDED
			      : tag == DT_RPATH ? PATCH_PLAN_RPATH
						: PATCH_PLAN_RUNPATH,
			      elf_texts_at(&texts, value));
	}
	elf_texts_free(&texts);
}
