/*
 * reduced.c: see the header. The section table is copied, because symbols refer
 * to sections by number. Sections that are not needed become NOBITS if they are
 * mapped, else empty. A separate debug file has the same table, with NOBITS for
 * the sections in the binary. If there is one, its table is copied, and the
 * bytes come from the file that has them.
 *
 *	ELF header | program headers | copied sections … | section headers
 *
 * .eh_frame keeps its distance from .eh_frame_hdr in memory, since unwinders
 * rely on it. The reduced file never exists as a whole: the plan has the source
 * of each byte.
 *
 * I1: a place lies within its file, by the size of the file when it was loaded.
 * I2: places do not overlap, and are sorted by offset; sections that are left
 *     out have empty places.
 * I3: of a section's name at most the longest copied name's length is compared,
 *     and no section is compared with all others: there may be a million.
 */
#include "cli/symbol/elf/reduced.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/search.h"
#include "unwind/base/assertion.h"

#define REDUCED_ALIGN_MAX 4096
#define REDUCED_LIKE 16 /* the alignment of .eh_frame, at most */
#define REDUCED_GAP_MAX 4096 /* between .eh_frame_hdr and .eh_frame */
#define REDUCED_STARTS 64 /* sections in which segments may begin */
#define REDUCED_RECORD sizeof(Elf64_Ehdr) /* the largest record of a table */

/* Debug sections that are not needed to look up addresses. */
static const char reduced_unwanted[][20] = {
	"loc",	    "loclists",	    "macro",	    "macinfo", "pubnames",
	"pubtypes", "gnu_pubnames", "gnu_pubtypes", "names",   "gdb_scripts",
};

static const char reduced_names[][20] = {
	".symtab",
	".strtab",
	".symtab_shndx",
	".dynsym",
	".dynstr",
	".shstrtab",
	".eh_frame",
	".eh_frame_hdr",
	".gnu_debugdata",
	".gnu_debugaltlink",
	".note.gnu.build-id",
	".opd",
	".ARM.exidx",
	".ARM.extab",
	".debug_frame",
};

/* ---- the plan ---- */

/* The name after ".debug_" or ".zdebug_"; NULL: no debug information. Unwind
 * tables are no debug information here. */
static const char *reduced_debug(const char *name)
{
	if (strncmp(name, ".debug_", 7) == 0)
		name += 7;
	else if (strncmp(name, ".zdebug_", 8) == 0)
		name += 8;
	else
		return NULL;
	return strcmp(name, "frame") == 0 ? NULL : name;
}

/* Its index in the list; n: not in it. */
static uint32_t reduced_number(const char *name, const char (*list)[20],
			       uint32_t n)
{
	uint32_t i = 0;

	while (i < n && strcmp(name, list[i]) != 0)
		i++;
	return i;
}

#define REDUCED_COUNT(list) (uint32_t)(sizeof(list) / sizeof(*(list)))

static bool reduced_wants(const struct reduced *e, const char *name)
{
	const char *debug = reduced_debug(name);

	if (debug)
		return !e->cut &&
		       reduced_number(debug, reduced_unwanted,
				      REDUCED_COUNT(reduced_unwanted)) ==
			       REDUCED_COUNT(reduced_unwanted);
	return reduced_number(name, reduced_names,
			      REDUCED_COUNT(reduced_names)) <
	       REDUCED_COUNT(reduced_names);
}

static int reduced_by_address(const void *left, const void *right)
{
	const struct reduced_wanted *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	return a->section < b->section ? -1 : a->section > b->section;
}

/* Lists the sections that a debug file may have left in the binary. */
static int reduced_list(struct reduced *e)
{
	const struct elf_tables *binary = &e->binary;
	uint32_t i;

	e->wanted = calloc(binary->sections, sizeof(*e->wanted));
	if (e->wanted == NULL)
		return -ENOMEM;
	for (i = 0; i < binary->sections; i++) {
		const Elf64_Shdr *section = &binary->section[i];
		uint32_t name = reduced_number(elf_tables_name(binary, section),
					       reduced_names,
					       REDUCED_COUNT(reduced_names));

		if (name < REDUCED_COUNT(reduced_names))
			e->wanted[e->wanted_count++] = (struct reduced_wanted){
				section->sh_addr, name, i };
	}
	qsort(e->wanted, e->wanted_count, sizeof(*e->wanted),
	      reduced_by_address);
	return 0;
}

