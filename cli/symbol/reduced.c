/*
 * reduced.c: copies an ELF file section by section. The table of sections stays
 * as it is, because symbols refer to sections by number; what is not wanted of
 * them becomes NOBITS where it is mapped, and nothing elsewhere. A separate
 * debug file has that same table, with NOBITS where only the binary has the
 * bytes: then its table is the one that is copied, and the bytes come from
 * whoever has them.
 *
 *	ELF header | program headers | sections wanted … | section headers
 *
 * .eh_frame is put as far behind .eh_frame_hdr as it is in memory, which is
 * where unwinders look for it; PT_GNU_EH_FRAME and PT_NOTE are moved along.
 * Loads keep their addresses and sizes in memory and have no bytes in the file;
 * what else would have to have bytes and has none is voided.
 *
 * Called by the main thread.
 */
#include "cli/symbol/reduced.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>

#include "cli/base/grow.h"

#define SECTIONS_MAX 65536	/* of a file; -ffunction-sections is for objects */
#define PHDRS_MAX 4096
#define GAP_MAX 8192		/* bytes between .eh_frame_hdr and .eh_frame */
#define ALIGN_MAX 4096		/* a page: beyond that it says nothing */

struct reduction {
	Elf *from;		/* whose table of sections is copied */
	Elf *binary;		/* whose bytes are taken where it has none */
	Elf *to;
	size_t names;		/* number of the section of section names */
	uint64_t offset;	/* end of what was laid out */
	uint64_t header_offset, header_address;	/* of .eh_frame_hdr */
	uint64_t *offsets;	/* of the sections, 0: no bytes */
};

/* Of debug information, what nobody asks for who looks up addresses. */
static const char *const unwanted[] = {
	".debug_loc", ".debug_loclists", ".debug_macro", ".debug_macinfo",
	".debug_pubnames", ".debug_pubtypes", ".debug_gnu_pubnames",
	".debug_gnu_pubtypes", ".debug_names", ".debug_gdb_scripts",
};

static const char *const wanted[] = {
	".symtab", ".strtab", ".symtab_shndx", ".dynsym", ".dynstr",
	".shstrtab", ".eh_frame", ".eh_frame_hdr", ".gnu_debugdata",
	".gnu_debugaltlink", ".note.gnu.build-id", ".opd", ".ARM.exidx",
	".ARM.extab",
};

static bool is_among(const char *name, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(name, list[i]) == 0)
			return true;
	return false;
}

static bool is_wanted(const char *name)
{
	if (strncmp(name, ".zdebug_", 8) == 0)
		return true;
	if (strncmp(name, ".debug_", 7) == 0)
		return !is_among(name, unwanted,
				 sizeof(unwanted) / sizeof(unwanted[0]));
	return is_among(name, wanted, sizeof(wanted) / sizeof(wanted[0]));
}

/* The bytes of a section as they are in the file; NULL: none. */
static Elf_Data *bytes_of(Elf_Scn *section)
{
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;

	return data != NULL && data->d_buf != NULL && data->d_size > 0 ?
		data : NULL;
}

/* The section of the binary that lies at that address under that name. */
static Elf_Scn *same_section(Elf *binary, const char *name, uint64_t address)
{
	Elf_Scn *section = NULL;
	size_t names;
	GElf_Shdr header;

	if (elf_getshdrstrndx(binary, &names) != 0)
		return NULL;
	while ((section = elf_nextscn(binary, section)) != NULL) {
		const char *other;

		if (gelf_getshdr(section, &header) == NULL)
			continue;
		other = elf_strptr(binary, names, header.sh_name);
		if (other != NULL && header.sh_addr == address &&
		    strcmp(other, name) == 0)
			return header.sh_type == SHT_NOBITS ? NULL : section;
	}
	return NULL;
}

static Elf_Data *find_bytes(const struct reduction *r, Elf_Scn *section,
			    const GElf_Shdr *header, const char *name)
{
	Elf_Data *data = NULL;

	if (header->sh_type != SHT_NOBITS)
		data = bytes_of(section);
	if (data == NULL && r->binary != r->from &&
	    header->sh_flags & SHF_ALLOC)
		data = bytes_of(same_section(r->binary, name,
					     header->sh_addr));
	return data;
}

static uint64_t align_up(uint64_t value, uint64_t align)
{
	return align > 1 && align <= ALIGN_MAX && (align & (align - 1)) == 0 ?
		(value + align - 1) & ~(align - 1) : value;
}

