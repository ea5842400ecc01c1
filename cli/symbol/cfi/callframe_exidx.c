/*
 * callframe_exidx.c: see the header. It uses the library's decoder (exidx.h),
 * which is independent of the host. The decoder needs index and programs in one
 * piece of memory. Sections of a file are in the order of their addresses, so
 * the segment with the index is used.
 */
#include "cli/symbol/cfi/callframe_exidx.h"

#include <string.h>

#include "cli/base/grow.h"
#include "unwind/rules/exidx.h"

#define SP 13
#define FIRST_VECTOR 264	/* DWARF's number of d8 */

/* False: the file has no such table, or not its bytes. */
static bool find_image(const struct callframe *table,
		       struct exidx_image *image)
{
	const struct elf_tables *t = &table->file->tables;
	const Elf64_Shdr *index = elf_tables_find(t, ".ARM.exidx");

	if (index == NULL || !elf_tables_has(t, index) ||
	    index->sh_addr > UINT32_MAX - index->sh_size)
		return false;
	for (uint32_t i = 0; i < t->phdrs; i++) {
		const Elf64_Phdr *load = &t->phdr[i];

		if (load->p_type != PT_LOAD ||
		    index->sh_addr < load->p_vaddr ||
		    index->sh_addr + index->sh_size >
			    load->p_vaddr + load->p_filesz ||
		    load->p_vaddr + load->p_filesz > UINT32_MAX ||
		    !elf_tables_within(load->p_offset, load->p_filesz,
				       t->size))
			continue;
		*image = (struct exidx_image){
			.bytes = t->bytes + load->p_offset,
			.start = (uint32_t)load->p_vaddr,
			.end = (uint32_t)(load->p_vaddr + load->p_filesz),
			.index = (uint32_t)index->sh_addr,
			.index_end = (uint32_t)(index->sh_addr +
						index->sh_size),
		};
		return true;
	}
	return false;
}

/* The end of the code that an address is in; 0: none. */
static uint64_t code_end(const struct callframe *table, uint64_t address)
{
	const struct elf_tables *t = &table->file->tables;

	for (uint32_t i = 0; i < t->sections; i++)
		if (t->section[i].sh_flags & SHF_EXECINSTR &&
		    address - t->section[i].sh_addr < t->section[i].sh_size)
			return t->section[i].sh_addr + t->section[i].sh_size;
	return 0;
}

void callframe_exidx_add(struct callframe *table)
{
	struct exidx_image image;
	struct exidx_entry exidx;
	int error;

	if (!find_image(table, &image))
		return;
	for (uint32_t i = 0; (error = exidx_at(&image, i, &exidx)) == 0 ||
	     i < (image.index_end - image.index) / 8; i++) {
		uint64_t end = error ? 0 : code_end(table, exidx.start);
		struct callframe_entry entry = {
			.start = exidx.start & ~UINT64_C(1),
			.end = exidx.end < end ? exidx.end : end,
			.source = CALLFRAME_EXIDX,
			.index = i, .at = image.index + 8 * i,
		};

		if (error == 0 && exidx.personality == EXIDX_GENERIC)
			entry.lsda = exidx.program.words + exidx.program.end;
		if (end == 0 || entry.end <= entry.start) {
			table->left_out += error != 0;
			continue;
		}
		GROW(table->entries, table->count, table->capacity);
		table->entries[table->count++] = entry;
	}
}

/* False: the entry is invalid. */
static bool make_row(const struct exidx_entry *exidx,
		     struct callframe_row *row)
{
	struct exidx_frame frame;
	int error = exidx_frame(exidx, &frame);

	if (error > 0) {
		row->how[CALLFRAME_EXIDX_RA] = CALLFRAME_UNDEFINED;
		return true;
	}
	if (error < 0 || frame.complex)
		return false;
	row->cfa_how = CALLFRAME_OFFSET;
	row->cfa_reg = frame.base;
	row->cfa_offset = frame.cfa_off;
	for (unsigned i = 0; i < EXIDX_REGISTERS; i++)
		if (frame.saved >> i & 1 && i != SP) {
			row->how[i] = CALLFRAME_OFFSET;
			row->value[i] = frame.at[i];
		}
	for (unsigned i = 0; i < EXIDX_VECTORS; i++)
		if (frame.vectors >> i & 1) {
			row->how[FIRST_VECTOR + i] = CALLFRAME_OFFSET;
			row->value[FIRST_VECTOR + i] = frame.vector_at[i];
		}
	/* the caller's pc may be popped in place of lr */
	if (frame.saved >> EXIDX_PC & 1) {
		row->how[CALLFRAME_EXIDX_RA] = CALLFRAME_OFFSET;
		row->value[CALLFRAME_EXIDX_RA] = frame.at[EXIDX_PC];
	}
	return true;
}

bool callframe_exidx_rows(const struct callframe *table,
			  const struct callframe_entry *entry,
			  bool (*each)(void *owner,
				       const struct callframe_row *row),
			  void *owner)
{
	struct callframe_row row;
	struct exidx_image image;
	struct exidx_entry exidx;

	if (!find_image(table, &image) ||
	    exidx_at(&image, entry->index, &exidx) != 0)
		return false;
	memset(&row, 0, sizeof(row));
	row.start = entry->start;
	row.end = entry->end;
	if (!make_row(&exidx, &row))
		return false;
	each(owner, &row);
	return true;
}
