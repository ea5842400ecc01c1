/*
 * test_length.c: the lengths of x86-64's instructions, against Capstone's: of all
 * code of the C and C++ libraries, and of the mathematical one, which have functions
 * for processors with AVX2 and AVX-512. The decoder is plain C: it is tested on any
 * machine, the files where there are some.
 */
#include <fcntl.h>
#include <gelf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <capstone/capstone.h>
#include <cmocka.h>

#include "arch/x86_64/length.h"

struct tally {
	unsigned long same, different;
	unsigned long ours;	/* Capstone knows none */
	unsigned long theirs;	/* we know none */
};

static void compare_code(csh capstone, const uint8_t *code, size_t size,
			 struct tally *t)
{
	cs_insn *theirs = cs_malloc(capstone);
	size_t at = 0;

	while (at < size) {
		struct x86_instruction ours = { .size = 0 };
		const uint8_t *p = code + at;
		size_t left = size - at;
		uint64_t address = at;

		if (!x86_instruction(p, left, &ours))
			ours.size = 0;
		if (!cs_disasm_iter(capstone, &p, &left, &address, theirs))
			theirs->size = 0;
		if (theirs->size && ours.size == theirs->size)
			t->same++;
		else if (theirs->size && ours.size)
			print_message("%zx: %u, not %u: %s %s\n", at, ours.size,
				      theirs->size, theirs->mnemonic,
				      theirs->op_str);
		t->different += theirs->size && ours.size &&
				theirs->size != ours.size;
		t->ours += !theirs->size && ours.size;
		t->theirs += theirs->size && !ours.size;
		at += theirs->size ? theirs->size : ours.size ? ours.size : 1;
	}
	cs_free(theirs, 1);
}

static void compare_sections(csh capstone, Elf *elf, struct tally *t)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section)) != NULL) {
		Elf_Data *data;

		assert_non_null(gelf_getshdr(section, &header));
		if (!(header.sh_flags & SHF_EXECINSTR))
			continue;
		data = elf_rawdata(section, NULL);
		if (data && data->d_buf)
			compare_code(capstone, data->d_buf, data->d_size, t);
	}
}

/* The code of a file, if it is there. */
static void compare_file(const char *path, unsigned long least)
{
	struct tally t = { 0, 0, 0, 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	GElf_Ehdr header;
	csh capstone;
	Elf *elf;

	if (fd < 0)
		return;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	assert_non_null(elf);
	assert_non_null(gelf_getehdr(elf, &header));
	if (header.e_machine == EM_X86_64) {
		assert_int_equal(cs_open(CS_ARCH_X86, CS_MODE_64, &capstone),
				 CS_ERR_OK);
		compare_sections(capstone, elf, &t);
		cs_close(&capstone);
		print_message("%s: %lu the same, %lu different, %lu that "
			      "Capstone does not know, %lu unknown here\n",
			      path, t.same, t.different, t.ours, t.theirs);
		assert_true(t.same > least);
		assert_int_equal(t.different, 0);
		assert_int_equal(t.theirs, 0);
	}
	elf_end(elf);
	close(fd);
}

static void all_code_of_libraries(void **unused)
{
	(void)unused;
	compare_file("/lib/x86_64-linux-gnu/libc.so.6", 100000);
	compare_file("/lib/x86_64-linux-gnu/libm.so.6", 10000);
	compare_file("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", 100000);
	compare_file("/usr/lib/x86_64-linux-gnu/libcapstone.so.4", 10000);
	compare_file("/proc/self/exe", 1000);
}

static unsigned length(const char *hex, size_t room)
{
	struct x86_instruction in = { .size = 0 };
	uint8_t bytes[16] = { 0 };
	size_t n;

	for (n = 0; hex[2 * n]; n++) {
		const char digits[3] = { hex[2 * n], hex[2 * n + 1], 0 };

		bytes[n] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return x86_instruction(bytes, room ? room : n, &in) ? in.size : 0;
}

static void rare_ones(void **unused)
{
	static const struct {
		const char *hex;
		unsigned length;
	} row[] = {
		{ "a11122334455667788", 9 },	/* mov eax, [moffs64] */
		{ "67a111223344", 6 },		/* ... of 32 bits */
		{ "6448a11122334455667788", 11 },
		{ "48b81122334455667788", 10 },	/* movabs */
		{ "66b81122", 4 }, { "b811223344", 5 },
		{ "c8112233", 4 },		/* enter */
		{ "c21122", 3 },		/* ret n */
		{ "f605112233445566", 7 },	/* test byte [rip+d], ib */
		{ "f7d8", 2 },			/* neg eax */
		{ "66f7c01122", 5 },		/* test ax, iw */
		{ "48f7c011223344", 7 },
		{ "8f00", 2 },			/* pop [rax] */
		{ "666648e811223344", 8 },	/* to __tls_get_addr */
		{ "c5f877", 3 },		/* vzeroupper */
		{ "c4e27d18c1", 5 },		/* vbroadcastss */
		{ "62f17c48580511223344", 10 },	/* vaddps zmm, [rip+d] */
		{ "62f37d4825c103", 7 },	/* vpternlogd */
		{ "f20f38f1c0", 5 },		/* crc32 */
		{ "660f3a0fc103", 6 },		/* palignr */
		{ "f30f1efa", 4 },		/* endbr64 */
		{ "0f0b", 2 }, { "f4", 1 }, { "cc", 1 },
		{ "662e0f1f840011223344", 10 },
	};
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(row) / sizeof(*row); i++)
		assert_int_equal(length(row[i].hex, 0), row[i].length);
}

/* Not of 64-bit mode, undefined, or not known; and what is not all there. */
static void none(void **unused)
{
	static const char *const hex[] = {
		"06", "27", "60", "9a112233445566", "82c001", "ce", "d6",
		"ea112233445566", "0f04", "0f0a", "0f0fc1bf", "0f36",
		"660f7801", "8fe878cdc1", "66c5f877", "40c5f877",
		"c4e07d18c1", "62f47c4858c1", "62f1784858c1", "0fa6c0",
		"666666666666666666666666666690"	/* 15 bytes are one */
	};
	size_t i;

	(void)unused;
	for (i = 0; i + 1 < sizeof(hex) / sizeof(*hex); i++)
		assert_int_equal(length(hex[i], 0), 0);
	assert_int_equal(length(hex[i], 15), 15);
	assert_int_equal(length("6666666666666666666666666666"
				"6690", 16), 0);
	assert_int_equal(length("48b81122334455667788", 9), 0);
	assert_int_equal(length("e8112233", 4), 0);
	assert_int_equal(length("0f", 1), 0);
	assert_int_equal(length("62f17c4858", 5), 0);
	assert_int_equal(length("90", 1), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_code_of_libraries),
		cmocka_unit_test(rare_ones),
		cmocka_unit_test(none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
