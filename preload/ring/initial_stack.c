/*
 * initial_stack.c: see initial_stack.h.
 *
 *	argc | argv … NULL | environment … NULL | auxiliary vector … AT_NULL
 */
#include "preload/ring/initial_stack.h"

#include <link.h>

/* Where the kernel put argc; glibc only. */
extern long *__libc_stack_end __attribute__((weak));
extern char **__environ __attribute__((weak));

struct initial initial;

char *const *initial_environment(void)
{
	if (&__libc_stack_end && __libc_stack_end)
		return (char **)(__libc_stack_end + 1 + *__libc_stack_end + 1);
	/* now it still is the kernel's array, on the stack */
	return &__environ ? __environ : NULL;
}

void initial_find(void)
{
	char *const *environment = initial_environment();
	const ElfW(auxv_t) *entry;

	initial.stack_end = (uintptr_t)environment;
	/* only if it certainly is the kernel's array */
	if (!&__libc_stack_end || !__libc_stack_end)
		return;
	initial.stack_end = (uintptr_t)__libc_stack_end;
	while (*environment)
		environment++;
	for (entry = (const void *)(environment + 1);
	     entry->a_type != AT_NULL; entry++) {
		if (entry->a_type == AT_EXECFN)
			initial.executed = (const char *)entry->a_un.a_val;
		if (entry->a_type == AT_RANDOM)
			initial.noise = (const uint64_t *)entry->a_un.a_val;
		if (entry->a_type == AT_SYSINFO_EHDR)
			initial.vdso = entry->a_un.a_val;
	}
}
