/*
 * gdbjit.h: unwind tables of code that a program announces to debuggers by the
 * GDB JIT interface (GDB manual, "JIT Compilation Interface"): a linked list of
 * ELF objects in its memory, reached by the symbol __jit_debug_descriptor.
 */
#ifndef GNOMON_UNWIND_GDBJIT_H
#define GNOMON_UNWIND_GDBJIT_H

#include <stdint.h>

#include "unwind/elf/elfmap.h"

/* Forgets all images. */
void gdbjit_init(void);

/* An image was mapped or unmapped. Called under the image lock. */
void gdbjit_image(const struct elfmap *map);
void gdbjit_image_gone(uintptr_t start, uintptr_t end);

/*
 * Updates the registered tables (jit.h) if the program's list has changed;
 * otherwise reads one word. Any thread, also signal handlers; if two threads
 * call it at a time, one returns without an update.
 */
void gdbjit_check(void);

#endif
