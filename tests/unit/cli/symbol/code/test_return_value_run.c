/*
 * test_return_value_run.c: what functions of ARM and MIPS64 return, by their
 * instructions. Those that do more are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cli/symbol/code/return_value_run.h"

#define AT 0x1000	/* address of each function */

struct function {
	const char *what;
	uint32_t words[6];	/* two of Thumb's in one, the first one lower */
	bool thumb, refused, absolute;
	uint64_t value;
};

static void run_all(const struct function *list, size_t count, uint16_t machine,
		    uint8_t class)
{
	unsigned char ident[EI_NIDENT] = { 0x7f, 'E', 'L', 'F', class,
					   ELFDATA2LSB, EV_CURRENT };
	struct elf_tables elf = {
		.fd = -1, .class = elf_class_of(ident),
		.header.e_machine = machine,
	};

	assert_non_null(elf.class);
	for (size_t i = 0; i < count; i++) {
		const struct function *f = &list[i];
		bool absolute = false, got;
		uint8_t code[sizeof(f->words)];
		uint64_t value = 0;

		memcpy(code, f->words, sizeof(code));
		got = return_value_run(&elf, code, sizeof(code), AT + f->thumb,
				       &value, &absolute);
		if (got == f->refused || (got && (value != f->value ||
						  absolute != f->absolute)))
			fail_msg("%s: %d, %#llx, %d", f->what, got,
				 (unsigned long long)value, absolute);
	}
}

static void of_arm(void **state)
{
	static const struct function list[] = {
		{ .what = "an address: ldr r3, =; add r3, pc, r3; mov r0, r3",
		  .words = { 0xe59f3008, 0xe08f3003, 0xe1a00003, 0xe12fff1e,
			     0x100 }, .value = AT + 12 + 0x100 },
		{ .what = "the same into another register: add r0, pc, r3",
		  .words = { 0xe59f3004, 0xe08f0003, 0xe12fff1e, 0x100 },
		  .value = AT + 12 + 0x100 },
		{ .what = "a number: mov r0, 1",
		  .words = { 0xe3a00001, 0xe12fff1e }, .absolute = true,
		  .value = 1 },
		{ .what = "of an argument: mov r0, 4; add r0, r1, pc",
		  .words = { 0xe3a00004, 0xe081000f, 0xe12fff1e },
		  .refused = true },
		{ .what = "of one and more: mov r0, 4; add r0, pc, 8",
		  .words = { 0xe3a00004, 0xe28f0008, 0xe12fff1e },
		  .refused = true },
		{ .what = "shifted: mov r0, 4; add r0, pc, r0, lsl 2",
		  .words = { 0xe3a00004, 0xe08f0100, 0xe12fff1e },
		  .refused = true },
		{ .what = "push {r7, lr}; movs r0, 0; pop {r7, pc}, "
			  "the next one: movs r0, 5; bx lr",
		  .words = { 0x2000b580, 0x2005bd80, 0x4770 }, .thumb = true,
		  .absolute = true, .value = 0 },
		{ .what = "what it had: pop {r7, r0}; bx lr",
		  .words = { 0xbc812005, 0x4770 }, .thumb = true,
		  .refused = true },
	};

	(void)state;
	run_all(list, sizeof(list) / sizeof(*list), EM_ARM, ELFCLASS32);
}

static void of_mips64(void **state)
{
	static const struct function list[] = {
		{ .what = "an address: lui v1, 1; daddu v0, v1, t9; jr ra; nop",
		  .words = { 0x3c030001, 0x0079102d, 0x03e00008, 0 },
		  .value = AT + 0x10000 },
		{ .what = "the same in the delay slot",
		  .words = { 0x3c030001, 0x03e00008, 0x0079102d },
		  .value = AT + 0x10000 },
		{ .what = "a number: jr ra; addiu v0, zero, 1",
		  .words = { 0x03e00008, 0x24020001 }, .absolute = true,
		  .value = 1 },
		{ .what = "an argument: jr ra; move v0, a0",
		  .words = { 0x03e00008, 0x00801025 }, .refused = true },
	};

	(void)state;
	run_all(list, sizeof(list) / sizeof(*list), EM_MIPS, ELFCLASS64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_arm),
		cmocka_unit_test(of_mips64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
