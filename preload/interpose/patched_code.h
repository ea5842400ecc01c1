/*
 * patched_code.h: code ranges of images with a patched allocator (patch.h). Set
 * by the constructor, then constant; kept by a forked child.
 */
#ifndef GNOMON_PATCHED_CODE_H
#define GNOMON_PATCHED_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATCHED_CODE_MAX 16	/* images */

/* Adds the executable segment of an image, of PATCHED_CODE_MAX at most. */
void patched_code_add(uintptr_t start, size_t size);

/* Whether anything was patched. */
bool patched_code_any(void);

/* Whether the address is in code of a patched image. */
bool patched_code_inside(uintptr_t address);

#endif