struct reduced_sought {
	const struct reduced_wanted *list;
	uint32_t name;
};

static bool reduced_reaches(const void *owner, size_t i, uint64_t address)
{
	const struct reduced_sought *sought = owner;
	struct reduced_wanted key = { address, sought->name, 0 };

	return reduced_by_address(&sought->list[i], &key) >= 0;
}

/* The binary's first section with that name and address; NULL: none. */
static const Elf64_Shdr *reduced_same(const struct reduced *e, uint64_t address,
				      const char *name)
{
	struct reduced_sought sought = {
		e->wanted, reduced_number(name, reduced_names,
					  REDUCED_COUNT(reduced_names))
	};
	size_t i = search_first(&sought, e->wanted_count, reduced_reaches,
				address);

	return i < e->wanted_count && e->wanted[i].address == address &&
			       e->wanted[i].name == sought.name
		       ? &e->binary.section[e->wanted[i].section]
		       : NULL;
}

/* The section with the bytes: the binary's or the debug file's. */
static const Elf64_Shdr *reduced_source(const struct reduced *e,
					const Elf64_Shdr *section,
					const char *name,
					const struct elf_tables **from)
{
	const Elf64_Shdr *same;

	*from = e->table;
	if (elf_tables_has(e->table, section))
		return section;
	if (e->table == &e->binary || !(section->sh_flags & SHF_ALLOC))
		return NULL;
	*from = &e->binary;
	same = reduced_same(e, section->sh_addr, name);
	return same && elf_tables_has(&e->binary, same) ? same : NULL;
}

static uint64_t reduced_align(uint64_t at, uint64_t align)
{
	if (align <= 1 || align > REDUCED_ALIGN_MAX || align & (align - 1))
		return at;
	return (at + align - 1) & ~(align - 1);
}

/* The next offset from `at` with the alignment of the address, so that the
 * following sections keep their distance in memory. */
static uint64_t reduced_like(uint64_t at, uint64_t address)
{
	return at + ((address - at) & (REDUCED_LIKE - 1));
}

/* The offset of .eh_frame, see above; `at`: the next free offset. */
static uint64_t reduced_behind(const struct reduced *e, uint64_t at,
			       uint32_t header, const Elf64_Shdr *section)
{
	const struct reduced_place *before = &e->place[header];
	uint64_t distance =
		section->sh_addr - e->table->section[header].sh_addr;

	assert(header < e->table->sections && before->from != NULL);
	if (distance > before->size + (at - before->offset) + REDUCED_GAP_MAX ||
	    before->offset + distance < at)
		return at;
	return before->offset + distance;
}

static uint64_t reduced_phdrs_end(const struct reduced *e)
{
	return e->table->class->ehdr_size +
	       e->binary.phdrs * (uint64_t)e->table->class->phdr_size;
}

static void reduced_layout(struct reduced *e)
{
	const struct elf_tables *table = e->table;
	uint32_t header = 0, i;
	uint64_t at = reduced_phdrs_end(e);

	e->debug_bytes = 0;
	for (i = 0; i < table->sections; i++) {
		const Elf64_Shdr *section = &table->section[i], *source;
		const char *name = elf_tables_name(table, section);
		struct reduced_place *place = &e->place[i];
		const struct elf_tables *from;

		*place = (struct reduced_place){ .offset = at };
		if (!reduced_wants(e, name) && i != table->names_section)
			continue;
		source = reduced_source(e, section, name, &from);
		if (!source)
			continue;
		place->offset = reduced_align(at, section->sh_addralign);
		if (strcmp(name, ".eh_frame_hdr") == 0)
			place->offset = reduced_like(at, section->sh_addr);
		if (header && strcmp(name, ".eh_frame") == 0)
			place->offset = reduced_behind(e, place->offset, header,
						       section);
		if (strcmp(name, ".eh_frame_hdr") == 0)
			header = i;
		place->from = from;
		place->at = source->sh_offset;
		place->size = source->sh_size;
		at = place->offset + place->size;
		if (reduced_debug(name))
			e->debug_bytes += place->size;
	}
	e->header.e_shoff = reduced_align(at, 8);
	e->size = e->header.e_shoff +
		  table->sections * (uint64_t)table->class->shdr_size;
}

