/*
 * fuzz_callframe.c: the bytes of a fuzzer as an ELF file of any machine: reads
 * its unwind tables, compares them with the code, makes rules for code that
 * they do not cover, writes the rules and reads them again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/symbol/cfi/cfi_verify.h"
#include "cli/symbol/cfi/rule_file.h"
#include "unwind/base/assertion.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ENTRIES = 24, CODE_MAX = 4096 };

static bool keep_row(void *owner, const struct callframe_row *row)
{
	uint64_t *end = owner;

	ASSERT(row->start < row->end && row->start >= *end);
	*end = row->end;
	return true;
}

static void ask_tables(struct binary *binary)
{
	struct cfi_verifier checker;

	if (!cfi_verify_open(&checker, &binary->table, &binary->symbols))
		return;
	for (size_t i = 0; i < binary->table.count && i < ENTRIES; i++) {
		const struct callframe_entry *entry = &binary->table.entries[i];
		struct cfi_verify_result result;
		uint64_t end = 0;

		callframe_rows(&binary->table, entry, keep_row, &end);
		if (entry->end - entry->start > CODE_MAX)
			continue;
		cfi_verify_entry(&checker, entry, i & 1, &result);
		cfi_verify_free(&result);
	}
	cfi_verify_close(&checker);
}

static void make_rules(const struct binary *binary)
{
	struct buffer bytes = { 0 };
	struct callframe table;
	struct generated_rules made;
	struct elffile *file;

	if (!generated_rules_make(&made, binary))
		return;
	rule_file_bytes(binary, &made, &bytes);
	file = elffile_of_memory((unsigned char *)bytes.data, bytes.size,
				 "made");
	ASSERT(file != NULL);
	callframe_open(&table, file);
	ASSERT(table.left_out == 0);
	ASSERT(table.count <= made.count);
	callframe_free(&table);
	elffile_close(file);
	generated_rules_free(&made);
}

/* Of its code no more than this is run: fuzzers wait for nobody. */
static bool is_small(const struct binary *binary)
{
	const struct elf_tables *t = &binary->file->tables;
	uint64_t code = 0;

	for (uint32_t i = 0; i < t->sections; i++)
		if (t->section[i].sh_flags & SHF_EXECINSTR)
			code += t->section[i].sh_size;
	return code <= CODE_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *copy = malloc(size ? size : 1);
	struct binary binary = { 0 };

	if (copy == NULL)
		return 0;
	memcpy(copy, data, size);
	binary.file = elffile_of_memory(copy, size, "fuzzed");
	if (binary.file == NULL)
		return 0;
	binary.machine = machine_of(
		binary.file->tables.header.e_machine,
		binary.file->tables.header.e_ident[EI_CLASS] == ELFCLASS64);
	if (binary.machine != NULL) {
		callframe_open(&binary.table, binary.file);
		symtab_add(&binary.symbols, binary.file, SHT_SYMTAB);
		symtab_sort(&binary.symbols);
		ask_tables(&binary);
		if (is_small(&binary))
			make_rules(&binary);
	}
	binary_close(&binary);
	return 0;
}
