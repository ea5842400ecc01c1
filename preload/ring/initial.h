/*
 * initial.h: what the kernel left on the main stack before the program began.
 */
#ifndef GNOMON_INITIAL_H
#define GNOMON_INITIAL_H

#include <stdint.h>

#include "preload/base/base.h"

/* 0, NULL: not known. Constant from the first start on, also in children. */
struct initial {
	uintptr_t stack_end;
	const char *executed;	/* as what the program was */
	const uint64_t *noise;	/* two random words */
	uintptr_t vdso;		/* the kernel's image (unwind/vdso.h) */
};
extern BASE_HIDDEN struct initial initial;

/* The environment, NULL: not known; and all of the above. Before the program's
 * own code runs. */
char *const *initial_environment(void);
void initial_find(void);

#endif