/* Lists the sections with addresses and bytes; returns their number. */
static uint32_t reduced_starts(const struct reduced *e,
			       uint32_t list[REDUCED_STARTS])
{
	uint32_t i, n = 0;

	for (i = 0; i < e->table->sections && n < REDUCED_STARTS; i++)
		if (e->place[i].from &&
		    e->table->section[i].sh_flags & SHF_ALLOC)
			list[n++] = i;
	return n;
}

/* The new offset of the bytes at an address; 0: not copied. */
static uint64_t reduced_went(const struct reduced *e, const uint32_t *list,
			     uint32_t n, uint64_t address, uint64_t size)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		const Elf64_Shdr *section = &e->table->section[list[i]];
		const struct reduced_place *place = &e->place[list[i]];

		if (address >= section->sh_addr &&
		    elf_tables_within(address - section->sh_addr, size,
				      place->size))
			return place->offset + (address - section->sh_addr);
	}
	return 0;
}

/* PT_LOADs keep their addresses and have no bytes. Other segments whose bytes
 * were left out become PT_NULL. */
static void reduced_phdrs(struct reduced *e)
{
	uint32_t list[REDUCED_STARTS], n = reduced_starts(e, list), i;

	for (i = 0; i < e->binary.phdrs; i++) {
		Elf64_Phdr *p = &e->phdr[i];

		*p = e->binary.phdr[i];
		p->p_offset = p->p_type == PT_LOAD ? 0 :
			reduced_went(e, list, n, p->p_vaddr, p->p_filesz);
		if (p->p_offset)
			continue;
		if (p->p_filesz && p->p_type != PT_LOAD && p->p_type != PT_TLS)
			p->p_type = PT_NULL;
		p->p_filesz = 0;
		p->p_offset = p->p_align > 1 ? p->p_vaddr % p->p_align : 0;
	}
}

/* Overlapping sections may claim more bytes than there are. */
static bool reduced_plausible(const struct reduced *e)
{
	uint64_t max = e->binary.size + reduced_phdrs_end(e) +
			e->table->sections * ((uint64_t)REDUCED_ALIGN_MAX +
					      e->table->class->shdr_size);

	if (e->debug.fd >= 0)
		max += e->debug.size;
	return e->size <= max;
}

static bool reduced_together(const struct reduced *e)
{
	const Elf64_Ehdr *a = &e->binary.header, *b = &e->debug.header;

	return e->debug.fd >= 0 && e->binary.class == e->debug.class &&
	       a->e_machine == b->e_machine && a->e_type == b->e_type;
}

int reduced_plan(struct reduced *e, uint64_t debug_bytes_max)
{
	reduced_free(e);
	e->table = reduced_together(e) ? &e->debug : &e->binary;
	e->place = calloc(e->table->sections, sizeof(*e->place));
	e->phdr = calloc(e->binary.phdrs + 1, sizeof(*e->phdr));
	if (e->place == NULL || e->phdr == NULL ||
	    (e->table != &e->binary && reduced_list(e))) {
		reduced_free(e);
		return -ENOMEM;
	}
	e->header = e->table->header;
	e->header.e_phoff = e->table->class->ehdr_size;
	e->header.e_phnum = e->binary.phdrs;
	e->header.e_phentsize = e->table->class->phdr_size;
	e->header.e_ehsize = e->table->class->ehdr_size;
	e->cut = false;
	reduced_layout(e);
	if (e->debug_bytes > debug_bytes_max) {
		e->cut = true;
		reduced_layout(e);
	}
	reduced_phdrs(e);
	return reduced_plausible(e) ? 0 : -EBADMSG;
}

void reduced_free(struct reduced *e)
{
	free(e->place);
	free(e->phdr);
	free(e->wanted);
	e->place = NULL;
	e->phdr = NULL;
	e->wanted = NULL;
	e->wanted_count = 0;
}

/* ---- reading ---- */

/* The overlap of [offset, offset + n) and [start, start + size): returns its
 * length; *skip: its offset in the first, *into: in the second. */
static size_t reduced_common(uint64_t offset, size_t n, uint64_t start,
			     uint64_t size, size_t *skip, uint64_t *into)
{
	uint64_t from = offset > start ? offset : start;
	uint64_t to = offset + n < start + size ? offset + n : start + size;

	*skip = from - offset;
	*into = from - start;
	return to > from ? to - from : 0;
}

