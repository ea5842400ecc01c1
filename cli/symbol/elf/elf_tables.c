/*
 * elf_tables.c: see the header.
 *
 * I1: a table has as many records as were completely read.
 * I2: positions of sections are used only after elf_tables_within.
 * I3: the last byte of texts is a NUL.
 */
#include "cli/symbol/elf/elf_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/base/io_full.h"
#include "unwind/base/assertion.h"

#define ELF_TABLES_SIZE_MAX (UINT64_C(1) << 40) /* so that sums of sizes never
						 * overflow */
#define ELF_TABLES_NOTES 1024 /* bytes of a note section */
#define ELF_TABLES_NOTE_SECTIONS 64 /* usual files have 2 to 6 */
#define ELF_TABLES_PIECE 128 /* records read at once */

int elf_tables_bytes(int fd, uint64_t offset, void *to, size_t n)
{
	ssize_t got = io_full_read_at(fd, to, n, offset);

	if (got < 0)
		return (int)got;
	return (size_t)got == n ? 0 : -EBADMSG;
}

int elf_tables_read(const struct elf_tables *t, uint64_t offset, void *to,
		    size_t n)
{
	if (t->bytes == NULL)
		return elf_tables_bytes(t->fd, offset, to, n);
	if (!elf_tables_within(offset, n, t->size))
		return -EBADMSG;
	if (n)
		memcpy(to, t->bytes + offset, n);
	return 0;
}

bool elf_tables_within(uint64_t offset, uint64_t n, uint64_t size)
{
	return offset <= size && n <= size - offset;
}

static size_t min(uint64_t a, size_t b)
{
	return a < b ? (size_t)a : b;
}

/* ---- texts ---- */

/* Bytes after the last NUL are no string. */
static uint64_t texts_end(const char *data, uint64_t size)
{
	const char *last = size ? memrchr(data, '\0', size) : NULL;

	return last ? (uint64_t)(last - data) + 1 : 0;
}

int elf_texts_load(struct elf_texts *texts, const struct elf_tables *t,
		   uint32_t section, uint64_t max)
{
	const Elf64_Shdr *s;
	int err;

	memset(texts, 0, sizeof(*texts));
	if (section >= t->sections)
		return -EBADMSG;
	s = &t->section[section];
	if (s->sh_type == SHT_NOBITS ||
	    !elf_tables_within(s->sh_offset, s->sh_size, t->size))
		return -EBADMSG;
	if (t->bytes != NULL) {
		texts->data = (const char *)t->bytes + s->sh_offset;
		texts->size = texts_end(texts->data, s->sh_size);
		return 0;
	}
	texts->size = min(s->sh_size, max);
	texts->data = texts->owned = malloc(texts->size + 1);
	if (texts->owned == NULL)
		return -ENOMEM;
	err = elf_tables_bytes(t->fd, s->sh_offset, texts->owned, texts->size);
	if (err)
		elf_texts_free(texts);
	else
		texts->size = texts_end(texts->data, texts->size);
	return err;
}

const char *elf_texts_at(const struct elf_texts *texts, uint64_t offset)
{
	/* strings of a mapped file may have changed */
	DEBUG_ASSERT(!texts->owned || !texts->size ||
		     texts->owned[texts->size - 1] == '\0');
	return offset < texts->size ? texts->data + offset : "";
}

void elf_texts_free(struct elf_texts *texts)
{
	free(texts->owned);
	memset(texts, 0, sizeof(*texts));
}

/* ---- tables ---- */

static int load_header(struct elf_tables *t)
{
	uint8_t bytes[sizeof(Elf64_Ehdr)];
	int err = elf_tables_read(t, 0, bytes, sizeof(Elf32_Ehdr));

	if (err)
		return err;
	t->class = elf_class_of(bytes);
	if (t->class == NULL)
		return -EBADMSG;
	err = elf_tables_read(t, 0, bytes, t->class->ehdr_size);
	if (err)
		return err;
	t->class->get_ehdr(&t->header, bytes);
	/* ET_REL is dwz's file */
	return t->header.e_type == ET_EXEC || t->header.e_type == ET_DYN ||
			       t->header.e_type == ET_REL
		       ? 0
		       : -EBADMSG;
}

