/*
 * rule_files.c: see rule_files.h.
 *
 * Records contain image-relative code addresses, while the search table holds
 * absolute ones. It is made here. Records must be sorted (else the file is
 * refused), so the table is, and a lookup is a binary search as with
 * .eh_frame_hdr.
 *
 * I1  A file is only read into a copy, never mapped: any process may truncate
 *     it at any time.
 * I2  Tables that are returned have been read once from end to end.
 */
#include "unwind/image/rule_files.h"

#include <asm/unistd.h>
#include <elf.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "arch.h"
#include "unwind/base/assertion.h"
#include "unwind/base/memory.h"
#include "unwind/elf/elfmap.h"
#include "unwind/elf/section.h"

#define RULE_FILES_PHDRS 8

static struct {
	const char *directory;
	void (*refused)(const char *path);
	_Atomic bool reported;
} files;

/* An entry of cfi.h's table, of absolute addresses. */
struct index_entry {
	uintptr_t code, record;
};

void rule_files_init(const char *directory, void (*refused)(const char *path))
{
	files.directory = directory && directory[0] ? directory : NULL;
	files.refused = refused;
	atomic_store_explicit(&files.reported, false, memory_order_relaxed);
}

/* The first program header of this type within these bytes. */
static bool find_phdr(const uint8_t *bytes, size_t size, uint32_t type,
		      ElfW(Phdr) *p)
{
	ElfW(Ehdr) e;
	unsigned i;

	if (size < sizeof(e))
		return false;
	memcpy(&e, bytes, sizeof(e));
	if (memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 ||
	    e.e_ident[EI_CLASS] != ELFMAP_CLASS ||
	    e.e_machine != ARCH_ELF_MACHINE || e.e_phoff > size ||
	    e.e_phentsize != sizeof(*p) || e.e_phnum > RULE_FILES_PHDRS ||
	    e.e_phnum * sizeof(*p) > size - e.e_phoff)
		return false;
	for (i = 0; i < e.e_phnum; i++) {
		memcpy(p, bytes + e.e_phoff + i * sizeof(*p), sizeof(*p));
		if (p->p_type == type)
			return p->p_filesz <= RULE_FILES_SIZE_MAX &&
			       p->p_offset <= RULE_FILES_SIZE_MAX;
	}
	return false;
}

static bool has_id(const uint8_t *bytes, size_t size, const uint8_t *id,
		   uint32_t id_size)
{
	ElfW(Nhdr) note;
	ElfW(Phdr) p;
	const uint8_t *at;

	if (!find_phdr(bytes, size, PT_NOTE, &p) || p.p_offset > size ||
	    p.p_filesz > size - p.p_offset ||
	    p.p_filesz < sizeof(note) + 4 + id_size)
		return false;
	at = bytes + p.p_offset;
	memcpy(&note, at, sizeof(note));
	return note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
	       note.n_descsz == id_size &&
	       memcmp(at + sizeof(note), "GNU", 4) == 0 &&
	       memcmp(at + sizeof(note) + 4, id, id_size) == 0;
}

/* The number of records; 0: one is malformed, or they are not sorted. */
static size_t count_records(const struct cfi_tables *t)
{
	struct cfi_fde fde = { .cie_at = 0 };
	uintptr_t record = 0, at, end = 0;
	size_t n = 0;

	while (cfi_next(t, &record, &at, &fde)) {
		if (n > 0 && fde.start < end)
			return 0;
		end = fde.end;
		n++;
	}
	return n;
}

int rule_files_tables(const uint8_t *bytes, size_t size, const uint8_t *id,
		      uint32_t id_size, uintptr_t bias,
		      struct cfi_tables *tables)
{
	struct rules_sections sections = { .text_start = bias,
					   .unverified = true };
	struct cfi_fde fde = { .cie_at = 0 };
	struct index_entry *index;
	uintptr_t record = 0, at;
	size_t n, i = 0;
	ElfW(Phdr) p;

	if (!has_id(bytes, size, id, id_size) ||
	    !find_phdr(bytes, size, PT_LOAD, &p) || p.p_offset > size ||
	    p.p_filesz > size - p.p_offset)
		return -EINVAL;
	sections.readable_start = sections.eh_frame =
		(uintptr_t)bytes + p.p_offset;
	sections.readable_end = sections.eh_frame + p.p_filesz;
	sections.eh_frame_size = p.p_filesz;
	cfi_tables_init(tables, &sections);	/* I2 */
	n = tables->frames ? count_records(tables) : 0;
	if (n == 0)
		return -EINVAL;
	index = unwind_alloc(n * sizeof(*index));
	if (!index)
		return -ENOMEM;
	for (; i < n && cfi_next(tables, &record, &at, &fde); i++)
		index[i] = (struct index_entry){ fde.start, at };
	ASSERT(i == n);
	tables->table = (uintptr_t)index;
	tables->table_base = 0;
	tables->entries = n;
	tables->entry_encoding = CFI_PE_ABSPTR;
	tables->field_size = sizeof(uintptr_t);
	return 0;
}

/* ---- files ---- */

/* DIRECTORY/0123….cfi; false: too long. */
static bool path_of(const uint8_t *id, uint32_t id_size, char *path)
{
	static const char digits[] = "0123456789abcdef";
	static const char end[] = ".cfi";
	size_t n = 0, i;

	for (i = 0; files.directory[i]; i++) {
		if (n > RULE_FILES_PATH_MAX - 2 * id_size - sizeof(end) - 2)
			return false;
		path[n++] = files.directory[i];
	}
	path[n++] = '/';
	for (i = 0; i < id_size; i++) {
		path[n++] = digits[id[i] >> 4];
		path[n++] = digits[id[i] & 15];
	}
	memcpy(path + n, end, sizeof(end));
	return true;
}

/* Reads the file up to the end of the tables; NULL: *error says why. */
static const uint8_t *read_file(int fd, size_t *size, int *error)
{
	uint8_t head[sizeof(ElfW(Ehdr)) +
		     RULE_FILES_PHDRS * sizeof(ElfW(Phdr))];
	size_t n = section_read(fd, 0, head, sizeof(head));
	uint8_t *bytes;
	ElfW(Phdr) p;

	*error = -EINVAL;
	if (!find_phdr(head, n, PT_LOAD, &p))
		return NULL;
	*size = p.p_offset + p.p_filesz;
	bytes = unwind_alloc(*size ? *size : 1);
	*error = -ENOMEM;
	if (!bytes)
		return NULL;
	*error = -EINVAL;
	return section_read(fd, 0, bytes, *size) == *size ? bytes : NULL;
}

static void refuse(const char *path)
{
	if (files.refused && !atomic_exchange_explicit(&files.reported, true,
						       memory_order_relaxed))
		files.refused(path);
}

bool rule_files_find(const uint8_t *id, uint32_t id_size, uintptr_t bias,
		     struct cfi_tables *tables)
{
	char path[RULE_FILES_PATH_MAX];
	const uint8_t *bytes;
	size_t size;
	int fd, error;

	if (__builtin_expect(!files.directory, 1) || id_size == 0 ||
	    !unwind_may(UNWIND_NO_FILES | UNWIND_NO_READ) ||
	    !path_of(id, id_size, path))
		return false;
	fd = section_open(path);
	if (fd < 0)
		return false;
	bytes = read_file(fd, &size, &error);
	arch_syscall1(__NR_close, fd);
	if (bytes)
		error = rule_files_tables(bytes, size, id, id_size, bias,
					  tables);
	if (error == -EINVAL)
		refuse(path);
	return bytes && error == 0;
}
