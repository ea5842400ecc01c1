/*
 * gdbjit.h: code that a program shows to debuggers by the GDB JIT interface
 * (GDB manual, "JIT Compilation Interface"): a linked list of ELF objects in
 * its memory, behind the symbol __jit_debug_descriptor.
 */
#ifndef GNOMON_UNWIND_GDBJIT_H
#define GNOMON_UNWIND_GDBJIT_H

#include <stdint.h>

#include "unwind/elfmap.h"

/* Forgets all images. */
void gdbjit_init(void);

/* An image was mapped, is gone: under the image lock. */
void gdbjit_image(const struct elfmap *map);
void gdbjit_image_gone(uintptr_t start, uintptr_t end);

/*
 * Brings the registered tables (jit.h) up to date with what is shown, if that
 * has changed. One word is read where nothing has. Any thread, also signal
 * handlers; of two at a time one goes without.
 */
void gdbjit_look(void);

#endif
