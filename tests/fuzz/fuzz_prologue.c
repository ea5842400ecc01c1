/*
 * fuzz_prologue.c: the bytes of a fuzzer as code of this machine's kind that no
 * table covers: the analysis is asked for the frame at each address, after a
 * call and after a signal.
 */
#include <stdlib.h>
#include <string.h>

#include "unwind/base/assertion.h"
#include "unwind/rules/prologue.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is answered about a frame makes sense. */
static void look(const struct prologue_code *code, uintptr_t pc, bool exact)
{
	struct prologue_frame frame;
	unsigned r;

	if (!prologue_frame(code, pc, exact, &frame))
		return;
	ASSERT(ARCH_FRAME_BASES >> frame.base & 1);
	ASSERT(frame.cfa % ARCH_WORD == 0 && (frame.ra_kept || frame.ra < 0));
	ASSERT(exact || frame.cfa % ARCH_STACK_ALIGN == 0);
	for (r = 0; r < ARCH_REG_COUNT; r++)
		ASSERT(!(frame.saved >> r & 1) || frame.at[r] != frame.ra);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct prologue_code code;
	uint8_t *bytes;
	size_t i;

	if (size == 0 || size > 128)
		return 0;
	bytes = malloc(size);
	memcpy(bytes, data, size);
	code.start = (uintptr_t)bytes;
	code.end = code.start + size;
	for (i = 0; i < size; i++) {
		look(&code, code.start + i, false);
		look(&code, code.start + i, true);
	}
	look(&code, code.end, false);
	look(&code, code.start - 1, true);
	free(bytes);
	return 0;
}
