/*
 * minidebug.h: .gnu_debugdata, a symbol table that some distributions leave in
 * stripped files: an ELF file of its own, compressed by xz.
 *
 * Thread context: any.
 */
#ifndef GNOMON_MINIDEBUG_H
#define GNOMON_MINIDEBUG_H

#include "cli/symbol/elf/elffile.h"

/* NULL: there is none, or it is damaged. The caller closes it. */
struct elffile *minidebug_open(struct elffile *file);

#endif
