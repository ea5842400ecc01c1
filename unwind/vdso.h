/*
 * vdso.h: functions that the kernel maps into each process (vDSO), which do
 * what some system calls do without one.
 */
#ifndef GNOMON_UNWIND_VDSO_H
#define GNOMON_UNWIND_VDSO_H

#include <stdint.h>

/*
 * The address of a function by its name; 0: it has none, as kernels leave
 * names out that would not work on the machine. header: the image's first byte,
 * as the auxiliary vector has it (AT_SYSINFO_EHDR); 0: there is no image. Any
 * thread.
 */
uintptr_t vdso_function(uintptr_t header, const char *name);

/* The clock of ports that have no counter (arch/monotonic.h) goes by this image
 * from now on, if that can tell it. Others: nothing. By one thread. */
void vdso_take_clock(uintptr_t header);

#endif