static void reduced_copy(uint64_t offset, uint8_t *to, size_t n, uint64_t start,
			 const void *from, size_t size)
{
	uint64_t into;
	size_t skip;
	size_t common = reduced_common(offset, n, start, size, &skip, &into);

	DEBUG_ASSERT(!common || (skip + common <= n && into + common <= size));
	if (common)
		memcpy(to + skip, (const char *)from + into, common);
}

/* The section type, if the debug file does not have the bytes. */
static unsigned reduced_kind(const char *name)
{
	if (strncmp(name, ".note", 5) == 0)
		return SHT_NOTE;
	if (strcmp(name, ".dynsym") == 0)
		return SHT_DYNSYM;
	return strcmp(name, ".dynstr") == 0 ? SHT_STRTAB : SHT_PROGBITS;
}

static void reduced_header(const struct reduced *e, uint32_t i, Elf64_Shdr *to)
{
	const struct reduced_place *place = &e->place[i];

	*to = e->table->section[i];
	if (place->from) {
		if (to->sh_type == SHT_NOBITS)
			to->sh_type =
				reduced_kind(elf_tables_name(e->table, to));
		to->sh_offset = place->offset;
		to->sh_size = place->size;
	} else if (to->sh_flags & SHF_ALLOC && i > 0) {
		to->sh_type = SHT_NOBITS;
		to->sh_offset = e->table->class->ehdr_size;
	} else {
		memset(to, 0, sizeof(*to));
	}
	/* a number that does not fit into the header */
	if (i == 0 && e->header.e_shnum == 0)
		to->sh_size = e->table->sections;
	if (i == 0 && e->header.e_shstrndx == SHN_XINDEX)
		to->sh_link = e->table->names_section;
}

/* The first record of a table that ends after an offset. */
static uint64_t reduced_record(uint64_t table, size_t each, uint64_t offset)
{
	return offset > table ? (offset - table) / each : 0;
}

/* The part of the tables in that piece of the file. */
static void reduced_read_tables(const struct reduced *e, uint64_t offset,
				uint8_t *to, size_t n)
{
	const struct elf_class *class = e->table->class;
	uint8_t bytes[REDUCED_RECORD];
	Elf64_Shdr header;
	uint64_t at;
	uint32_t i;

	class->put_ehdr(bytes, &e->header);
	reduced_copy(offset, to, n, 0, bytes, class->ehdr_size);
	for (i = 0; i < e->binary.phdrs; i++) {
		class->put_phdr(bytes, &e->phdr[i]);
		reduced_copy(offset, to, n,
			     e->header.e_phoff + i * class->phdr_size, bytes,
			     class->phdr_size);
	}
	for (at = reduced_record(e->header.e_shoff, class->shdr_size, offset);
	     at < e->table->sections; at++) {
		uint64_t start = e->header.e_shoff + at * class->shdr_size;

		if (start >= offset + n)
			break;
		reduced_header(e, (uint32_t)at, &header);
		class->put_shdr(bytes, &header);
		reduced_copy(offset, to, n, start, bytes, class->shdr_size);
	}
}

static bool reduced_ends_behind(const void *list, size_t i, uint64_t offset)
{
	const struct reduced_place *place = list;

	return place[i].offset + place[i].size > offset;
}

/* The first place that ends after an offset (I2). */
static uint32_t reduced_first(const struct reduced *e, uint64_t offset)
{
	return (uint32_t)search_first(e->place, e->table->sections,
				      reduced_ends_behind, offset);
}

int reduced_read(const struct reduced *e, uint64_t offset, uint8_t *to,
		 size_t n)
{
	uint32_t i;

	assert(elf_tables_within(offset, n, e->size));
	memset(to, 0, n);
	reduced_read_tables(e, offset, to, n);
	for (i = reduced_first(e, offset); i < e->table->sections; i++) {
		const struct reduced_place *place = &e->place[i];
		uint64_t into;
		size_t skip, common;
		int err;

		if (place->offset >= offset + n)
			break;
		DEBUG_ASSERT(i == 0 || place->offset >=
				       place[-1].offset + place[-1].size);
		if (!place->from)
			continue;
		common = reduced_common(offset, n, place->offset, place->size,
					&skip, &into);
		DEBUG_ASSERT(!common || (skip + common <= n &&
					 into + common <= place->size));
		err = common ? elf_tables_bytes(place->from->fd,
						place->at + into, to + skip,
						common)
			     : 0;
		if (err)
			return err;
	}
	return 0;
}
