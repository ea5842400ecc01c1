/* test_annotate_code.c: instructions of several machines, and whose the cost
 * of a return address is. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cli/annotate/annotate.h"

#define START UINT64_C(0x10000)

static struct annotate_call calls[2];
static struct annotate_function function = { .name = "f", .calls = calls };
static struct annotate_listing listing;

static const char *disassemble(struct elf_kind kind, const uint8_t *bytes,
			       size_t size)
{
	struct annotate_piece piece = { .function = &function };
	const char *why;

	piece.code = code_open_bytes(&kind, START, bytes, size);
	assert_true(code_range_at(piece.code, START, &piece.range));
	why = annotate_disassemble(&piece, &listing);
	code_free(piece.code);
	return why;
}

/* Return addresses, as distances. */
static void returns(size_t count, uint64_t first, uint64_t second)
{
	memset(calls, 0, sizeof(calls));
	calls[0].address = START + first;
	calls[1].address = START + second;
	function.call_count = count;
}

static void is(size_t i, uint64_t offset, const char *text, int call)
{
	const struct annotate_instruction *at = &listing.list[i];

	assert_true(i < listing.count);
	assert_int_equal(at->address, START + offset);
	assert_string_equal(at->text, text);
	assert_ptr_equal(at->call, call < 0 ? NULL : &calls[call]);
}

static void x86_64(void **state)
{
	/* push rbx; call far; test; jne back; call rax; ret */
	static const uint8_t bytes[] = {
		0x53, 0xe8, 0xfa, 0x0f, 0, 0, 0x48, 0x85, 0xc0, 0x75, 0xf6,
		0xff, 0xd0, 0xc3,
	};

	(void)state;
	returns(2, 6, 13);
	assert_null(disassemble((struct elf_kind){ EM_X86_64, true, false, 0 },
				bytes, sizeof(bytes)));
	assert_int_equal(listing.count, 6);
	is(0, 0, "push rbx", -1);
	is(1, 1, "call 0x11000", 0);
	assert_false(listing.list[1].named);
	is(3, 9, "jne L1", -1);
	assert_true(listing.list[1].label == 1);
	is(4, 11, "call rax", 1);
	is(5, 13, "ret", -1);
	annotate_listing_free(&listing);
}

static void a_signal_came_in_here(void **state)
{
	static const uint8_t bytes[] = { 0x90, 0x53, 0xc3 };

	(void)state;
	returns(1, 1, 0);
	calls[0].exact = true;
	assert_null(disassemble((struct elf_kind){ EM_X86_64, true, false, 0 },
				bytes, sizeof(bytes)));
	is(0, 0, "nop", -1);
	is(1, 1, "push rbx", 0);
	annotate_listing_free(&listing);
}

static void aarch64(void **state)
{
	/* stp; bl +0x1000; cbz x0, back; ret */
	static const uint8_t bytes[] = {
		0xfd, 0x7b, 0xbf, 0xa9, 0x00, 0x04, 0x00, 0x94,
		0xe0, 0xff, 0xff, 0xb4, 0xc0, 0x03, 0x5f, 0xd6,
	};

	(void)state;
	returns(1, 8, 0);
	assert_null(disassemble((struct elf_kind){ EM_AARCH64, true, false,
						    0 }, bytes,
				sizeof(bytes)));
	is(1, 4, "bl 0x11004", 0);
	is(2, 8, "cbz x0, L1", -1);
	is(3, 12, "ret", -1);
	annotate_listing_free(&listing);
}

static void arm_and_thumb(void **state)
{
	/* push {r4, lr}; bl +0x1000; pop {r4, pc} */
	static const uint8_t arm[] = {
		0x10, 0x40, 0x2d, 0xe9, 0xfe, 0x03, 0x00, 0xeb,
		0x10, 0x80, 0xbd, 0xe8,
	};
	static const uint8_t thumb[] = {
		0x10, 0xb5, 0x00, 0xf0, 0x02, 0xf8, 0x10, 0xbd,
	};
	struct elf_kind kind = { EM_ARM, false, false, 0 };

	(void)state;
	returns(1, 8, 0);
	assert_null(disassemble(kind, arm, sizeof(arm)));
	is(0, 0, "push {r4, lr}", -1);
	is(1, 4, "bl 0x11004", 0);
	annotate_listing_free(&listing);
	returns(1, 6 | 1, 0);
	assert_null(disassemble(kind, thumb, sizeof(thumb)));
	is(0, 0, "push {r4, lr}", -1);
	is(1, 2, "bl 0x1000a", 0);
	is(2, 6, "pop {r4, pc}", -1);
	annotate_listing_free(&listing);
}

/* The call is before the delay slot. */
static void mips(void **state)
{
	/* jalr $t9; nop; jr $ra; nop */
	static const uint8_t big[] = {
		0x03, 0x20, 0xf8, 0x09, 0, 0, 0, 0, 0x03, 0xe0, 0x00, 0x08,
		0, 0, 0, 0,
	};
	uint8_t little[sizeof(big)];

	(void)state;
	returns(1, 8, 0);
	assert_null(disassemble((struct elf_kind){ EM_MIPS, false, true, 0 },
				big, sizeof(big)));
	is(0, 0, "jalr $t9", 0);
	is(1, 4, "nop", -1);
	is(2, 8, "jr $ra", -1);
	annotate_listing_free(&listing);
	for (size_t i = 0; i < sizeof(big); i++)
		little[i] = big[i ^ 3];
	assert_null(disassemble((struct elf_kind){ EM_MIPS, true, false, 0 },
				little, sizeof(little)));
	is(0, 0, "jalr $t9", 0);
	annotate_listing_free(&listing);
}

static void what_cannot_be_read(void **state)
{
	static const uint8_t bytes[] = { 0x06, 0x07, 0x90, 0xe8, 0x01 };

	(void)state;
	returns(0, 0, 0);
	assert_non_null(disassemble((struct elf_kind){ EM_SPARC, false, true,
							0 }, bytes,
				    sizeof(bytes)));
	annotate_listing_free(&listing);
	/* no instructions of this machine: passed over, shown as bytes */
	assert_null(disassemble((struct elf_kind){ EM_X86_64, true, false, 0 },
				bytes, sizeof(bytes)));
	is(0, 0, ".byte 0x06", -1);
	is(2, 2, "nop", -1);
	annotate_listing_free(&listing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_64),
		cmocka_unit_test(a_signal_came_in_here),
		cmocka_unit_test(aarch64),
		cmocka_unit_test(arm_and_thumb),
		cmocka_unit_test(mips),
		cmocka_unit_test(what_cannot_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
