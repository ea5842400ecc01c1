/*
 * elf_tables.c: see the header.
 *
 * I1: a table has as many records as were read whole.
 * I2: what is said of a section's place is believed only by elf_tables_within.
 */
#include "cli/symbol/elf_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/base/whole.h"
#include "unwind/claim.h"

#define ELF_TABLES_SIZE_MAX (UINT64_C(1) << 40) /* sums of sizes never wrap */
#define ELF_TABLES_NOTES 1024 /* bytes of a section of notes */

int elf_tables_bytes(int fd, uint64_t offset, void *to, size_t n)
{
	ssize_t got = whole_read_at(fd, to, n, offset);

	if (got < 0)
		return (int)got;
	return (size_t)got == n ? 0 : -EBADMSG;
}

bool elf_tables_within(uint64_t offset, uint64_t n, uint64_t size)
{
	return offset <= size && n <= size - offset;
}

static size_t least(uint64_t a, size_t b)
{
	return a < b ? (size_t)a : b;
}

/* ---- tables ---- */

static int load_header(struct elf_tables *t)
{
	uint8_t bytes[sizeof(Elf64_Ehdr)];
	int err = elf_tables_bytes(t->fd, 0, bytes, sizeof(Elf32_Ehdr));

	if (err)
		return err;
	t->class = elf_class_of(bytes);
	if (t->class == NULL)
		return -EBADMSG;
	err = elf_tables_bytes(t->fd, 0, bytes, t->class->ehdr_size);
	if (err)
		return err;
	t->class->get_ehdr(&t->header, bytes);
	/* the last is what dwz makes */
	return t->header.e_type == ET_EXEC || t->header.e_type == ET_DYN ||
			       t->header.e_type == ET_REL
		       ? 0
		       : -EBADMSG;
}

/* NULL, and *err says why. The caller frees it. */
static uint8_t *load_records(const struct elf_tables *t, uint64_t offset,
			     size_t n, int *err)
{
	uint8_t *bytes = malloc(n + 1);

	CLAIM_FULL(elf_tables_within(offset, n, t->size));
	*err = bytes ? elf_tables_bytes(t->fd, offset, bytes, n) : -ENOMEM;
	if (*err == 0)
		return bytes;
	free(bytes);
	return NULL;
}

static int load_sections(struct elf_tables *t)
{
	size_t each = t->class->shdr_size;
	uint8_t *bytes;
	int err;

	if (t->header.e_shentsize != each ||
	    t->header.e_shstrndx >= t->header.e_shnum ||
	    !elf_tables_within(t->header.e_shoff, t->header.e_shnum * each,
			       t->size))
		return -EBADMSG;
	CLAIM_FULL(t->header.e_shnum > 0 &&
		   t->header.e_shnum <= ELF_TABLES_SECTIONS);
	bytes = load_records(t, t->header.e_shoff, t->header.e_shnum * each,
			     &err);
	if (bytes == NULL)
		return err;
	t->section = calloc(t->header.e_shnum, sizeof(*t->section));
	for (; t->section && t->sections < t->header.e_shnum; t->sections++)
		t->class->get_shdr(&t->section[t->sections],
				   bytes + t->sections * each);
	free(bytes);
	return t->section ? 0 : -ENOMEM;
}

static int load_phdrs(struct elf_tables *t)
{
	size_t each = t->class->phdr_size;
	uint8_t *bytes;
	int err;

	CLAIM_FULL(t->header.e_phnum <= ELF_TABLES_PHDRS);
	bytes = load_records(t, t->header.e_phoff, t->header.e_phnum * each,
			     &err);
	if (bytes == NULL)
		return err;
	t->phdr = calloc(t->header.e_phnum + 1, sizeof(*t->phdr));
	for (; t->phdr && t->phdrs < t->header.e_phnum; t->phdrs++)
		t->class->get_phdr(&t->phdr[t->phdrs], bytes + t->phdrs * each);
	free(bytes);
	return t->phdr ? 0 : -ENOMEM;
}

static int load_tables(struct elf_tables *t)
{
	const Elf64_Ehdr *h = &t->header;
	int err;

	if (h->e_shnum > ELF_TABLES_SECTIONS || h->e_phnum > ELF_TABLES_PHDRS)
		return -E2BIG;
	if ((h->e_phnum && h->e_phentsize != t->class->phdr_size) ||
	    !elf_tables_within(h->e_phoff, h->e_phnum * t->class->phdr_size,
			       t->size))
		return -EBADMSG;
	err = h->e_shnum ? load_sections(t) : 0;
	return err ? err : load_phdrs(t);
}

static int load_names(struct elf_tables *t)
{
	const Elf64_Shdr *names;
	int err;

	if (t->sections == 0)
		return 0;
	names = &t->section[t->header.e_shstrndx];
	CLAIM_FULL(t->header.e_shstrndx < t->sections);
	if (names->sh_type == SHT_NOBITS ||
	    !elf_tables_within(names->sh_offset, names->sh_size, t->size))
		return -EBADMSG;
	/* one whose name lies behind that has none here */
	t->names_size = least(names->sh_size, ELF_TABLES_NAMES);
	t->names =
		(char *)load_records(t, names->sh_offset, t->names_size, &err);
	if (t->names == NULL)
		return err;
	t->names[t->names_size] = '\0';
	return 0;
}

