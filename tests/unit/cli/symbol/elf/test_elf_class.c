/*
 * test_elf_class.c: records of both classes and both orders of bytes: what is
 * written is read again, and the bytes lie as the order says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cli/symbol/elf/bytes.h"
#include "cli/symbol/elf/elf_class.h"

static const struct elf_class *class_of(unsigned class, unsigned data)
{
	unsigned char ident[EI_NIDENT] = ELFMAG;

	ident[EI_CLASS] = (unsigned char)class;
	ident[EI_DATA] = (unsigned char)data;
	return elf_class_of(ident);
}

static void test_both_orders(void **state)
{
	static const unsigned classes[] = { ELFCLASS32, ELFCLASS64 };

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		for (unsigned data = ELFDATA2LSB; data <= ELFDATA2MSB; data++) {
			const struct elf_class *class =
				class_of(classes[i], data);
			Elf64_Shdr from = { .sh_name = 7, .sh_type = 0x1234,
					    .sh_offset = 0x11223344,
					    .sh_entsize = 24 }, to;
			uint8_t bytes[sizeof(Elf64_Shdr)];

			assert_int_equal(class->big, data == ELFDATA2MSB);
			class->put_shdr(bytes, &from);
			assert_int_equal(bytes[class->big ? 3 : 0], 7);
			class->get_shdr(&to, bytes);
			assert_memory_equal(&to, &from, sizeof(to));
		}
}

/* The number of a symbol and the type are cut out after they are in order. */
static void test_relocation(void **state)
{
	static const uint8_t bytes[] = { 0, 0, 0x10, 0, 0, 0, 5, 2 };
	const struct elf_class *class = class_of(ELFCLASS32, ELFDATA2MSB);
	Elf64_Rel to;

	(void)state;
	class->get_rel(&to, bytes);
	assert_int_equal(to.r_offset, 0x1000);
	assert_int_equal(ELF64_R_SYM(to.r_info), 5);
	assert_int_equal(ELF64_R_TYPE(to.r_info), 2);
	assert_int_equal(elf_class_word(class, 1), class->swapped ?
			 1u << 24 : 1u);
}

static void test_cursor(void **state)
{
	static const uint8_t eight[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct span span = { eight, sizeof(eight), true };
	struct bytes bytes = bytes_from(span, 0);

	(void)state;
	assert_int_equal(bytes_u64(&bytes), UINT64_C(0x0102030405060708));
	bytes = bytes_from(span, 1);
	assert_int_equal(bytes_u16(&bytes), 0x0203);
	assert_int_equal(bytes_u32(&bytes), 0x04050607);
	bytes = bytes_from(span, 0);
	assert_int_equal(bytes_number(&bytes, 3), 0x010203);
	assert_int_equal(bytes_u8(&bytes), 4);
}

static void test_no_class(void **state)
{
	(void)state;
	assert_null(class_of(ELFCLASS64, ELFDATANONE));
	assert_null(class_of(ELFCLASSNONE, ELFDATA2LSB));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_orders),
		cmocka_unit_test(test_relocation),
		cmocka_unit_test(test_cursor),
		cmocka_unit_test(test_no_class),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
