/*
 * plan_file.c: see plan_file.h.
 *
 * I1: struct plan_memory is the first member of struct plan_file, so that its
 *     functions find the rest.
 * I2: bytes are only given where a segment says that they are in the file,
 *     and the file is that long.
 */
#include "cli/plan_file.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>

#include "cli/base/grow.h"
#include "cli/symbol/debugfile.h"

#define SYMBOLS_MAX 4000000	/* of a file */

/* ---- memory ---- */

static const Elf64_Phdr *segment_of(const struct plan_file *file,
				    uint64_t address)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const Elf64_Phdr *s = &file->segments[i];

		if (s->p_type == PT_LOAD && address >= s->p_vaddr &&
		    address - s->p_vaddr < s->p_filesz &&
		    s->p_offset <= file->size &&
		    s->p_filesz <= file->size - s->p_offset)
			return s;
	}
	return NULL;
}

static const uint8_t *read_bytes(const struct plan_memory *memory,
				 uint64_t address, size_t size, size_t *left)
{
	const struct plan_file *file = (const struct plan_file *)memory;
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
	return file->bytes + s->p_offset + offset;
}

static bool is_code(const struct plan_memory *memory, uint64_t address)
{
	const struct plan_file *file = (const struct plan_file *)memory;

	return address >= file->code && address < file->code_end;
}

/* ---- symbols ---- */

static int by_address(const void *left, const void *right)
{
	const struct plan_symbol *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void add_symbol(struct plan_file *file, const GElf_Sym *symbol,
		       const char *name, bool exported)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);

	if (symbol->st_shndx == SHN_UNDEF || name == NULL || *name == 0 ||
	    (type != STT_FUNC && type != STT_GNU_IFUNC &&
	     type != STT_NOTYPE) ||
	    !is_code(&file->memory, symbol->st_value))
		return;
	GROW(file->symbols, file->symbol_count, file->symbol_capacity);
	file->symbols[file->symbol_count++] = (struct plan_symbol){
		name, symbol->st_value, symbol->st_size, exported,
		type == STT_GNU_IFUNC };
}

static void read_table(struct plan_file *file, Elf *elf, uint32_t type)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section)) != NULL) {
		GElf_Shdr header;
		Elf_Data *data;
		size_t count;

		if (gelf_getshdr(section, &header) == NULL ||
		    header.sh_type != type || header.sh_entsize == 0)
			continue;
		data = elf_getdata(section, NULL);
		count = data ? data->d_size / header.sh_entsize : 0;
		if (count > SYMBOLS_MAX)
			count = SYMBOLS_MAX;
		if (type == SHT_SYMTAB && count > 0)
			file->has_table = true;
		for (size_t i = 0; i < count; i++) {
			GElf_Sym symbol;

			if (gelf_getsym(data, (int)i, &symbol) != NULL)
				add_symbol(file, &symbol,
					   elf_strptr(elf, header.sh_link,
						      symbol.st_name),
					   type == SHT_DYNSYM);
		}
	}
}

/* One that was stripped may have its symbols in another file. */
static void read_debug_file(struct plan_file *file, const char *path)
{
	/* A recording is not to wait for a server. */
	static const struct debugfile_places usual = {
		.no_debuginfod = true,
	};
	const void *id;
	ssize_t size = dwelf_elf_gnu_build_id(file->elf, &id);
	GElf_Word sum;
	struct debugfile_wanted wanted = { path, id,
					   size > 0 ? (size_t)size : 0, 0 };
	char *found = NULL;

	if (size <= 0)
		return;
	file->debug_fd = debugfile_debug(&usual, &wanted,
					 dwelf_elf_gnu_debuglink(file->elf,
								 &sum),
					 &found);
	free(found);
	if (file->debug_fd < 0)
		return;
	file->debug = elf_begin(file->debug_fd, ELF_C_READ_MMAP, NULL);
	if (file->debug != NULL)
		read_table(file, file->debug, SHT_SYMTAB);
}

