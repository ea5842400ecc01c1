/*
 * elffile.c: a file is mapped, and its descriptor closed: there may be
 * thousands of files. A file truncated while it is mapped reads as zeroes after
 * the cut (cli/base/truncated_map.h).
 *
 * A compressed section has its size in its header, which may be wrong. A size
 * larger than the compression method can produce is refused before memory is
 * allocated.
 *
 * Called by one thread for each file.
 */
#include "cli/symbol/elf/elffile.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

#include "cli/base/grow.h"

/* zlib's best ratio is 1032 to 1. zstd has no useful bound, but no compiler's
 * output comes near this. */
#define RATIO_MAX 1100
#define COMPRESSION_ZSTD 2	/* ELFCOMPRESS_ZSTD, in newer elf.h */

static void drop(const uint8_t *bytes, size_t size, bool mapped)
{
	if (mapped)
		munmap((void *)bytes, size + 1);	/* map_file */
	else
		free((void *)bytes);
}

static struct elffile *wrap(const uint8_t *bytes, size_t size, bool mapped,
			    const char *path)
{
	struct elffile *file = grow_zeroed(1, sizeof(*file));

	if (elf_tables_load_memory(&file->tables, bytes, size) != 0) {
		drop(bytes, size, mapped);
		free(file);
		return NULL;
	}
	file->mapped = mapped;
	file->path = grow_copy(path, strlen(path));
	return file;
}

/* Maps a zero byte after the file, so that a string ends even if the file is
 * being overwritten. NULL: some file systems cannot map. */
static void *map_file(int fd, size_t size)
{
	void *room = mmap(NULL, size + 1, PROT_READ,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (room == MAP_FAILED)
		return NULL;
	if (mmap(room, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) != room) {
		munmap(room, size + 1);
		return NULL;
	}
	return room;
}

static void *read_file(int fd, size_t size)
{
	void *bytes = malloc(size);

	if (bytes != NULL && elf_tables_bytes(fd, 0, bytes, size) != 0) {
		free(bytes);
		return NULL;
	}
	return bytes;
}

struct elffile *elffile_open(int fd, const char *path)
{
	void *mapped = NULL, *bytes = NULL;
	struct stat status;
	size_t size = 0;

	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    status.st_size > 0) {
		size = (size_t)status.st_size;
		mapped = map_file(fd, size);
		bytes = mapped != NULL ? mapped : read_file(fd, size);
	}
	close(fd);
	return bytes == NULL ? NULL : wrap(bytes, size, mapped != NULL, path);
}

struct elffile *elffile_of_memory(unsigned char *memory, size_t size,
				  const char *path)
{
	return wrap(memory, size, false, path);
}

void elffile_close(struct elffile *file)
{
	if (file == NULL)
		return;
	drop(file->tables.bytes, file->tables.size, file->mapped);
	elf_tables_free(&file->tables);
	for (size_t i = 0; i < file->owned_count; i++)
		free(file->owned[i]);
	free(file->owned);
	free(file->path);
	free(file);
}

static struct span raw(const struct elffile *file, const Elf64_Shdr *section)
{
	if (!elf_tables_has(&file->tables, section))
		return (struct span){ 0 };
	return (struct span){ file->tables.bytes + section->sh_offset,
			      section->sh_size, file->tables.class->big };
}

/* Linkers concatenate the compressed sections of several files. */
static bool inflate_zlib(void *to, size_t size, struct span packed)
{
	uint8_t *at = to;

	while (size > 0) {
		uLongf got = size;
		uLong used = packed.size;

		if (uncompress2(at, &got, packed.data, &used) != Z_OK ||
		    used == 0)
			return false;
		at += got;
		size -= got;
		packed.data += used;
		packed.size -= used;
	}
	return true;
}

static bool inflate_zstd(void *to, size_t size, struct span packed)
{
	return ZSTD_decompress(to, size, packed.data, packed.size) == size;
}

/* The decompressed bytes; empty if their size is not `size`. */
static struct span unpack(struct elffile *file, struct span packed,
			  uint64_t size,
			  bool (*inflate)(void *to, size_t size,
					  struct span packed))
{
	void *memory;

	if (size / RATIO_MAX > packed.size)
		return (struct span){ 0 };
	memory = malloc(size ? size : 1);
	if (memory == NULL || !inflate(memory, size, packed)) {
		free(memory);
		return (struct span){ 0 };
	}
	GROW(file->owned, file->owned_count, file->owned_capacity);
	file->owned[file->owned_count++] = memory;
	return (struct span){ memory, size, packed.big };
}

/* SHF_COMPRESSED: a header, then the bytes. */
static struct span unpack_section(struct elffile *file, struct span all)
{
	const struct elf_class *class = file->tables.class;
	Elf64_Chdr header;

	if (all.size < class->chdr_size)
		return (struct span){ 0 };
	class->get_chdr(&header, all.data);
	all.data += class->chdr_size;
	all.size -= class->chdr_size;
	if (header.ch_type == COMPRESSION_ZSTD)
		return unpack(file, all, header.ch_size, inflate_zstd);
	if (header.ch_type == ELFCOMPRESS_ZLIB)
		return unpack(file, all, header.ch_size, inflate_zlib);
	return (struct span){ 0 };
}

/* .zdebug_*: "ZLIB", the size in big-endian order. */
static struct span unpack_old(struct elffile *file, struct span all)
{
	uint64_t size = 0;

	if (all.size < 12 || memcmp(all.data, "ZLIB", 4) != 0)
		return (struct span){ 0 };
	for (int i = 4; i < 12; i++)
		size = size << 8 | all.data[i];
	all.data += 12;
	all.size -= 12;
	return unpack(file, all, size, inflate_zlib);
}

/* ".zdebug_x" in place of ".debug_x". */
static const Elf64_Shdr *find_old(const struct elffile *file, const char *name)
{
	char old[64];

	if (strncmp(name, ".debug_", 7) != 0 ||
	    strlen(name) >= sizeof(old) - 1)
		return NULL;
	old[0] = '.';
	old[1] = 'z';
	strcpy(old + 2, name + 1);
	return elf_tables_find(&file->tables, old);
}

bool elffile_has_section(const struct elffile *file, const char *name)
{
	const Elf64_Shdr *section = elf_tables_find(&file->tables, name);

	if (section == NULL)
		section = find_old(file, name);
	return section != NULL && raw(file, section).size > 0;
}

struct span elffile_section(struct elffile *file, const char *name)
{
	const Elf64_Shdr *section = elf_tables_find(&file->tables, name);

	if (section == NULL) {
		section = find_old(file, name);
		return section ? unpack_old(file, raw(file, section)) :
			(struct span){ 0 };
	}
	if (section->sh_flags & SHF_COMPRESSED)
		return unpack_section(file, raw(file, section));
	return raw(file, section);
}

uint64_t elffile_section_address(const struct elffile *file, const char *name)
{
	const Elf64_Shdr *section = elf_tables_find(&file->tables, name);

	return section ? section->sh_addr : 0;
}
