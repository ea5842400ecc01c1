/*
 * patching.h (MIPS64): functions of a static allocator are not patched
 * (arch.h): the recorder reports that they are not recorded.
 */
#ifndef GNOMON_ARCH_PATCHING_H
#define GNOMON_ARCH_PATCHING_H

#define ARCH_PATCHES 0

#endif
