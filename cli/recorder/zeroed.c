/* zeroed.c: see zeroed.h. */
#include "cli/recorder/zeroed.h"

#include <stdint.h>
#include <stdlib.h>

#include "preload/base/base.h"

void *zeroed_alloc(size_t size_bytes)
{
	/* calloc does not touch what the kernel has just given */
	char *p = size_bytes > SIZE_MAX - BASE_LINE ?
			  NULL : calloc(1, size_bytes + BASE_LINE - 1);

	return p ? (void *)base_round_up((uintptr_t)p, BASE_LINE) : NULL;
}
