/*
 * embed_elf.c: see the header. The table of sections stays as it is, because
 * symbols refer to sections by number; what is not wanted of them becomes
 * NOBITS where it is mapped, and nothing elsewhere. A separate debug file has
 * that same table, with NOBITS where only the binary has the bytes: then its
 * table is the one that is copied, and bytes come from whoever has them.
 *
 *	ELF header | program headers | sections wanted … | section headers
 *
 * .eh_frame lies as far behind .eh_frame_hdr as it does in memory, which is
 * where unwinders look for it. Nothing of it exists as a whole at any time:
 * the plan says where each byte comes from.
 *
 * I1: a place lies in its file as that was when it was loaded.
 * I2: places do not overlap, and come in the order of their offsets.
 */
#include "cli/recorder/embed/embed_elf.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "preload/base/base.h"
#include "preload/base/sys.h"

#define EMBED_ELF_SIZE_MAX (UINT64_C(1) << 40)	/* sums of sizes never wrap */
#define EMBED_ELF_ALIGN_MAX 4096
#define EMBED_ELF_LIKE 16	/* the alignment of .eh_frame, at most */
#define EMBED_ELF_GAP_MAX 4096	/* between .eh_frame_hdr and .eh_frame */
#define EMBED_ELF_NOTES 1024	/* bytes of a section of notes */

/* Of debug information, what nobody asks for who looks up addresses. */
static const char embed_elf_unwanted[][20] = {
	"loc", "loclists", "macro", "macinfo", "pubnames", "pubtypes",
	"gnu_pubnames", "gnu_pubtypes", "names", "gdb_scripts",
};

static const char embed_elf_wanted[][20] = {
	".symtab", ".strtab", ".symtab_shndx", ".dynsym", ".dynstr",
	".shstrtab", ".eh_frame", ".eh_frame_hdr", ".gnu_debugdata",
	".gnu_debugaltlink", ".note.gnu.build-id", ".opd", ".ARM.exidx",
	".ARM.extab", ".debug_frame",
};

int embed_elf_bytes(int fd, uint64_t offset, void *to, size_t n)
{
	size_t done = 0;

	while (done < n) {
		long got = arch_syscall4(__NR_pread64, fd,
					 (long)((char *)to + done), n - done,
					 (long)(offset + done));

		if (got == -EINTR)
			continue;
		if (got <= 0)
			return got ? got : -EBADMSG;
		done += got;
	}
	return 0;
}

/* ---- a file's tables ---- */

static bool embed_elf_within(uint64_t offset, uint64_t n, uint64_t size)
{
	return offset <= size && n <= size - offset;
}

static bool embed_elf_is_ours(const ElfW(Ehdr) *h)
{
	static const ElfW(Half) order = 1;
	unsigned data = *(const char *)&order ? ELFDATA2LSB : ELFDATA2MSB;

	return memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 &&
	       h->e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 :
							      ELFCLASS32) &&
	       h->e_ident[EI_DATA] == data &&
	       /* the last is what dwz makes */
	       (h->e_type == ET_EXEC || h->e_type == ET_DYN ||
		h->e_type == ET_REL);
}

static int embed_elf_tables(struct embed_elf_file *f)
{
	const ElfW(Ehdr) *h = &f->header;
	uint64_t sections = (uint64_t)h->e_shnum * sizeof(f->section[0]);
	uint64_t phdrs = (uint64_t)h->e_phnum * sizeof(f->phdr[0]);
	int err;

	if (h->e_shnum > EMBED_ELF_SECTIONS || h->e_phnum > EMBED_ELF_PHDRS)
		return -E2BIG;
	/* one with more sections than e_shnum can say is none of these */
	if (!h->e_shnum || h->e_shentsize != sizeof(f->section[0]) ||
	    (h->e_phnum && h->e_phentsize != sizeof(f->phdr[0])) ||
	    h->e_shstrndx >= h->e_shnum ||
	    !embed_elf_within(h->e_shoff, sections, f->size) ||
	    !embed_elf_within(h->e_phoff, phdrs, f->size))
		return -EBADMSG;
	f->sections = h->e_shnum;
	f->phdrs = h->e_phnum;
	err = embed_elf_bytes(f->fd, h->e_shoff, f->section, sections);
	if (!err)
		err = embed_elf_bytes(f->fd, h->e_phoff, f->phdr, phdrs);
	return err;
}

