/*
 * patched_code.h: where the code lies whose allocator was patched (patch.h).
 * The constructor notes it; constant from then on, and kept by a forked child.
 */
#ifndef GNOMON_PATCHED_CODE_H
#define GNOMON_PATCHED_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATCHED_CODE_MAX 16	/* images */

/* The executable segment of one more image, of PATCHED_CODE_MAX at most. */
void patched_code_add(uintptr_t start, size_t size);

/* Whether anything was patched. */
bool patched_code_any(void);

/* Whether the address is in code of an image that was patched. */
bool patched_code_inside(uintptr_t address);

#endif
