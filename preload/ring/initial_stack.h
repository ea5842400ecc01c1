/*
 * initial_stack.h: the initial process stack: what the kernel put there at
 * exec.
 */
#ifndef GNOMON_INITIAL_STACK_H
#define GNOMON_INITIAL_STACK_H

#include <stdint.h>

#include "preload/base/base.h"

/* 0, NULL: unknown. Constant from the first start on, also in children. */
struct initial {
	uintptr_t stack_end;
	const char *executed;	/* path of the executed program (AT_EXECFN) */
	const uint64_t *noise;	/* two random words */
	uintptr_t vdso;		/* the kernel's image (unwind/elf/vdso.h) */
};
extern BASE_HIDDEN struct initial initial;

/* initial_environment: the environment, NULL: unknown. initial_find: fills
 * `initial`. Before the program's own code runs. */
char *const *initial_environment(void);
void initial_find(void);

#endif