/* Where the bytes of a section go. */
static uint64_t place(struct reduction *r, const GElf_Shdr *header,
		      const char *name)
{
	uint64_t at = align_up(r->offset, header->sh_addralign);
	uint64_t distance = header->sh_addr - r->header_address;

	if (strcmp(name, ".eh_frame_hdr") == 0) {
		r->header_offset = at;
		r->header_address = header->sh_addr;
	} else if (strcmp(name, ".eh_frame") == 0 && r->header_offset != 0 &&
		   distance >= r->offset - r->header_offset &&
		   distance - (r->offset - r->header_offset) < GAP_MAX) {
		at = r->header_offset + distance;
	}
	return at;
}

static int copy_section(struct reduction *r, Elf_Scn *section)
{
	Elf_Scn *copy = elf_newscn(r->to);
	size_t index = elf_ndxscn(section);
	Elf_Data *data = NULL, *to;
	GElf_Shdr header;
	const char *name;

	if (copy == NULL || elf_ndxscn(copy) != index ||
	    gelf_getshdr(section, &header) == NULL)
		return -EBADMSG;
	name = elf_strptr(r->from, r->names, header.sh_name);
	if (name == NULL)
		name = "";
	if (is_wanted(name) || index == r->names)
		data = find_bytes(r, section, &header, name);
	if (data != NULL) {
		if (header.sh_type == SHT_NOBITS)	/* the debug file's */
			header.sh_type = strncmp(name, ".note", 5) == 0 ?
				SHT_NOTE : strcmp(name, ".dynsym") == 0 ?
				SHT_DYNSYM : strcmp(name, ".dynstr") == 0 ?
				SHT_STRTAB : SHT_PROGBITS;
		header.sh_offset = place(r, &header, name);
		header.sh_size = data->d_size;
		to = elf_newdata(copy);
		if (to == NULL)
			return -ENOMEM;
		to->d_buf = data->d_buf;
		to->d_size = data->d_size;
		to->d_type = ELF_T_BYTE;
		to->d_align = 1;
		r->offset = header.sh_offset + header.sh_size;
		r->offsets[index] = header.sh_offset;
	} else if (header.sh_flags & SHF_ALLOC) {
		header.sh_type = SHT_NOBITS;
		header.sh_offset = r->offset;
	} else {
		/* libelf fills up from the end of the section before. */
		header = (GElf_Shdr){
			.sh_type = SHT_NULL, .sh_offset = r->offset,
		};
	}
	return gelf_update_shdr(copy, &header) ? 0 : -EBADMSG;
}

/* Where the bytes at an address went; 0: nowhere. */
static uint64_t offset_of(const struct reduction *r, uint64_t address,
			  uint64_t size)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(r->from, section)) != NULL)
		if (gelf_getshdr(section, &header) != NULL &&
		    header.sh_flags & SHF_ALLOC &&
		    address >= header.sh_addr && size <= header.sh_size &&
		    address - header.sh_addr <= header.sh_size - size &&
		    r->offsets[elf_ndxscn(section)] != 0)
			return r->offsets[elf_ndxscn(section)] +
			       (address - header.sh_addr);
	return 0;
}

static int copy_phdrs(struct reduction *r, size_t count)
{
	GElf_Phdr phdr;

	for (size_t i = 0; i < count; i++) {
		uint64_t offset;

		if (gelf_getphdr(r->binary, (int)i, &phdr) == NULL)
			return -EBADMSG;
		offset = phdr.p_type == PT_LOAD ? 0 :
			offset_of(r, phdr.p_vaddr, phdr.p_filesz);
		if (offset == 0) {
			if (phdr.p_filesz > 0 && phdr.p_type != PT_LOAD &&
			    phdr.p_type != PT_TLS)
				phdr.p_type = PT_NULL;
			phdr.p_filesz = 0;
			offset = phdr.p_align > 1 ?
				phdr.p_vaddr % phdr.p_align : 0;
		}
		phdr.p_offset = offset;
		if (gelf_update_phdr(r->to, (int)i, &phdr) == 0)
			return -EBADMSG;
	}
	return 0;
}

