/*
 * code_gaps.c: see code_gaps.h.
 */
#include "cli/symbol/cfi/code_gaps.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/search.h"
#include "cli/base/sort.h"

static void add_gap(struct code_gaps *gaps, const struct elf_tables *t,
		    const Elf64_Shdr *section, uint64_t start, uint64_t end)
{
	if (start >= end)
		return;
	GROW(gaps->list, gaps->count, gaps->capacity);
	gaps->list[gaps->count++] = (struct code_gap){
		start, end, t->bytes + section->sh_offset +
		(start - section->sh_addr) };
}

/* Whether a walk in the target can use the entry. .debug_frame is not mapped.
 * .ARM.exidx covers all code, also code it cannot unwind: such entries are no
 * rules. */
static bool covers(const struct callframe_entry *entry)
{
	return entry->source == CALLFRAME_EH;
}

static void gaps_of_section(struct code_gaps *gaps, const struct binary *binary,
			    const Elf64_Shdr *section)
{
	const struct elf_tables *t = &binary->file->tables;
	const struct callframe *table = &binary->table;
	uint64_t end = section->sh_addr + section->sh_size;
	uint64_t at = section->sh_addr;
	size_t i = callframe_behind(table, at);

	if (i > 0)
		i--;
	for (; i < table->count && table->entries[i].start < end; i++) {
		const struct callframe_entry *entry = &table->entries[i];

		if (entry->end <= at || !covers(entry))
			continue;
		add_gap(gaps, t, section, at, entry->start);
		at = entry->end;
	}
	add_gap(gaps, t, section, at, end);
}

static bool is_linkage(const char *name)
{
	return strncmp(name, ".plt", 4) == 0 ||
		strcmp(name, ".MIPS.stubs") == 0 || strcmp(name, ".init") == 0 ||
		strcmp(name, ".fini") == 0;
}

static int by_start(const void *a, const void *b)
{
	const struct code_gap *x = a, *y = b;

	return sort_up(x->start, y->start);
}

/* Sections of a file may overlap: the first counts. */
static void order(struct code_gaps *gaps)
{
	size_t kept = 0;

	SORT(gaps->list, gaps->count, by_start);
	for (size_t i = 0; i < gaps->count; i++)
		if (kept == 0 ||
		    gaps->list[i].start >= gaps->list[kept - 1].end)
			gaps->list[kept++] = gaps->list[i];
	gaps->count = kept;
}

void code_gaps_find(struct code_gaps *gaps, const struct binary *binary,
		    bool linkage)
{
	const struct elf_tables *t = &binary->file->tables;

	memset(gaps, 0, sizeof(*gaps));
	for (uint32_t i = 0; i < t->sections; i++) {
		const Elf64_Shdr *section = &t->section[i];

		if (section->sh_flags & SHF_EXECINSTR &&
		    elf_tables_has(t, section) &&
		    (linkage || !is_linkage(elf_tables_name(t, section))))
			gaps_of_section(gaps, binary, section);
	}
	order(gaps);
}

void code_gaps_free(struct code_gaps *gaps)
{
	free(gaps->list);
	memset(gaps, 0, sizeof(*gaps));
}

static bool gap_behind(const void *list, size_t i, uint64_t address)
{
	return ((const struct code_gap *)list)[i].start > address;
}

const struct code_gap *code_gaps_at(const struct code_gaps *gaps,
				    uint64_t address)
{
	size_t i = search_first(gaps->list, gaps->count, gap_behind, address);

	return i > 0 && address < gaps->list[i - 1].end ? &gaps->list[i - 1] :
		NULL;
}
