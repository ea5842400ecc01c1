/*
 * dynsym.h: symbols that a mapped image exports, and its own name.
 */
#ifndef GNOMON_UNWIND_DYNSYM_H
#define GNOMON_UNWIND_DYNSYM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/elfmap.h"

/*
 * The run-time address of a symbol of this type (STT_OBJECT, STT_FUNC) that
 * the image defines, of its default version, by the hash table that its loader
 * uses; 0: it has none. Reads nothing but the image's own segments. Any thread.
 */
uintptr_t dynsym_find(const struct elfmap *map, const char *name,
		      unsigned type);

/* The same for a variable, with its size. */
uintptr_t dynsym_object(const struct elfmap *map, const char *name,
			size_t *size_bytes);

/* Whether the image wants one of these symbols from others. As above, for an
 * image that stays: it takes too long for others, whose bytes are copied. */
bool dynsym_imports(const struct elfmap *map, const char *const *names,
		    unsigned count);

/* DT_SONAME. False: it has none, or none that fits. As above. */
bool dynsym_soname(const struct elfmap *map, char *name, size_t size);

#endif