int elf_tables_load_bare(struct elf_tables *t, int fd)
{
	struct stat st;
	int err;

	memset(t, 0, sizeof(*t));
	t->fd = fd;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    (uint64_t)st.st_size > ELF_TABLES_SIZE_MAX)
		return -EBADMSG;
	t->size = (uint64_t)st.st_size;
	err = load_header(t);
	if (!err)
		err = load_tables(t);
	if (!err)
		err = load_names(t);
	if (err)
		elf_tables_free(t);
	return err;
}

int elf_tables_load(struct elf_tables *t, int fd)
{
	int err = elf_tables_load_bare(t, fd);

	/* one with more sections than e_shnum can say is none of these */
	if (err || t->sections > 0)
		return err;
	elf_tables_free(t);
	return -EBADMSG;
}

void elf_tables_free(struct elf_tables *t)
{
	free(t->section);
	free(t->phdr);
	free(t->names);
	t->section = NULL;
	t->phdr = NULL;
	t->names = NULL;
	t->names_size = t->sections = t->phdrs = 0;
}

const char *elf_tables_name(const struct elf_tables *t,
			    const Elf64_Shdr *section)
{
	return section->sh_name < t->names_size ? t->names + section->sh_name
						: "";
}

bool elf_tables_has(const struct elf_tables *t, const Elf64_Shdr *section)
{
	return section->sh_type != SHT_NOBITS && section->sh_type != SHT_NULL &&
	       section->sh_size &&
	       elf_tables_within(section->sh_offset, section->sh_size, t->size);
}

/* The first bytes of the section of this name; their number, 0: none. */
static size_t section_start(const struct elf_tables *t, const char *name,
			    void *to, size_t n)
{
	for (uint32_t i = 0; i < t->sections; i++) {
		const Elf64_Shdr *section = &t->section[i];

		if (strcmp(elf_tables_name(t, section), name) != 0 ||
		    !elf_tables_has(t, section) ||
		    section->sh_flags & SHF_COMPRESSED)
			continue;
		n = least(section->sh_size, n);
		return elf_tables_bytes(t->fd, section->sh_offset, to, n) ? 0
									  : n;
	}
	return 0;
}

/* ---- notes and links ---- */

static size_t in_words(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/* The build-id among notes (System V gABI, "Note Section"). */
static uint32_t find_id(const uint8_t *at, size_t left, uint8_t *id)
{
	while (left >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note; /* the same in both classes */
		size_t name, whole;

		memcpy(&note, at, sizeof(note));
		if (note.n_namesz > left || note.n_descsz > left)
			return 0;
		name = in_words(note.n_namesz);
		whole = sizeof(note) + name + in_words(note.n_descsz);
		if (sizeof(note) + name + note.n_descsz > left)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(at + sizeof(note), "GNU", 4) == 0 &&
		    note.n_descsz <= ELF_TABLES_ID_MAX) {
			memcpy(id, at + sizeof(note) + name, note.n_descsz);
			return note.n_descsz;
		}
		if (whole > left)
			return 0;
		at += whole;
		left -= whole;
	}
	return 0;
}

static uint32_t id_at(const struct elf_tables *t, uint64_t offset,
		      uint64_t size, uint8_t *id)
{
	uint8_t notes[ELF_TABLES_NOTES];
	size_t n = least(size, sizeof(notes));

	if (!elf_tables_within(offset, n, t->size) ||
	    elf_tables_bytes(t->fd, offset, notes, n))
		return 0;
	return find_id(notes, n, id);
}

uint32_t elf_tables_id(const struct elf_tables *t,
		       uint8_t id[ELF_TABLES_ID_MAX])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->sections && !n; i++)
		if (t->section[i].sh_type == SHT_NOTE)
			n = id_at(t, t->section[i].sh_offset,
				  t->section[i].sh_size, id);
	for (uint32_t i = 0; i < t->phdrs && !n; i++)
		if (t->phdr[i].p_type == PT_NOTE)
			n = id_at(t, t->phdr[i].p_offset, t->phdr[i].p_filesz,
				  id);
	return n;
}

/* Where a text ends that has to be all of it in n bytes; 0: nowhere, or it is
 * empty. */
static size_t text_end(const char *text, size_t n)
{
	size_t end = strnlen(text, n);

	return end < n ? end : 0;
}

bool elf_tables_link(const struct elf_tables *t, char *name, size_t size)
{
	size_t n = section_start(t, ".gnu_debuglink", name, size);

	/* a name, its NUL, padding, a checksum */
	return text_end(name, n) != 0;
}

uint32_t elf_tables_alternate(const struct elf_tables *t, char *name,
			      size_t size, uint8_t id[ELF_TABLES_ID_MAX])
{
	size_t n = section_start(t, ".gnu_debugaltlink", name, size);
	size_t end = text_end(name, n);

	if (!end || n - end - 1 > ELF_TABLES_ID_MAX)
		return 0;
	memcpy(id, name + end + 1, n - end - 1);
	return (uint32_t)(n - end - 1);
}
