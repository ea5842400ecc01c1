/*
 * fuzz_cfi.c: the bytes of a fuzzer as unwind tables.
 *
 * The first byte says how they are to be taken: with a header, without, or as
 * the program of one FDE. Then rules are asked for and steps taken at some
 * addresses. It must end soon and touch no byte outside, which AddressSanitizer
 * watches: the bytes are a block of their own.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/table_builder.h"
#include "unwind/rules/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ARENA_SIZE = 4 << 20, PLACES = 24, RECORDS_SIZE = 1 << 12 };

/* Given back as a whole after each input. */
static _Alignas(64) uint8_t arena[ARENA_SIZE];
static size_t arena_used;

static void *arena_alloc(size_t size)
{
	uint8_t *memory = arena + arena_used;

	size = (size + 63) & ~(size_t)63;
	if (size > ARENA_SIZE - arena_used)
		return NULL;
	arena_used += size;
	return memset(memory, 0, size);
}

static bool read_any(void *ctx, uintptr_t address, uint64_t *value)
{
	(void)ctx;
	*value = address * UINT64_C(0x9e3779b97f4a7c15);
	return address % 7 != 0;
}

static void ask(const struct rules_sections *sections)
{
	struct rules_image *image;
	struct arch_regs regs;
	bool is_signal;
	uintptr_t pc;
	unsigned int i, j;

	arena_used = 0;
	unwind_alloc = arena_alloc;
	if (rules_init())
		abort();
	image = rules_image_new(sections);
	if (!image)
		abort();
	for (i = 0; i < PLACES; i++) {
		uint16_t first, again;

		pc = sections->text_start + (i * i * i) % CODE_SIZE;
		first = rules_find(image, pc);
		again = rules_find(image, pc);
		if (first != again || first >= rules_count())
			abort();
		for (j = 0; j < ARCH_REG_COUNT; j++)
			regs.r[j] = pc * j;
		regs.r[ARCH_REG_PC] = pc;
		rules_step_full(image, &regs, true, &is_signal, read_any,
				NULL);
	}
}

static void take_tables(const uint8_t *data, size_t size, bool header)
{
	uint8_t *bytes = malloc(size ? size : 1);
	uintptr_t at = (uintptr_t)bytes;
	struct rules_sections sections = {
		.text_start = header ? at + 4096 : CODE,
		.text_end = (header ? at + 4096 : CODE) + CODE_SIZE,
		.eh_frame_hdr = header ? at : 0,
		.eh_frame_hdr_size = size / 2,
		.eh_frame = header ? 0 : at,
		.readable_start = at,
		.readable_end = at + size,
	};

	memcpy(bytes, data, size);
	ask(&sections);
	free(bytes);
}

static void take_program(const uint8_t *data, size_t size)
{
	static struct builder b;
	size_t cie;

	if (size > RECORDS_SIZE)
		return;
	b.size = 0;
	cie = put_cie(&b, "zR", ENC_ABS8);
	begin_fde(&b, cie, CODE, CODE_SIZE);
	put(&b, data, size);
	end_record(&b);
	take_tables(b.bytes, b.size, false);
}

static void take_expression(const uint8_t *data, size_t size)
{
	const struct arch_regs regs = { { 1, 2, 3 } };
	const struct expr_context context = {
		.regs = &regs, .read = read_any,
	};
	uint8_t *code = malloc(size ? size : 1);
	uint64_t result;

	memcpy(code, data, size);
	expr_evaluate(code, size, &context, NULL, &result);
	free(code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t kind;

	if (size == 0)
		return 0;
	kind = data[0] % 4;
	data++;
	size--;
	if (kind == 0)
		take_tables(data, size, true);
	else if (kind == 1)
		take_tables(data, size, false);
	else if (kind == 2)
		take_program(data, size);
	else
		take_expression(data, size);
	return 0;
}
