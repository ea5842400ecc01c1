/*
 * decode.h (x86-64): instructions need not be followed (arch/operation.h):
 * compilers emit tables for all functions.
 */
#ifndef GNOMON_ARCH_DECODE_H
#define GNOMON_ARCH_DECODE_H

#define ARCH_DECODES 0

#endif