size_t plan_file_symbol(const struct plan_file *file, uint64_t address)
{
	size_t low = 0, high = file->symbol_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (file->symbols[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- the file ---- */

static bool is_ours(const GElf_Ehdr *header)
{
	return header->e_ident[EI_CLASS] == ELFCLASS64 &&
		header->e_ident[EI_DATA] == ELFDATA2LSB &&
		header->e_machine == EM_X86_64 &&
		(header->e_type == ET_EXEC || header->e_type == ET_DYN);
}

static void read_segments(struct plan_file *file)
{
	size_t count = 0, codes = 0;

	if (elf_getphdrnum(file->elf, &count) != 0 || count > 1000)
		count = 0;
	file->segments = grow_zeroed(count, sizeof(*file->segments));
	for (size_t i = 0; i < count; i++) {
		Elf64_Phdr *s = &file->segments[i];

		if (gelf_getphdr(file->elf, (int)i, s) == NULL)
			break;
		file->segment_count = i + 1;
		if (s->p_type == PT_LOAD && s->p_flags & PF_X) {
			file->code = s->p_vaddr;
			file->code_end = s->p_vaddr + s->p_filesz;
			codes += s->p_flags & PF_W ? 2 : 1;
		}
		/* the first counts, as it does for the kernel */
		if (s->p_type == PT_INTERP && file->interpreter == NULL &&
		    s->p_filesz > 0 &&
		    s->p_offset < file->size &&
		    s->p_filesz <= file->size - s->p_offset)
			file->interpreter = grow_copy(
				file->bytes + s->p_offset, s->p_filesz);
	}
	if (codes != 1)
		file->code_end = file->code;
}

bool plan_file_open(struct plan_file *file, const char *path)
{
	struct stat status;
	GElf_Ehdr header;

	memset(file, 0, sizeof(*file));
	file->memory = (struct plan_memory){ read_bytes, is_code };
	file->debug_fd = -1;
	elf_version(EV_CURRENT);
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file->fd < 0 || fstat(file->fd, &status) != 0 ||
	    !S_ISREG(status.st_mode))
		return false;
	file->elf = elf_begin(file->fd, ELF_C_READ_MMAP, NULL);
	if (file->elf == NULL || elf_kind(file->elf) != ELF_K_ELF ||
	    gelf_getehdr(file->elf, &header) == NULL || !is_ours(&header))
		return false;
	file->bytes = (const uint8_t *)elf_rawfile(file->elf, &file->size);
	if (file->bytes == NULL)
		return false;
	read_segments(file);
	read_table(file, file->elf, SHT_DYNSYM);
	read_table(file, file->elf, SHT_SYMTAB);
	if (!file->has_table)
		read_debug_file(file, path);
	if (file->symbol_count > 0)
		qsort(file->symbols, file->symbol_count,
		      sizeof(*file->symbols), by_address);
	return true;
}

void plan_file_close(struct plan_file *file)
{
	elf_end(file->debug);
	elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	if (file->debug_fd >= 0)
		close(file->debug_fd);
	free(file->segments);
	free(file->symbols);
	free(file->interpreter);
}

void plan_file_dynamic(const struct plan_file *file,
		       void (*visit)(void *data, enum plan_dynamic what,
				     const char *text), void *data)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(file->elf, section)) != NULL) {
		GElf_Shdr header;
		Elf_Data *entries;
		GElf_Dyn entry;

		if (gelf_getshdr(section, &header) == NULL ||
		    header.sh_type != SHT_DYNAMIC)
			continue;
		entries = elf_getdata(section, NULL);
		for (int i = 0; entries != NULL &&
		     gelf_getdyn(entries, i, &entry) != NULL; i++) {
			const char *text;

			if (entry.d_tag != DT_NEEDED &&
			    entry.d_tag != DT_RPATH &&
			    entry.d_tag != DT_RUNPATH)
				continue;
			text = elf_strptr(file->elf, header.sh_link,
					  entry.d_un.d_val);
			if (text != NULL)
				visit(data, entry.d_tag == DT_NEEDED ?
					PLAN_NEEDED :
					entry.d_tag == DT_RPATH ? PLAN_RPATH :
					PLAN_RUNPATH, text);
		}
	}
}
