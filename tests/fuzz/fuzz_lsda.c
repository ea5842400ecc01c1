/*
 * fuzz_lsda.c: the bytes of a fuzzer as tables of call sites.
 *
 * The first byte says how they are to be taken: as a table alone, or as an
 * image's only segment, in which an .eh_frame leads to tables. It must end soon
 * and touch no byte outside, which AddressSanitizer watches: the bytes are a
 * block of their own.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/table_builder.h"
#include "unwind/image/lsda.h"
#include "unwind/rules/rules_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PLACES = 24, RECORDS_SIZE = 1 << 12 };

static void ask_table(uintptr_t at, size_t size)
{
	uintptr_t i;

	for (i = 0; i < PLACES; i++)
		lsda_table_may_catch(at, at + size, CODE, CODE + i * i * i);
}

static void ask_image(uintptr_t at, size_t size)
{
	struct gl_image public = { .segments = 1 };
	struct rules_image rules = { 0 };
	struct image image = { .public = &public, .rules = &rules };
	const struct rules_sections sections = {
		.text_start = CODE, .text_end = CODE + CODE_SIZE,
		.eh_frame = at,
		.readable_start = at, .readable_end = at + size,
	};
	uintptr_t i;

	public.segment[0] = (struct gl_segment){
		.start = at, .size = size, .flags = PF_R,
	};
	cfi_tables_init(&rules.tables, &sections);
	for (i = 0; i < PLACES; i++)
		lsda_may_catch(&image, CODE + 1 + i * i * i);
}

/* An FDE whose augmentation data are the bytes, which also follow it. */
static void ask_data(const uint8_t *data, size_t size)
{
	static const uint8_t cie_data[] = { 0x03, 1, 2, 3, 4, 0x1b, 0x04 };
	static struct builder b;
	uint8_t *bytes;
	size_t cie;

	if (size > RECORDS_SIZE)
		return;
	b.size = 0;
	cie = begin_cie(&b, "zPLR", cie_data, sizeof(cie_data));
	end_record(&b);
	begin_record(&b);
	put_u32(&b, (uint32_t)(b.size - cie));
	put_u64(&b, CODE);
	put_u64(&b, CODE_SIZE);
	put_uleb(&b, size < 4 ? size : 4);
	put(&b, data, size);
	end_record(&b);
	bytes = malloc(b.size);
	memcpy(bytes, b.bytes, b.size);
	ask_image((uintptr_t)bytes, b.size);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes, kind;

	if (size == 0)
		return 0;
	kind = data[0] % 3;
	data++;
	size--;
	if (kind == 0) {
		ask_data(data, size);
		return 0;
	}
	bytes = malloc(size ? size : 1);
	memcpy(bytes, data, size);
	if (kind == 1)
		ask_table((uintptr_t)bytes, size);
	else
		ask_image((uintptr_t)bytes, size);
	free(bytes);
	return 0;
}