static int copy_header(struct reduction *r, GElf_Ehdr *header, size_t phdrs)
{
	GElf_Ehdr copy;

	if (gelf_newehdr(r->to, gelf_getclass(r->from)) == NULL ||
	    (phdrs > 0 && gelf_newphdr(r->to, phdrs) == NULL) ||
	    gelf_getehdr(r->to, &copy) == NULL)
		return -EBADMSG;
	memcpy(copy.e_ident, header->e_ident, EI_NIDENT);
	copy.e_type = header->e_type;
	copy.e_machine = header->e_machine;
	copy.e_version = header->e_version;
	copy.e_entry = header->e_entry;
	copy.e_flags = header->e_flags;
	copy.e_shstrndx = header->e_shstrndx;
	copy.e_phoff = gelf_fsize(r->to, ELF_T_EHDR, 1, EV_CURRENT);
	r->offset = copy.e_phoff + gelf_fsize(r->to, ELF_T_PHDR, phdrs,
					      EV_CURRENT);
	return gelf_update_ehdr(r->to, &copy) ? 0 : -EBADMSG;
}

static int put_section_headers(struct reduction *r)
{
	GElf_Ehdr header;

	if (gelf_getehdr(r->to, &header) == NULL)
		return -EBADMSG;
	header.e_shoff = align_up(r->offset, 8);
	return gelf_update_ehdr(r->to, &header) &&
	       elf_update(r->to, ELF_C_WRITE) >= 0 ? 0 : -EBADMSG;
}

static int reduce(struct reduction *r)
{
	size_t sections, phdrs = 0;
	Elf_Scn *section = NULL;
	GElf_Ehdr header;
	int error;

	if (gelf_getehdr(r->from, &header) == NULL ||
	    elf_getshdrnum(r->from, &sections) != 0 ||
	    elf_getshdrstrndx(r->from, &r->names) != 0 ||
	    elf_getphdrnum(r->binary, &phdrs) != 0 || sections == 0 ||
	    sections > SECTIONS_MAX || phdrs > PHDRS_MAX ||
	    r->names >= SHN_LORESERVE)
		return -EBADMSG;
	r->offsets = grow_zeroed(sections, sizeof(*r->offsets));
	elf_flagelf(r->to, ELF_C_SET, ELF_F_LAYOUT);
	error = copy_header(r, &header, phdrs);
	while (error == 0 &&
	       (section = elf_nextscn(r->from, section)) != NULL)
		error = copy_section(r, section);
	if (error == 0)
		error = copy_phdrs(r, phdrs);
	if (error == 0)
		error = put_section_headers(r);
	free(r->offsets);
	return error;
}

/* May the two be of one program? */
static bool belong_together(Elf *binary, Elf *debug)
{
	GElf_Ehdr a, b;

	return elf_kind(debug) == ELF_K_ELF &&
	       gelf_getehdr(binary, &a) != NULL &&
	       gelf_getehdr(debug, &b) != NULL &&
	       a.e_machine == b.e_machine && a.e_type == b.e_type &&
	       gelf_getclass(binary) == gelf_getclass(debug) &&
	       a.e_ident[EI_DATA] == b.e_ident[EI_DATA];
}

int reduced_write(int binary, int debug, int out)
{
	struct reduction r = { 0 };
	Elf *other = NULL;
	int error = -EBADMSG;

	elf_version(EV_CURRENT);
	r.binary = elf_begin(binary, ELF_C_READ_MMAP, NULL);
	if (debug >= 0)
		other = elf_begin(debug, ELF_C_READ_MMAP, NULL);
	r.to = elf_begin(out, ELF_C_WRITE, NULL);
	if (r.binary != NULL && r.to != NULL &&
	    elf_kind(r.binary) == ELF_K_ELF) {
		r.from = other != NULL && belong_together(r.binary, other) ?
			other : r.binary;
		error = reduce(&r);
	}
	elf_end(r.to);
	elf_end(other);
	elf_end(r.binary);
	return error;
}

char *reduced_alternate(int file, uint8_t build_id[REDUCED_ID_MAX],
			size_t *build_id_size)
{
	Dwarf *dwarf = dwarf_begin(file, DWARF_C_READ);
	const char *name = NULL;
	const void *id = NULL;
	char *copy = NULL;
	ssize_t size;

	if (dwarf == NULL)
		return NULL;
	size = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id);
	if (size > 0 && size <= REDUCED_ID_MAX && name != NULL) {
		memcpy(build_id, id, (size_t)size);
		*build_id_size = (size_t)size;
		copy = grow_copy(name, strlen(name));
	}
	dwarf_end(dwarf);
	return copy;
}