/* The first section has numbers that do not fit into the header (System V gABI,
 * "ELF Header"). The offset in a header without sections may be anything. */
static int count_sections(const struct elf_tables *t, uint64_t *count,
			  uint32_t *names)
{
	const Elf64_Ehdr *h = &t->header;
	uint8_t bytes[sizeof(Elf64_Shdr)];
	Elf64_Shdr first;

	*count = h->e_shoff ? h->e_shnum : 0;
	*names = h->e_shstrndx;
	if (h->e_shoff == 0 ||
	    (h->e_shnum != 0 && h->e_shstrndx != SHN_XINDEX))
		return 0;
	if (h->e_shentsize != t->class->shdr_size ||
	    elf_tables_read(t, h->e_shoff, bytes, t->class->shdr_size))
		return h->e_shnum ? -EBADMSG : 0;
	t->class->get_shdr(&first, bytes);
	if (h->e_shstrndx == SHN_XINDEX)
		*names = first.sh_link;
	if (h->e_shnum == 0 && first.sh_type == SHT_NULL &&
	    first.sh_size <= t->size / t->class->shdr_size &&
	    *names < first.sh_size)
		*count = first.sh_size;
	return 0;
}

static int load_sections(struct elf_tables *t)
{
	size_t each = t->class->shdr_size, n;
	uint8_t bytes[ELF_TABLES_PIECE * sizeof(Elf64_Shdr)];
	uint64_t count;
	int err = count_sections(t, &count, &t->names_section);

	if (err || count == 0)
		return err;
	if (t->header.e_shentsize != each || t->names_section >= count ||
	    count > t->size / each ||
	    !elf_tables_within(t->header.e_shoff, count * each, t->size))
		return -EBADMSG;
	if (count > ELF_TABLES_SECTIONS)
		return -E2BIG;
	t->section = malloc(count * sizeof(*t->section));
	if (t->section == NULL)
		return -ENOMEM;
	for (; t->sections < count; t->sections += (uint32_t)n) {
		n = min(count - t->sections, ELF_TABLES_PIECE);
		err = elf_tables_read(t, t->header.e_shoff + t->sections * each,
				      bytes, n * each);
		if (err)
			return err;
		for (size_t i = 0; i < n; i++)
			t->class->get_shdr(&t->section[t->sections + i],
					   bytes + i * each);
	}
	return 0;
}

static int load_phdrs(struct elf_tables *t)
{
	uint8_t bytes[ELF_TABLES_PHDRS * sizeof(Elf64_Phdr)];
	const Elf64_Ehdr *h = &t->header;
	size_t each = t->class->phdr_size;
	int err;

	if (h->e_phnum > ELF_TABLES_PHDRS)
		return -E2BIG;
	if ((h->e_phnum && h->e_phentsize != each) ||
	    !elf_tables_within(h->e_phoff, h->e_phnum * each, t->size))
		return -EBADMSG;
	err = elf_tables_read(t, h->e_phoff, bytes, h->e_phnum * each);
	if (err)
		return err;
	t->phdr = calloc(h->e_phnum + 1u, sizeof(*t->phdr));
	for (; t->phdr && t->phdrs < h->e_phnum; t->phdrs++)
		t->class->get_phdr(&t->phdr[t->phdrs], bytes + t->phdrs * each);
	return t->phdr ? 0 : -ENOMEM;
}

/* Names beyond the copied part are missing. */
static int load_names(struct elf_tables *t)
{
	return t->sections ? elf_texts_load(&t->names, t, t->names_section,
					    ELF_TABLES_NAMES)
			   : 0;
}

static int load(struct elf_tables *t)
{
	int err = t->size > ELF_TABLES_SIZE_MAX ? -EBADMSG : load_header(t);

	if (!err)
		err = load_phdrs(t);
	if (!err)
		err = load_sections(t);
	if (!err)
		err = load_names(t);
	if (err)
		elf_tables_free(t);
	return err;
}

