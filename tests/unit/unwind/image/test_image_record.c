/*
 * test_image_record.c: what is told of an image that lies higher, or lower, than
 * its file says.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/table_builder.h"
#include "unwind/image/image_record.h"

static struct gl_image from_code;

/* Two segments, at file addresses from this one on. */
static void record(uintptr_t in_file, uintptr_t mapped)
{
	ElfW(Phdr) headers[] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = in_file,
		  .p_memsz = 0x1000 },
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X,
		  .p_vaddr = in_file + 0x3000, .p_memsz = 0x2000 },
	};
	struct elfmap map = { .bias = mapped - in_file, .path = "/a",
			      .phdr = headers, .phnum = 2, .stays = true };
	struct image image = { .public = &from_code };

	memset(&from_code, 0, sizeof(from_code));
	image_record_fill(&image, &map, NULL);
	assert_true(image_record_matches(&image, &map));
	assert_int_equal(from_code.segments, 2);
	assert_true(from_code.segment[0].start == mapped);
	assert_true(from_code.segment[1].start == mapped + 0x3000);
}

/* In 64 bits, as readers count: segments and bias lead to the file. */
static void leads_to(uint64_t in_file)
{
	assert_true(from_code.segment[0].start - from_code.bias == in_file);
	assert_true(from_code.segment[1].start - from_code.bias ==
		    in_file + 0x3000);
}

static void test_bias(void **unused)
{
	(void)unused;
	record(0, CODE);
	assert_true(from_code.bias == CODE);
	leads_to(0);
	record(0x8000, 0x8000);
	assert_true(from_code.bias == 0);
	leads_to(0x8000);
	record(0x10000, CODE);
	leads_to(0x10000);
	/* lower: negative, whatever the size of an address */
	record(CODE, 0x10000);
	assert_true((int64_t)from_code.bias < 0);
	leads_to(CODE);
	/* more than half of the address space up */
	record(0x10000, (uintptr_t)ARCH_ADDRESS_MAX - 0xffff);
	leads_to(0x10000);
}

/* Code in two segments, between which nothing is: what may be read of it. */
static void test_code(void **unused)
{
	ElfW(Phdr) headers[] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X,
		  .p_memsz = 0x100 },
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X,
		  .p_vaddr = 0x10000, .p_memsz = 0x2000 },
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X,
		  .p_vaddr = 0x20000, .p_memsz = 0x1000 },
		{ .p_type = PT_LOAD, .p_flags = PF_X,
		  .p_vaddr = 0x30000, .p_memsz = 0x3000 },
	};
	struct elfmap map = { .bias = CODE, .path = "/a", .phdr = headers,
			      .phnum = 4, .stays = true };
	struct rules_sections sections;

	(void)unused;
	image_record_sections(&map, NULL, &sections);
	assert_true(sections.text_start == CODE);
	assert_true(sections.text_end == CODE + 0x33000);
	assert_true(sections.code.start == CODE + 0x10000);
	assert_true(sections.code.end == CODE + 0x12000);
	headers[1].p_flags = headers[2].p_flags = PF_R;
	headers[0].p_flags = PF_X;
	image_record_sections(&map, NULL, &sections);
	assert_true(sections.code.end == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bias),
		cmocka_unit_test(test_code),
	};

	unwind_alloc = builder_alloc;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