int embed_elf_load(struct embed_elf_file *f, int fd)
{
	const ElfW(Shdr) *names;
	struct stat st;
	size_t n;
	int err;

	f->fd = fd;
	f->sections = f->phdrs = 0;
	memset(f->names, 0, sizeof(f->names));
	if (sys_fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    (uint64_t)st.st_size > EMBED_ELF_SIZE_MAX)
		return -EBADMSG;
	f->size = st.st_size;
	err = embed_elf_bytes(fd, 0, &f->header, sizeof(f->header));
	if (!err && !embed_elf_is_ours(&f->header))
		err = -EBADMSG;
	if (!err)
		err = embed_elf_tables(f);
	if (err)
		return err;
	names = &f->section[f->header.e_shstrndx];
	if (names->sh_type == SHT_NOBITS ||
	    !embed_elf_within(names->sh_offset, names->sh_size, f->size))
		return -EBADMSG;
	/* one whose name lies behind that has none here */
	n = base_min(names->sh_size, sizeof(f->names) - 1);
	return embed_elf_bytes(fd, names->sh_offset, f->names, n);
}

static const char *embed_elf_name(const struct embed_elf_file *f,
				  const ElfW(Shdr) *section)
{
	return section->sh_name < sizeof(f->names) ?
		       f->names + section->sh_name : "";
}

/* Whether it has bytes in the file. */
static bool embed_elf_has(const struct embed_elf_file *f,
			  const ElfW(Shdr) *section)
{
	return section->sh_type != SHT_NOBITS &&
	       section->sh_type != SHT_NULL && section->sh_size &&
	       embed_elf_within(section->sh_offset, section->sh_size,
				f->size);
}

/* The first bytes of the section of this name; their number, 0: none. */
static size_t embed_elf_section(const struct embed_elf_file *f,
				const char *name, void *to, size_t n)
{
	uint32_t i;

	for (i = 0; i < f->sections; i++) {
		const ElfW(Shdr) *section = &f->section[i];

		if (strcmp(embed_elf_name(f, section), name) != 0 ||
		    !embed_elf_has(f, section) ||
		    section->sh_flags & SHF_COMPRESSED)
			continue;
		n = base_min(section->sh_size, n);
		return embed_elf_bytes(f->fd, section->sh_offset, to, n) ?
			       0 : n;
	}
	return 0;
}

/* ---- notes and links ---- */

