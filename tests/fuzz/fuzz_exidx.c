/*
 * fuzz_exidx.c: the bytes of a fuzzer as an image with ARM's unwind tables:
 * two bytes say where the index is. Every entry is read, looked for, made a
 * rule of and stepped.
 */
#include <stdlib.h>
#include <string.h>

#include "unwind/rules/exidx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool read_any(void *ctx, uint32_t address, uint32_t *value)
{
	(void)ctx;
	*value = address * 0x9e3779b9u;
	return address % 7 != 0;
}

static void look(const struct exidx_image *image, uint32_t pc)
{
	uint32_t regs[EXIDX_REGISTERS] = { [EXIDX_SP] = 0x7000, [11] = 0x7100 };
	struct exidx_entry entry;
	struct exidx_frame frame;

	if (exidx_find(image, pc, &entry) != 0)
		return;
	exidx_frame(&entry, &frame);
	exidx_rule(&entry, pc & 1 ? EXIDX_FP_THUMB : EXIDX_FP_ARM);
	exidx_step(&entry, regs, read_any, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct exidx_image image = { .start = 0xffffe000u };
	struct exidx_entry entry;
	uint8_t *bytes;

	if (size < 2 || size > 4096)
		return 0;
	size -= 2;
	bytes = malloc(size ? size : 1);
	memcpy(bytes, data + 2, size);
	image.bytes = bytes;
	image.end = image.start + (uint32_t)size;
	image.index = image.start + data[0] * 4u;
	image.index_end = image.index + data[1] * 8u;
	for (uint32_t i = 0; i < 256; i++)
		if (exidx_at(&image, i, &entry) == 0)
			look(&image, entry.start + i % 5);
	look(&image, 0);
	look(&image, UINT32_MAX);
	free(bytes);
	return 0;
}
