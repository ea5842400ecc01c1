/*
 * elffile.c: sections through libelf, which maps the file. libelf's handles
 * are for one thread; the bytes, once found, are for all.
 *
 * A compressed section says how long it will be. It may lie: more than what
 * the method can make of the bytes there are is refused before memory is
 * taken for it.
 *
 * Called by one thread for each file.
 */
#include "cli/symbol/elffile.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>
#include <zstd.h>

#include "cli/base/grow.h"

/* zlib's best is 1032 to 1. zstd has no bound worth having, but no compiler's
 * output comes near this. */
#define RATIO_MAX 1100
#define COMPRESSION_ZSTD 2	/* ELFCOMPRESS_ZSTD, in newer elf.h */

static struct elffile *wrap(Elf *elf, const char *path)
{
	const char *ident = elf ? elf_getident(elf, NULL) : NULL;
	struct elffile *file;

	if (ident == NULL || elf_kind(elf) != ELF_K_ELF ||
	    ident[EI_DATA] != ELFDATA2LSB) {
		elf_end(elf);
		return NULL;
	}
	file = grow_zeroed(1, sizeof(*file));
	file->elf = elf;
	file->path = grow_copy(path, strlen(path));
	return file;
}

struct elffile *elffile_open(int fd, const char *path)
{
	struct elffile *file;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	/* All of it is in memory then: there may be thousands of files. */
	if (elf != NULL && elf_cntl(elf, ELF_C_FDREAD) != 0) {
		elf_end(elf);
		elf = NULL;
	}
	file = wrap(elf, path);
	close(fd);
	return file;
}

struct elffile *elffile_of_memory(unsigned char *memory, size_t size,
				  const char *path)
{
	struct elffile *file;

	elf_version(EV_CURRENT);
	file = wrap(elf_memory((char *)memory, size), path);
	if (file == NULL)
		free(memory);
	else
		file->memory = memory;
	return file;
}

void elffile_close(struct elffile *file)
{
	if (file == NULL)
		return;
	elf_end(file->elf);
	for (size_t i = 0; i < file->owned_count; i++)
		free(file->owned[i]);
	free(file->owned);
	free(file->memory);
	free(file->path);
	free(file);
}

static Elf_Scn *find(struct elffile *file, const char *name, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	size_t strings;

	if (elf_getshdrstrndx(file->elf, &strings) != 0)
		return NULL;
	while ((section = elf_nextscn(file->elf, section)) != NULL) {
		const char *its;

		if (gelf_getshdr(section, header) == NULL)
			continue;
		its = elf_strptr(file->elf, strings, header->sh_name);
		if (its != NULL && strcmp(its, name) == 0)
			return section;
	}
	return NULL;
}

static struct span raw(Elf_Scn *section)
{
	Elf_Data *data = elf_rawdata(section, NULL);

	if (data == NULL || data->d_buf == NULL)
		return (struct span){ 0 };
	return (struct span){ data->d_buf, data->d_size };
}

static struct span unpack_zstd(struct elffile *file, struct span packed,
			       size_t size)
{
	void *memory = malloc(size ? size : 1);

	if (memory == NULL)
		return (struct span){ 0 };
	if (ZSTD_decompress(memory, size, packed.data, packed.size) != size) {
		free(memory);
		return (struct span){ 0 };
	}
	GROW(file->owned, file->owned_count, file->owned_capacity);
	file->owned[file->owned_count++] = memory;
	return (struct span){ memory, size };
}

/* SHF_COMPRESSED: a header, then the bytes. */
static struct span unpack(struct elffile *file, Elf_Scn *section)
{
	struct span all = raw(section);
	size_t header = gelf_getclass(file->elf) == ELFCLASS32 ?
		sizeof(Elf32_Chdr) : sizeof(Elf64_Chdr);
	GElf_Chdr wanted;

	/* libelf 0.188 reads no header of a method that it does not know. */
	if (all.size < header)
		return (struct span){ 0 };
	if (header == sizeof(Elf64_Chdr)) {
		Elf64_Chdr read;

		memcpy(&read, all.data, sizeof(read));
		wanted.ch_type = read.ch_type;
		wanted.ch_size = read.ch_size;
	} else {
		Elf32_Chdr read;

		memcpy(&read, all.data, sizeof(read));
		wanted.ch_type = read.ch_type;
		wanted.ch_size = read.ch_size;
	}
	if (wanted.ch_size / RATIO_MAX > all.size)
		return (struct span){ 0 };
	if (wanted.ch_type == COMPRESSION_ZSTD) {
		all.data += header;
		all.size -= header;
		return unpack_zstd(file, all, wanted.ch_size);
	}
	/* elf_compress decompresses too, and the handle keeps the bytes. */
	if (wanted.ch_type != ELFCOMPRESS_ZLIB ||
	    elf_compress(section, 0, 0) < 0)
		return (struct span){ 0 };
	return raw(section);
}

/* .zdebug_*: "ZLIB", the size with its most significant byte first. */
static struct span unpack_old(Elf_Scn *section)
{
	struct span all = raw(section);
	uint64_t size = 0;

	if (all.size < 12 || memcmp(all.data, "ZLIB", 4) != 0)
		return (struct span){ 0 };
	for (int i = 4; i < 12; i++)
		size = size << 8 | all.data[i];
	if (size / RATIO_MAX > all.size ||
	    elf_compress_gnu(section, 0, 0) < 0)
		return (struct span){ 0 };
	return raw(section);
}

/* ".zdebug_x" in place of ".debug_x". */
static Elf_Scn *find_old(struct elffile *file, const char *name,
			 GElf_Shdr *header)
{
	char old[64];

	if (strncmp(name, ".debug_", 7) != 0 ||
	    strlen(name) >= sizeof(old) - 1)
		return NULL;
	old[0] = '.';
	old[1] = 'z';
	strcpy(old + 2, name + 1);
	return find(file, old, header);
}

bool elffile_has_section(struct elffile *file, const char *name)
{
	GElf_Shdr header;

	return (find(file, name, &header) || find_old(file, name, &header)) &&
		header.sh_type != SHT_NOBITS && header.sh_size > 0;
}

struct span elffile_section(struct elffile *file, const char *name)
{
	GElf_Shdr header;
	Elf_Scn *section = find(file, name, &header);

	if (section == NULL) {
		section = find_old(file, name, &header);
		return section ? unpack_old(section) : (struct span){ 0 };
	}
	if (header.sh_type == SHT_NOBITS)
		return (struct span){ 0 };
	if (header.sh_flags & SHF_COMPRESSED)
		return unpack(file, section);
	return raw(section);
}

uint64_t elffile_section_address(struct elffile *file, const char *name)
{
	GElf_Shdr header;

	return find(file, name, &header) ? header.sh_addr : 0;
}

struct span elffile_build_id(struct elffile *file)
{
	const void *id;
	ssize_t size = dwelf_elf_gnu_build_id(file->elf, &id);

	if (size <= 0)
		return (struct span){ 0 };
	return (struct span){ id, (size_t)size };
}

const char *elffile_debuglink(struct elffile *file)
{
	GElf_Word sum;

	return dwelf_elf_gnu_debuglink(file->elf, &sum);
}

const char *elffile_altlink(struct elffile *file, struct span *build_id)
{
	struct bytes bytes = bytes_from(elffile_section(file,
						".gnu_debugaltlink"), 0);
	const char *path = bytes_string(&bytes);

	if (bytes.bad || *path == 0 || bytes_left(&bytes) == 0)
		return NULL;
	build_id->data = bytes.at;
	build_id->size = bytes_left(&bytes);
	return path;
}
