/*
 * fuzz_rule_files.c: the bytes of a fuzzer as a rule file: a file that is
 * accepted can be read to its end, and is searched for the rules of all of its
 * code.
 */
#include <stdlib.h>
#include <string.h>

#include "unwind/base/memory.h"
#include "unwind/image/rule_files.h"
#include "unwind/rules/cfa_program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BIAS = 0x10000, ASKED = 64 };

static bool hear(void *owner, const struct cfa_row *row, uintptr_t start,
		 uintptr_t end)
{
	(void)row;
	*(uintptr_t *)owner += end - start;
	return false;
}

static void *alloc(size_t size)
{
	return calloc(1, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t id[] = "0123456789abcdef0123";
	uint8_t *copy = malloc(size ? size : 1);
	struct cfi_tables tables;
	struct cfi_fde fde;

	if (copy == NULL)
		return 0;
	unwind_alloc = alloc;
	memcpy(copy, data, size);
	if (rule_files_tables(copy, size, id, sizeof(id) - 1, BIAS,
			      &tables) == 0) {
		uintptr_t sum = 0;

		for (uintptr_t i = 0; i < ASKED; i++)
			if (cfi_find(&tables, BIAS + 0x1000 + 5 * i,
				     &fde) == 0)
				cfa_program_run(&fde, hear, &sum);
		free((void *)tables.table);
	}
	free(copy);
	return 0;
}
