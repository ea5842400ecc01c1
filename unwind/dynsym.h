/*
 * dynsym.h: a symbol that a mapped image exports.
 */
#ifndef GNOMON_UNWIND_DYNSYM_H
#define GNOMON_UNWIND_DYNSYM_H

#include <link.h>
#include <stdint.h>

/*
 * The run-time address of a data symbol that the image defines, by the hash
 * table that its loader uses; 0: it has none. Reads nothing but the image's
 * own segments. Any thread, while the image is mapped.
 */
uintptr_t dynsym_find(const struct dl_phdr_info *info, const char *name);

#endif
