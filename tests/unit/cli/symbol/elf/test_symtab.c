/* test_symtab.c: which of several names at one address is a function's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "cli/symbol/elf/symtab.h"
#include "tests/unit/elf_builder.h"

#define BASE 0x1000
#define NAMES "\0first\0second"
#define FIRST 1
#define SECOND 7

/* The name at the address of two symbols, in this order, of these bindings,
 * types and sizes. */
static const char *chosen(const unsigned char info[2], const uint64_t size[2])
{
	const Elf64_Sym symbols[3] = {
		{ 0 },
		{ .st_name = FIRST, .st_value = BASE, .st_shndx = 1,
		  .st_info = info[0], .st_size = size[0] },
		{ .st_name = SECOND, .st_value = BASE, .st_shndx = 1,
		  .st_info = info[1], .st_size = size[1] },
	};
	Elf64_Shdr code = { .sh_type = SHT_PROGBITS, .sh_addr = BASE,
			    .sh_flags = SHF_ALLOC | SHF_EXECINSTR };
	Elf64_Shdr table = { .sh_type = SHT_SYMTAB,
			     .sh_entsize = sizeof(Elf64_Sym) };
	Elf64_Shdr strings = { .sh_type = SHT_STRTAB };
	struct symtab found = { 0 };
	struct elf_builder b;
	struct elffile *file;
	const char *name;

	elf_builder_begin(&b);
	elf_builder_section(&b, &code, ".text", "0123456789abcdef", 16);
	table.sh_link = elf_builder_section(&b, &strings, ".strtab", NAMES,
					    sizeof(NAMES));
	elf_builder_section(&b, &table, ".symtab", symbols, sizeof(symbols));
	elf_builder_end(&b);
	file = elffile_of_memory(b.bytes, b.size, "made");
	b.bytes = NULL;
	elf_builder_free(&b);
	assert_non_null(file);
	assert_int_equal(symtab_add(&found, file, SHT_SYMTAB), 2);
	symtab_sort(&found);
	name = strcmp(symtab_find(&found, BASE + 8)->name, "first") == 0 ?
		"first" : "second";
	symtab_free(&found);
	elffile_close(file);
	return name;
}

static void one_name_of_two(void **state)
{
	enum {
		FUNCTION = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		WEAK = ELF64_ST_INFO(STB_WEAK, STT_FUNC),
		LOCAL = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
		LABEL = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE),
		OWN_LABEL = ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE),
	};
	static const struct {
		unsigned char info[2];
		uint64_t size[2];
		const char *name;
	} cases[] = {
		{ { FUNCTION, FUNCTION }, { 16, 16 }, "first" },
		{ { WEAK, FUNCTION }, { 16, 16 }, "second" },
		{ { LOCAL, WEAK }, { 16, 16 }, "second" },
		{ { LABEL, FUNCTION }, { 0, 0 }, "second" },
		{ { FUNCTION, LABEL }, { 0, 0 }, "first" },
		{ { LABEL, LOCAL }, { 0, 0 }, "second" },
		{ { OWN_LABEL, LABEL }, { 0, 0 }, "second" },
		/* what says how long it is goes first */
		{ { FUNCTION, LABEL }, { 0, 16 }, "second" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (strcmp(chosen(cases[i].info, cases[i].size),
			   cases[i].name) != 0)
			fail_msg("case %zu: not %s", i, cases[i].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_name_of_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