/* The build-id among notes (System V gABI, "Note Section"). */
static uint32_t embed_elf_find_id(const uint8_t *at, size_t left, uint8_t *id)
{
	while (left >= sizeof(ElfW(Nhdr))) {
		ElfW(Nhdr) note;
		size_t name, whole;

		memcpy(&note, at, sizeof(note));
		if (note.n_namesz > left || note.n_descsz > left)
			return 0;
		name = base_round_up(note.n_namesz, 4);
		whole = sizeof(note) + name + base_round_up(note.n_descsz, 4);
		if (sizeof(note) + name + note.n_descsz > left)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(at + sizeof(note), "GNU", 4) == 0 &&
		    note.n_descsz <= EMBED_ELF_ID_MAX) {
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

static uint32_t embed_elf_id_at(const struct embed_elf_file *f,
				uint64_t offset, uint64_t size, uint8_t *id)
{
	uint8_t notes[EMBED_ELF_NOTES];

	size = base_min(size, sizeof(notes));
	if (!embed_elf_within(offset, size, f->size) ||
	    embed_elf_bytes(f->fd, offset, notes, size))
		return 0;
	return embed_elf_find_id(notes, size, id);
}

uint32_t embed_elf_id(const struct embed_elf_file *f,
		      uint8_t id[EMBED_ELF_ID_MAX])
{
	uint32_t n = 0, i;

	for (i = 0; i < f->sections && !n; i++)
		if (f->section[i].sh_type == SHT_NOTE)
			n = embed_elf_id_at(f, f->section[i].sh_offset,
					    f->section[i].sh_size, id);
	for (i = 0; i < f->phdrs && !n; i++)
		if (f->phdr[i].p_type == PT_NOTE)
			n = embed_elf_id_at(f, f->phdr[i].p_offset,
					    f->phdr[i].p_filesz, id);
	return n;
}

/* Where a text ends that has to be all of it in n bytes; 0: nowhere, or it is
 * empty. */
static size_t embed_elf_end(const char *text, size_t n)
{
	size_t i;

	for (i = 0; i < n && text[i]; i++)
		;
	return i < n ? i : 0;
}

bool embed_elf_link(const struct embed_elf_file *f, char *name, size_t size)
{
	size_t n = embed_elf_section(f, ".gnu_debuglink", name, size);

	/* a name, its NUL, padding, a checksum */
	return embed_elf_end(name, n) != 0;
}

uint32_t embed_elf_alternate(const struct embed_elf_file *f, char *name,
			     size_t size, uint8_t id[EMBED_ELF_ID_MAX])
{
	size_t n = embed_elf_section(f, ".gnu_debugaltlink", name, size);
	size_t end = embed_elf_end(name, n);

	if (!end || n - end - 1 > EMBED_ELF_ID_MAX)
		return 0;
	memcpy(id, name + end + 1, n - end - 1);
	return n - end - 1;
}

/* ---- the plan ---- */

/* Behind ".debug_" or ".zdebug_"; NULL: no debug information. Unwind tables
 * are told apart: they are wanted by another reason. */
static const char *embed_elf_debug(const char *name)
{
	if (strncmp(name, ".debug_", 7) == 0)
		name += 7;
	else if (strncmp(name, ".zdebug_", 8) == 0)
		name += 8;
	else
		return NULL;
	return strcmp(name, "frame") == 0 ? NULL : name;
}

static bool embed_elf_among(const char *name, const char (*list)[20], size_t n)
{
	while (n--)
		if (strcmp(name, list[n]) == 0)
			return true;
	return false;
}

static bool embed_elf_wants(const struct embed_elf *e, const char *name)
{
	const char *debug = embed_elf_debug(name);

	if (debug)
		return !e->cut &&
		       !embed_elf_among(debug, embed_elf_unwanted,
					sizeof(embed_elf_unwanted) /
					sizeof(*embed_elf_unwanted));
	return embed_elf_among(name, embed_elf_wanted,
			       sizeof(embed_elf_wanted) /
			       sizeof(*embed_elf_wanted));
}

/* Whoever has the bytes of a section. */
static const ElfW(Shdr) *embed_elf_source(const struct embed_elf *e,
					  const ElfW(Shdr) *section,
					  const char *name,
					  const struct embed_elf_file **from)
{
	const struct embed_elf_file *binary = &e->binary;
	uint32_t i;

	*from = e->table;
	if (embed_elf_has(e->table, section))
		return section;
	if (e->table == binary || !(section->sh_flags & SHF_ALLOC))
		return NULL;
	*from = binary;
	for (i = 0; i < binary->sections; i++) {
		const ElfW(Shdr) *other = &binary->section[i];

		if (other->sh_addr == section->sh_addr &&
		    strcmp(embed_elf_name(binary, other), name) == 0)
			return embed_elf_has(binary, other) ? other : NULL;
	}
	return NULL;
}

static uint64_t embed_elf_align(uint64_t at, uint64_t align)
{
	if (align <= 1 || align > EMBED_ELF_ALIGN_MAX || align & (align - 1))
		return at;
	return (at + align - 1) & ~(align - 1);
}

/* From `at` on, aligned as the address is: what comes behind it in memory is
 * not to be moved by its own alignment. */
static uint64_t embed_elf_like(uint64_t at, uint64_t address)
{
	return at + ((address - at) & (EMBED_ELF_LIKE - 1));
}

/* Where .eh_frame goes: see above. `at`: where else. */
static uint64_t embed_elf_behind(const struct embed_elf *e, uint64_t at,
				 uint32_t header, const ElfW(Shdr) *section)
{
	const struct embed_elf_place *before = &e->place[header];
	uint64_t distance = section->sh_addr -
			    e->table->section[header].sh_addr;

	if (distance > before->size + (at - before->offset) +
				EMBED_ELF_GAP_MAX ||
	    before->offset + distance < at)
		return at;
	return before->offset + distance;
}

static void embed_elf_layout(struct embed_elf *e)
{
	const struct embed_elf_file *table = e->table;
	uint32_t header = 0, i;
	uint64_t at = sizeof(e->header) + e->binary.phdrs * sizeof(e->phdr[0]);

	e->debug_bytes = 0;
	for (i = 0; i < table->sections; i++) {
		const ElfW(Shdr) *section = &table->section[i], *source;
		const char *name = embed_elf_name(table, section);
		struct embed_elf_place *place = &e->place[i];
		const struct embed_elf_file *from;

		place->from = NULL;
		if (!embed_elf_wants(e, name) &&
		    i != table->header.e_shstrndx)
			continue;
		source = embed_elf_source(e, section, name, &from);
		if (!source)
			continue;
		place->offset = embed_elf_align(at, section->sh_addralign);
		if (strcmp(name, ".eh_frame_hdr") == 0)
			place->offset = embed_elf_like(at, section->sh_addr);
		if (header && strcmp(name, ".eh_frame") == 0)
			place->offset = embed_elf_behind(e, place->offset,
							 header, section);
		if (strcmp(name, ".eh_frame_hdr") == 0)
			header = i;
		place->from = from;
		place->at = source->sh_offset;
		place->size = source->sh_size;
		at = place->offset + place->size;
		if (embed_elf_debug(name))
			e->debug_bytes += place->size;
	}
	e->header.e_shoff = embed_elf_align(at, 8);
	e->size = e->header.e_shoff +
		  table->sections * sizeof(table->section[0]);
}

/* Where the bytes at an address went; 0: nowhere. */
static uint64_t embed_elf_went(const struct embed_elf *e, uint64_t address,
			       uint64_t size)
{
	uint32_t i;

	for (i = 0; i < e->table->sections; i++) {
		const ElfW(Shdr) *section = &e->table->section[i];

		if (e->place[i].from && section->sh_flags & SHF_ALLOC &&
		    address >= section->sh_addr &&
		    embed_elf_within(address - section->sh_addr, size,
				     e->place[i].size))
			return e->place[i].offset +
			       (address - section->sh_addr);
	}
	return 0;
}

/* Loads keep their addresses and have no bytes; what has to have bytes and has
 * none is voided. */
static void embed_elf_phdrs(struct embed_elf *e)
{
	uint32_t i;

	for (i = 0; i < e->binary.phdrs; i++) {
		ElfW(Phdr) *p = &e->phdr[i];

		*p = e->binary.phdr[i];
		p->p_offset = p->p_type == PT_LOAD ?
				      0 : embed_elf_went(e, p->p_vaddr,
							 p->p_filesz);
		if (p->p_offset)
			continue;
		if (p->p_filesz && p->p_type != PT_LOAD && p->p_type != PT_TLS)
			p->p_type = PT_NULL;
		p->p_filesz = 0;
		p->p_offset = p->p_align > 1 ? p->p_vaddr % p->p_align : 0;
	}
}

/* Overlapping sections may claim more bytes than there are. */
static bool embed_elf_plausible(const struct embed_elf *e)
{
	uint64_t most = e->binary.size + sizeof(e->binary) +
			EMBED_ELF_SECTIONS * (uint64_t)EMBED_ELF_ALIGN_MAX;

	if (e->debug.fd >= 0)
		most += e->debug.size + sizeof(e->debug);
	return e->size <= most;
}

static bool embed_elf_together(const struct embed_elf *e)
{
	const ElfW(Ehdr) *a = &e->binary.header, *b = &e->debug.header;

	return e->debug.fd >= 0 && a->e_machine == b->e_machine &&
	       a->e_type == b->e_type;
}

int embed_elf_plan(struct embed_elf *e, uint64_t debug_bytes_max)
{
	e->table = embed_elf_together(e) ? &e->debug : &e->binary;
	e->header = e->table->header;
	e->header.e_phoff = sizeof(e->header);
	e->header.e_phnum = e->binary.phdrs;
	e->header.e_phentsize = sizeof(e->phdr[0]);
	e->header.e_ehsize = sizeof(e->header);
	e->cut = false;
	embed_elf_layout(e);
	if (e->debug_bytes > debug_bytes_max) {
		e->cut = true;
		embed_elf_layout(e);
	}
	embed_elf_phdrs(e);
	return embed_elf_plausible(e) ? 0 : -EBADMSG;
}

/* ---- reading ---- */

/* What [offset, offset + n) and [start, start + size) have in common: its
 * length; *skip bytes into the first, *into bytes into the second. */
static size_t embed_elf_common(uint64_t offset, size_t n, uint64_t start,
			       uint64_t size, size_t *skip, uint64_t *into)
{
	uint64_t from = base_max(offset, start);
	uint64_t to = base_min(offset + n, start + size);

	*skip = from - offset;
	*into = from - start;
	return to > from ? to - from : 0;
}

static void embed_elf_copy(uint64_t offset, uint8_t *to, size_t n,
			   uint64_t start, const void *from, size_t size)
{
	uint64_t into;
	size_t skip;
	size_t common = embed_elf_common(offset, n, start, size, &skip, &into);

	if (common)
		memcpy(to + skip, (const char *)from + into, common);
}

/* Of a section whose bytes the debug file does not have, its kind. */
static unsigned embed_elf_kind(const char *name)
{
	if (strncmp(name, ".note", 5) == 0)
		return SHT_NOTE;
	if (strcmp(name, ".dynsym") == 0)
		return SHT_DYNSYM;
	return strcmp(name, ".dynstr") == 0 ? SHT_STRTAB : SHT_PROGBITS;
}

static void embed_elf_header(const struct embed_elf *e, uint32_t i,
			     ElfW(Shdr) *to)
{
	const struct embed_elf_place *place = &e->place[i];

	*to = e->table->section[i];
	if (place->from) {
		if (to->sh_type == SHT_NOBITS)
			to->sh_type = embed_elf_kind(
				embed_elf_name(e->table, to));
		to->sh_offset = place->offset;
		to->sh_size = place->size;
	} else if (to->sh_flags & SHF_ALLOC) {
		to->sh_type = SHT_NOBITS;
		to->sh_offset = sizeof(e->header);
	} else {
		memset(to, 0, sizeof(*to));
	}
}

int embed_elf_read(const struct embed_elf *e, uint64_t offset, uint8_t *to,
		   size_t n)
{
	uint32_t i;

	memset(to, 0, n);
	embed_elf_copy(offset, to, n, 0, &e->header, sizeof(e->header));
	embed_elf_copy(offset, to, n, sizeof(e->header), e->phdr,
		       e->binary.phdrs * sizeof(e->phdr[0]));
	for (i = 0; i < e->table->sections; i++) {
		const struct embed_elf_place *place = &e->place[i];
		ElfW(Shdr) header;
		uint64_t into;
		size_t skip, common;
		int err;

		embed_elf_header(e, i, &header);
		embed_elf_copy(offset, to, n,
			       e->header.e_shoff + i * sizeof(header), &header,
			       sizeof(header));
		if (!place->from)
			continue;
		common = embed_elf_common(offset, n, place->offset,
					  place->size, &skip, &into);
		err = common ? embed_elf_bytes(place->from->fd,
					       place->at + into, to + skip,
					       common) : 0;
		if (err)
			return err;
	}
	return 0;
}
