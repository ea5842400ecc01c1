/*
 * fuzz_suppressions.c: files of suppressions from hostile bytes, and patterns
 * against names. A pattern and a name are the first and the second line, if
 * the first byte says so.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stack/suppressions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void match(const char *text, size_t size)
{
	char *copy = malloc(size + 1), *name;

	memcpy(copy, text, size);
	copy[size] = 0;
	name = strchr(copy, '\n');
	if (name != NULL)
		*name++ = 0;
	suppressions_match(copy, name != NULL ? name : copy);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct suppressions rules = { 0 };

	if (size < 1)
		return 0;
	if (data[0] % 2) {
		match((const char *)data + 1, size - 1);
		return 0;
	}
	suppressions_parse(&rules, (const char *)data + 1, size - 1,
			   SUPPRESSION_FILE, "fuzz", NULL);
	suppressions_free(&rules);
	return 0;
}
