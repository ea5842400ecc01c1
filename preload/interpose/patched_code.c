/* patched_code.c: see patched_code.h. */
#include "preload/interpose/patched_code.h"

#include "unwind/base/assertion.h"

static struct {
	uintptr_t start;
	size_t size;
} patched_code[PATCHED_CODE_MAX];
static unsigned patched_code_count;

void patched_code_add(uintptr_t start, size_t size)
{
	if (!ASSERT(patched_code_count < PATCHED_CODE_MAX))
		return;
	patched_code[patched_code_count].start = start;
	patched_code[patched_code_count].size = size;
	patched_code_count++;
}

bool patched_code_any(void)
{
	return patched_code_count > 0;
}

bool patched_code_inside(uintptr_t address)
{
	unsigned i;

	for (i = 0; i < patched_code_count; i++)
		if (address - patched_code[i].start < patched_code[i].size)
			return true;
	return false;
}
