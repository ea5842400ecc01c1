/*
 * test_mips_table.c: the table of addresses of MIPS' files, in both orders of
 * bytes, and what says of it what cannot be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cli/symbol/code/mips_table.h"

#define SIZE 1024
#define DYNAMIC 256	/* offset of the section */
#define ENTRIES 5
#define TABLE 512	/* offset of the table */
#define MAPPED 0x10000	/* address of the file's first byte */

static uint8_t bytes[SIZE];
static Elf64_Shdr section;
static Elf64_Phdr segment;
static struct elf_tables elf;

static void put(unsigned at, uint64_t word)
{
	word = elf.class->swapped ? __builtin_bswap64(word) : word;
	memcpy(bytes + at, &word, sizeof(word));
}

static void put_entry(unsigned i, uint64_t tag, uint64_t value)
{
	put(DYNAMIC + 16 * i, tag);
	put(DYNAMIC + 16 * i + 8, value);
}

/* Two words of the file itself, and three of symbols from the fourth on. */
static void make(uint8_t class, uint8_t order)
{
	unsigned char ident[EI_NIDENT] = { 0x7f, 'E', 'L', 'F', class, order,
					   EV_CURRENT };

	memset(bytes, 0, sizeof(bytes));
	section = (Elf64_Shdr){ .sh_type = SHT_DYNAMIC, .sh_offset = DYNAMIC,
				.sh_size = 16 * ENTRIES };
	segment = (Elf64_Phdr){ .p_type = PT_LOAD, .p_vaddr = MAPPED,
				.p_filesz = SIZE };
	elf = (struct elf_tables){
		.fd = -1, .bytes = bytes, .size = SIZE,
		.class = elf_class_of(ident),
		.sections = 1, .section = &section,
		.phdrs = 1, .phdr = &segment,
	};
	assert_non_null(elf.class);
	put_entry(0, DT_PLTGOT, MAPPED + TABLE);
	put_entry(1, DT_MIPS_LOCAL_GOTNO, 2);
	put_entry(2, DT_MIPS_GOTSYM, 4);
	put_entry(3, DT_MIPS_SYMTABNO, 7);
	put(TABLE + 8, MAPPED + 0x20);
}

static void both_orders(void **state)
{
	struct mips_table table;

	(void)state;
	for (uint8_t order = ELFDATA2LSB; order <= ELFDATA2MSB; order++) {
		make(ELFCLASS64, order);
		assert_true(mips_table_of(&elf, &table));
		assert_int_equal(table.address, MAPPED + TABLE);
		assert_int_equal(table.locals, 2);
		assert_int_equal(table.first, 4);
		assert_int_equal(table.globals, 3);
		assert_int_equal(mips_table_word(&elf, &table, 0), 0);
		assert_int_equal(mips_table_word(&elf, &table, 1),
				 MAPPED + 0x20);
	}
}

static void refused(unsigned entry, uint64_t tag, uint64_t value)
{
	struct mips_table table;

	make(ELFCLASS64, ELFDATA2LSB);
	put_entry(entry, tag, value);
	assert_false(mips_table_of(&elf, &table));
}

static void no_sense(void **state)
{
	struct mips_table table;

	(void)state;
	refused(0, DT_PLTGOT, 0);
	refused(1, DT_MIPS_LOCAL_GOTNO, SIZE / 8 + 1);
	refused(1, DT_MIPS_LOCAL_GOTNO, UINT64_MAX);
	refused(2, DT_MIPS_GOTSYM, 8);
	refused(3, DT_MIPS_SYMTABNO, 3);
	refused(3, DT_MIPS_SYMTABNO, UINT64_MAX);
	make(ELFCLASS32, ELFDATA2LSB);
	assert_false(mips_table_of(&elf, &table));
	/* without the section, or with one that is not there */
	make(ELFCLASS64, ELFDATA2LSB);
	section.sh_type = SHT_PROGBITS;
	assert_false(mips_table_of(&elf, &table));
	make(ELFCLASS64, ELFDATA2LSB);
	section.sh_offset = SIZE - 8;
	assert_false(mips_table_of(&elf, &table));
}

/* Words that are not in the file are none. */
static void other_places(void **state)
{
	struct mips_table table = { .address = MAPPED + TABLE, .locals = 2 };

	(void)state;
	make(ELFCLASS64, ELFDATA2LSB);
	assert_int_equal(mips_table_word(&elf, &table, SIZE / 8), 0);
	assert_int_equal(mips_table_word(&elf, &table, UINT64_MAX / 8), 0);
	table.address = MAPPED + SIZE - 4;
	assert_int_equal(mips_table_word(&elf, &table, 0), 0);
	table.address = MAPPED - 8;
	assert_int_equal(mips_table_word(&elf, &table, 0), 0);
	/* a segment that says that it is more than the file */
	segment.p_offset = UINT64_MAX - 8;
	segment.p_filesz = UINT64_MAX;
	table.address = MAPPED;
	assert_int_equal(mips_table_word(&elf, &table, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_orders),
		cmocka_unit_test(no_sense),
		cmocka_unit_test(other_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
