/*
 * test_elffile.c: files in memory: with more sections than a header can count,
 * with compressed sections, with sections that lie; functions wherever they are
 * in them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <zlib.h>
#include <zstd.h>

#include "cli/symbol/elf/elffile.h"
#include "cli/symbol/elf/symtab.h"
#include "tests/unit/elf_builder.h"

#define MANY 70000u		/* more than SHN_LORESERVE */
#define BASE UINT64_C(0x1000)
#define LONG 100000		/* bytes of a section, before */

static const Elf64_Shdr bits = { .sh_type = SHT_PROGBITS };
static const Elf64_Shdr packed = { .sh_type = SHT_PROGBITS,
				   .sh_flags = SHF_COMPRESSED };

/* Takes the bytes of it. */
static struct elffile *open_built(struct elf_builder *b)
{
	struct elffile *file;

	elf_builder_end(b);
	file = elffile_of_memory(b->bytes, b->size, "made");
	b->bytes = NULL;
	elf_builder_free(b);
	return file;
}

/* ---- many sections ---- */

/* Section n has the function fN; those behind SHN_LORESERVE are counted by a
 * table beside the symbols. */
static struct elffile *open_many(bool wide_table)
{
	static Elf64_Sym symbols[MANY];
	static uint32_t wide[MANY];
	static char names[MANY * 8];
	Elf64_Shdr code = { .sh_type = SHT_PROGBITS,
			    .sh_flags = SHF_ALLOC | SHF_EXECINSTR };
	Elf64_Shdr table = { .sh_type = SHT_SYMTAB, .sh_entsize = 24 };
	Elf64_Shdr strings = { .sh_type = SHT_STRTAB };
	Elf64_Shdr numbers = { .sh_type = SHT_SYMTAB_SHNDX };
	struct elf_builder b;
	char name[32];
	size_t used = 1;

	elf_builder_begin(&b);
	for (uint32_t i = 1; i < MANY; i++) {
		bool large = i >= SHN_LORESERVE;

		code.sh_addr = BASE * i;
		snprintf(name, sizeof(name), ".text.f%u", i);
		assert_int_equal(elf_builder_section(&b, &code, name, "\xc3",
						     1), i);
		symbols[i] = (Elf64_Sym){
			.st_name = (uint32_t)used, .st_value = BASE * i,
			.st_size = 4096, .st_info = STT_FUNC,
			.st_shndx = large ? SHN_XINDEX : (uint16_t)i,
		};
		wide[i] = large ? i : 0;
		used += (size_t)sprintf(names + used, "f%u", i) + 1;
	}
	table.sh_link = elf_builder_section(&b, &strings, ".strtab", names,
					    used);
	numbers.sh_link = elf_builder_section(&b, &table, ".symtab", symbols,
					      sizeof(symbols));
	if (wide_table)
		elf_builder_section(&b, &numbers, ".symtab_shndx", wide,
				    sizeof(wide));
	elf_builder_section(&b, &bits, ".last", "here", 4);
	return open_built(&b);
}

static void more_sections_than_a_header_can_count(void **state)
{
	struct elffile *file = open_many(true);
	struct symtab symbols = { 0 };
	struct span span;

	(void)state;
	assert_non_null(file);
	assert_int_equal(file->tables.header.e_shnum, 0);
	assert_int_equal(file->tables.sections, MANY + 5);
	span = elffile_section(file, ".last");
	assert_int_equal(span.size, 4);
	assert_memory_equal(span.data, "here", 4);
	assert_int_equal(elffile_section_address(file, ".text.f69999"),
			 BASE * 69999);
	assert_int_equal(symtab_add(&symbols, file, SHT_SYMTAB), MANY - 1);
	symtab_sort(&symbols);
	assert_string_equal(symtab_find(&symbols, BASE * 3)->name, "f3");
	assert_string_equal(symtab_find(&symbols, BASE * 69999)->name,
			    "f69999");
	/* not what its size says, but where its section ends */
	assert_int_equal(symtab_find(&symbols, BASE * 69999)->end,
			 BASE * 69999 + 1);
	symtab_free(&symbols);
	elffile_close(file);
}

/* Symbols whose section nobody knows are in none. */
static void numbers_may_be_missing(void **state)
{
	struct elffile *file = open_many(false);
	struct symtab symbols = { 0 };

	(void)state;
	assert_non_null(file);
	assert_int_equal(symtab_add(&symbols, file, SHT_SYMTAB),
			 SHN_LORESERVE - 1);
	symtab_free(&symbols);
	elffile_close(file);
}

