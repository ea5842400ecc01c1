/*
 * patching.h (ARM): functions of an allocator that is linked into the
 * program are not patched (arch.h): the recorder says that they are not
 * recorded.
 */
#ifndef GNOMON_ARCH_PATCHING_H
#define GNOMON_ARCH_PATCHING_H

#define ARCH_PATCHES 0

#endif
