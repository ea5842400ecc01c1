/*
 * dynsym.h: symbols that a mapped image exports, and its own name.
 */
#ifndef GNOMON_UNWIND_DYNSYM_H
#define GNOMON_UNWIND_DYNSYM_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The run-time address of a symbol of this type (STT_OBJECT, STT_FUNC) that
 * the image defines, by the hash table that its loader uses; 0: it has none.
 * Reads nothing but the image's own segments. Any thread, while the image is
 * mapped.
 */
uintptr_t dynsym_find(const struct dl_phdr_info *info, const char *name,
		      unsigned type);

/* Whether the image wants one of these symbols from others. As above. */
bool dynsym_imports(const struct dl_phdr_info *info, const char *const *names,
		    unsigned count);

/* DT_SONAME. False: it has none, or none that fits. As above. */
bool dynsym_soname(const struct dl_phdr_info *info, char *name, size_t size);

#endif