static void between_symbols(void **state)
{
	struct elffile *file = open_many(true);
	struct symtab symbols = { 0 };
	uint64_t end = 1, next = 2;

	(void)state;
	symtab_add(&symbols, file, SHT_SYMTAB);
	symtab_sort(&symbols);
	symtab_around(&symbols, BASE * 7 + 5, &end, &next);
	assert_int_equal(end, BASE * 7 + 1);
	assert_int_equal(next, BASE * 8);
	end = 1, next = 2;
	symtab_around(&symbols, BASE - 1, &end, &next);
	assert_int_equal(end, 1);
	assert_int_equal(next, BASE);
	next = 2;
	symtab_around(&symbols, BASE * MANY, &end, &next);
	assert_int_equal(end, BASE * (MANY - 1) + 1);
	assert_int_equal(next, 2);
	symtab_free(&symbols);
	elffile_close(file);
}

/* ---- compressed ones ---- */

static uint8_t plain[LONG];

static size_t deflated(uint8_t *to, size_t room, const uint8_t *from,
		       size_t size)
{
	uLongf got = room;

	assert_int_equal(compress(to, &got, from, size), Z_OK);
	return got;
}

/* A header of either class; its size. */
static size_t put_header(uint8_t *to, bool wide, uint32_t type, uint64_t size)
{
	Elf64_Chdr large = { .ch_type = type, .ch_size = size };
	Elf32_Chdr small = { .ch_type = type, .ch_size = (uint32_t)size };

	memcpy(to, wide ? (void *)&large : (void *)&small,
	       wide ? sizeof(large) : sizeof(small));
	return wide ? sizeof(large) : sizeof(small);
}

static void assert_plain(struct span span)
{
	assert_int_equal(span.size, LONG);
	assert_memory_equal(span.data, plain, LONG);
}

static int make_plain(void **state)
{
	(void)state;
	for (size_t i = 0; i < LONG; i++)
		plain[i] = (uint8_t)(i / 100 * 37);
	return 0;
}

static void compressed_sections(void **state)
{
	static uint8_t bytes[2 * LONG];
	struct elf_builder b;
	struct elffile *file;
	size_t head, n;

	(void)state;
	elf_builder_begin(&b);
	head = put_header(bytes, true, ELFCOMPRESS_ZLIB, LONG);
	n = deflated(bytes + head, sizeof(bytes) - head, plain, LONG);
	elf_builder_section(&b, &packed, ".debug_info", bytes, head + n);
	/* as a linker puts two together */
	n = deflated(bytes + head, sizeof(bytes) - head, plain, 1000);
	n += deflated(bytes + head + n, sizeof(bytes) - head - n,
		      plain + 1000, LONG - 1000);
	elf_builder_section(&b, &packed, ".debug_line", bytes, head + n);
	put_header(bytes, true, 2, LONG);
	n = ZSTD_compress(bytes + head, sizeof(bytes) - head, plain, LONG, 1);
	elf_builder_section(&b, &packed, ".debug_str", bytes, head + n);
	memcpy(bytes, "ZLIB\0\0\0\0\0\1\206\240", 12);
	n = deflated(bytes + 12, sizeof(bytes) - 12, plain, LONG);
	elf_builder_section(&b, &bits, ".zdebug_abbrev", bytes, 12 + n);
	elf_builder_section(&b, &bits, ".debug_ranges", plain, LONG);
	file = open_built(&b);
	assert_non_null(file);
	assert_plain(elffile_section(file, ".debug_info"));
	assert_plain(elffile_section(file, ".debug_line"));
	assert_plain(elffile_section(file, ".debug_str"));
	assert_plain(elffile_section(file, ".debug_abbrev"));
	assert_plain(elffile_section(file, ".debug_ranges"));
	assert_true(elffile_has_section(file, ".debug_abbrev"));
	assert_false(elffile_has_section(file, ".debug_loc"));
	elffile_close(file);
}

/* What a section becomes with this header in front of `n` bytes of it. */
static size_t becomes(uint32_t type, uint64_t claims, const uint8_t *from,
		      size_t n, size_t cut)
{
	static uint8_t bytes[2 * LONG];
	struct elf_builder b;
	struct elffile *file;
	size_t size;

	elf_builder_begin(&b);
	size = put_header(bytes, true, type, claims);
	memcpy(bytes + size, from, n);
	elf_builder_section(&b, &packed, ".debug_info", bytes, size + n - cut);
	file = open_built(&b);
	size = elffile_section(file, ".debug_info").size;
	elffile_close(file);
	return size;
}

