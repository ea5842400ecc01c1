/*
 * test_rule_files.c: rule files by hand: what is found in a good one, with the
 * image where it is mapped; and that one with any byte changed, or cut short
 * anywhere, is refused or read within its bounds.
 */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "arch.h"
#include "unwind/base/memory.h"
#include "unwind/elf/elfmap.h"
#include "unwind/image/rule_files.h"

enum { ID_SIZE = 20, BIAS = 0x700000, NOTE_SIZE = 16 + ID_SIZE };

static const uint8_t id[ID_SIZE] = "0123456789abcdef012";

static const uint8_t records[] = {
	/* a CIE: zR, textrel and udata4; CFA = r7 + 8, r16 at CFA - 8 */
	20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x23,
	0x0c, 7, 8, 0x90, 1, 0, 0,
	/* FDEs of [0x1000, 0x1010) and [0x1020, 0x1030) */
	16, 0, 0, 0, 28, 0, 0, 0, 0x00, 0x10, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0,
	16, 0, 0, 0, 48, 0, 0, 0, 0x20, 0x10, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0,
	0, 0, 0, 0,
};
#define SECOND_START 52		/* of the second FDE, in the records */

static struct file {
	ElfW(Ehdr) header;
	ElfW(Phdr) phdr[2];
	ElfW(Nhdr) note;
	char name[4];
	uint8_t id[ID_SIZE];
	uint8_t records[sizeof(records)];
} file;

static void *alloc(size_t size)
{
	return calloc(1, size);
}

static int make_file(void **state)
{
	(void)state;
	unwind_alloc = alloc;
	memset(&file, 0, sizeof(file));
	memcpy(file.header.e_ident, ELFMAG, SELFMAG);
	file.header.e_ident[EI_CLASS] = ELFMAP_CLASS;
	file.header.e_machine = ARCH_ELF_MACHINE;
	file.header.e_phoff = offsetof(struct file, phdr);
	file.header.e_phentsize = sizeof(ElfW(Phdr));
	file.header.e_phnum = 2;
	file.phdr[0].p_type = PT_NOTE;
	file.phdr[0].p_offset = offsetof(struct file, note);
	file.phdr[0].p_filesz = NOTE_SIZE;
	file.phdr[1].p_type = PT_LOAD;
	file.phdr[1].p_offset = offsetof(struct file, records);
	file.phdr[1].p_filesz = sizeof(records);
	file.note.n_namesz = 4;
	file.note.n_descsz = ID_SIZE;
	file.note.n_type = NT_GNU_BUILD_ID;
	memcpy(file.name, "GNU", 4);
	memcpy(file.id, id, ID_SIZE);
	memcpy(file.records, records, sizeof(records));
	return 0;
}

static int take(size_t size, struct cfi_tables *tables)
{
	return rule_files_tables((const uint8_t *)&file, size, id, ID_SIZE,
				 BIAS, tables);
}

static void test_found(void **state)
{
	struct cfi_tables tables;
	struct cfi_fde fde;

	(void)state;
	assert_int_equal(take(sizeof(file), &tables), 0);
	assert_int_equal(tables.entries, 2);
	assert_int_equal(cfi_find(&tables, BIAS + 0x1021, &fde), 0);
	assert_int_equal(fde.start, BIAS + 0x1020);
	assert_int_equal(fde.end, BIAS + 0x1030);
	assert_int_equal(cfi_find(&tables, BIAS + 0x1010, &fde), -ENOENT);
	assert_int_equal(fde.valid_start, BIAS + 0x1010);
	assert_int_equal(fde.valid_end, BIAS + 0x1020);
	assert_int_equal(cfi_find(&tables, BIAS + 0xfff, &fde), -ENOENT);
	free((void *)tables.table);
}

static void test_others(void **state)
{
	struct cfi_tables tables;

	(void)state;
	file.id[ID_SIZE - 1] ^= 1;
	assert_int_equal(take(sizeof(file), &tables), -EINVAL);
	make_file(NULL);
	file.header.e_machine++;
	assert_int_equal(take(sizeof(file), &tables), -EINVAL);
}

/* Look-ups are binary searches. */
static void test_not_in_order(void **state)
{
	struct cfi_tables tables;

	(void)state;
	file.records[SECOND_START] = 0x08;
	assert_int_equal(take(sizeof(file), &tables), -EINVAL);
}

static void test_cut(void **state)
{
	struct cfi_tables tables;

	(void)state;
	for (size_t size = 0; size < sizeof(file); size++)
		assert_int_equal(take(size, &tables), -EINVAL);
}

static void test_changed(void **state)
{
	struct cfi_tables tables;
	struct cfi_fde fde;

	(void)state;
	for (size_t i = 0; i < sizeof(file); i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			((uint8_t *)&file)[i] ^= (uint8_t)(1 << bit);
			if (take(sizeof(file), &tables) == 0) {
				cfi_find(&tables, BIAS + 0x1021, &fde);
				free((void *)tables.table);
			}
			((uint8_t *)&file)[i] ^= (uint8_t)(1 << bit);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_found, make_file),
		cmocka_unit_test_setup(test_others, make_file),
		cmocka_unit_test_setup(test_not_in_order, make_file),
		cmocka_unit_test_setup(test_cut, make_file),
		cmocka_unit_test_setup(test_changed, make_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