int elf_tables_load_bare(struct elf_tables *t, int fd)
{
	struct stat st;

	memset(t, 0, sizeof(*t));
	t->fd = fd;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return -EBADMSG;
	t->size = (uint64_t)st.st_size;
	return load(t);
}

int elf_tables_load_memory(struct elf_tables *t, const uint8_t *bytes,
			   uint64_t size)
{
	memset(t, 0, sizeof(*t));
	t->fd = -1;
	t->bytes = bytes;
	t->size = size;
	return load(t);
}

int elf_tables_load(struct elf_tables *t, int fd)
{
	int err = elf_tables_load_bare(t, fd);

	if (err || t->sections > 0)
		return err;
	elf_tables_free(t);
	return -EBADMSG;
}

void elf_tables_free(struct elf_tables *t)
{
	free(t->section);
	free(t->phdr);
	elf_texts_free(&t->names);
	t->section = NULL;
	t->phdr = NULL;
	t->sections = t->phdrs = 0;
}

const char *elf_tables_name(const struct elf_tables *t,
			    const Elf64_Shdr *section)
{
	return elf_texts_at(&t->names, section->sh_name);
}

const Elf64_Shdr *elf_tables_find(const struct elf_tables *t, const char *name)
{
	for (uint32_t i = 0; i < t->sections; i++)
		if (strcmp(elf_tables_name(t, &t->section[i]), name) == 0)
			return &t->section[i];
	return NULL;
}

bool elf_tables_has(const struct elf_tables *t, const Elf64_Shdr *section)
{
	return section->sh_type != SHT_NOBITS && section->sh_type != SHT_NULL &&
	       section->sh_size &&
	       elf_tables_within(section->sh_offset, section->sh_size, t->size);
}

const Elf64_Shdr *elf_tables_of_type(const struct elf_tables *t, uint32_t type)
{
	for (uint32_t i = 0; i < t->sections; i++)
		if (t->section[i].sh_type == type &&
		    elf_tables_has(t, &t->section[i]))
			return &t->section[i];
	return NULL;
}

/* The first bytes of a section; returns their number, 0: no such section. */
static size_t section_start(const struct elf_tables *t, const char *name,
			    void *to, size_t n)
{
	const Elf64_Shdr *section = elf_tables_find(t, name);

	if (section == NULL || !elf_tables_has(t, section) ||
	    section->sh_flags & SHF_COMPRESSED)
		return 0;
	n = min(section->sh_size, n);
	return elf_tables_read(t, section->sh_offset, to, n) ? 0 : n;
}

/* ---- notes and links ---- */

static size_t in_words(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/* The build-id among notes (System V gABI, "Note Section"). */
static uint32_t find_id(const struct elf_class *class, const uint8_t *at,
			size_t left, uint8_t *id)
{
	while (left >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note; /* the same in both classes */
		size_t name, whole;

		memcpy(&note, at, sizeof(note));
		note.n_namesz = elf_class_word(class, note.n_namesz);
		note.n_descsz = elf_class_word(class, note.n_descsz);
		note.n_type = elf_class_word(class, note.n_type);
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
	size_t n = min(size, sizeof(notes));

	if (!elf_tables_within(offset, n, t->size) ||
	    elf_tables_read(t, offset, notes, n))
		return 0;
	return find_id(t->class, notes, n, id);
}

uint32_t elf_tables_id(const struct elf_tables *t,
		       uint8_t id[ELF_TABLES_ID_MAX])
{
	uint32_t n = 0, looked = 0;

	for (uint32_t i = 0; i < t->sections && !n; i++)
		if (t->section[i].sh_type == SHT_NOTE &&
		    looked++ < ELF_TABLES_NOTE_SECTIONS)
			n = id_at(t, t->section[i].sh_offset,
				  t->section[i].sh_size, id);
	for (uint32_t i = 0; i < t->phdrs && !n; i++)
		if (t->phdr[i].p_type == PT_NOTE)
			n = id_at(t, t->phdr[i].p_offset, t->phdr[i].p_filesz,
				  id);
	return n;
}

/* The end of a string that must be complete in n bytes; 0: it is not, or it is
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
