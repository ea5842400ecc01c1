/*
 * vdso.h: finds functions in the kernel's vDSO, which replace some system
 * calls.
 */
#ifndef GNOMON_UNWIND_VDSO_H
#define GNOMON_UNWIND_VDSO_H

#include <stdint.h>

/*
 * The address of a function by its name; 0: none, as kernels omit names that
 * would not work on the machine. header: the image's first byte, from the
 * auxiliary vector (AT_SYSINFO_EHDR); 0: there is no image. Any thread.
 */
uintptr_t vdso_function(uintptr_t header, const char *name);

/* On ports without a cycle counter: the clock (arch/monotonic.h) uses this
 * image from now on, if the image has a clock function. On other ports: does
 * nothing. By one thread. */
void vdso_take_clock(uintptr_t header);

#endif