static void compressed_sections_that_lie(void **state)
{
	static const uint8_t zeroes[LONG];
	static uint8_t zlib[2 * LONG], zstd[2 * LONG];
	size_t n = deflated(zlib, sizeof(zlib), plain, LONG);
	size_t m = ZSTD_compress(zstd, sizeof(zstd), plain, LONG, 1);

	(void)state;
	assert_int_equal(becomes(ELFCOMPRESS_ZLIB, LONG, zlib, n, 0), LONG);
	assert_int_equal(becomes(2, LONG, zstd, m, 0), LONG);
	for (uint64_t claims = 1; claims; claims *= 16) {
		assert_int_equal(becomes(ELFCOMPRESS_ZLIB, claims, zlib, n, 0),
				 0);
		assert_int_equal(becomes(2, claims, zstd, m, 0), 0);
	}
	assert_int_equal(becomes(ELFCOMPRESS_ZLIB, LONG, zlib, n, 9), 0);
	assert_int_equal(becomes(2, LONG, zstd, m, 9), 0);
	assert_int_equal(becomes(2, LONG, zlib, n, 0), 0);
	assert_int_equal(becomes(ELFCOMPRESS_ZLIB, LONG, zstd, m, 0), 0);
	assert_int_equal(becomes(3, LONG, zlib, n, 0), 0);
	/* no lie, but no compiler's output */
	m = ZSTD_compress(zstd, sizeof(zstd), zeroes, LONG, 1);
	assert_int_equal(becomes(2, LONG, zstd, m, 0), 0);
	assert_int_equal(becomes(ELFCOMPRESS_ZLIB, LONG, zlib, 0, 4), 0);
}

/* ---- what cannot be ---- */

static void sections_outside(void **state)
{
	struct elf_builder b;
	struct elffile *file;
	uint32_t number;

	(void)state;
	elf_builder_begin(&b);
	number = elf_builder_section(&b, &bits, ".debug_info", "abc", 3);
	b.sections[number].sh_size = UINT64_MAX - 2;
	number = elf_builder_section(&b, &bits, ".debug_str", "abc", 3);
	b.sections[number].sh_offset = 1 << 20;
	file = open_built(&b);
	assert_non_null(file);
	assert_int_equal(elffile_section(file, ".debug_info").size, 0);
	assert_int_equal(elffile_section(file, ".debug_str").size, 0);
	assert_false(elffile_has_section(file, ".debug_info"));
	elffile_close(file);
}

/* A name that does not end in its table is none: what is behind the table is
 * not looked at. */
static void names_that_do_not_end(void **state)
{
	Elf64_Shdr table = { .sh_type = SHT_SYMTAB };
	Elf64_Shdr strings = { .sh_type = SHT_STRTAB };
	Elf64_Shdr code = { .sh_type = SHT_PROGBITS, .sh_addr = BASE,
			    .sh_flags = SHF_ALLOC | SHF_EXECINSTR };
	Elf64_Sym symbol[2] = {
		{ .st_name = 1, .st_value = BASE, .st_info = STT_FUNC },
		{ .st_name = 5, .st_value = BASE, .st_info = STT_FUNC },
	};
	struct symtab symbols = { 0 };
	struct elf_builder b;
	struct elffile *file;

	(void)state;
	elf_builder_begin(&b);
	symbol[0].st_shndx = symbol[1].st_shndx =
		(uint16_t)elf_builder_section(&b, &code, ".text", "\xc3", 1);
	table.sh_link = elf_builder_section(&b, &strings, ".strtab",
					    "\0one\0two", 8);
	elf_builder_section(&b, &table, ".symtab", symbol, sizeof(symbol));
	file = open_built(&b);
	assert_non_null(file);
	assert_int_equal(symtab_add(&symbols, file, SHT_SYMTAB), 1);
	assert_string_equal(symbols.list[0].name, "one");
	symtab_free(&symbols);
	elffile_close(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_sections_than_a_header_can_count),
		cmocka_unit_test(numbers_may_be_missing),
		cmocka_unit_test(between_symbols),
		cmocka_unit_test(compressed_sections),
		cmocka_unit_test(compressed_sections_that_lie),
		cmocka_unit_test(sections_outside),
		cmocka_unit_test(names_that_do_not_end),
	};

	return cmocka_run_group_tests(tests, make_plain, NULL);
}
