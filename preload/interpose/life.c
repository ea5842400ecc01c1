/* life.c: see life.h. */
#include "preload/interpose/life.h"

#include <errno.h>
#include <stddef.h>

#include "preload/interpose/real.h"

void *life_main;

void *life_start(void *program_main)
{
	void *start = life_real(LIFE___libc_start_main);

	life_main = program_main;
	/* without it there is no program */
	return start ? start : real_function("__libc_start_main");
}

void *life_real(enum life_function which)
{
	if (unlikely(!real.malloc) && !real_resolve())
		return NULL;
	return real_life[which];
}

long life_missing(void)
{
	int *(*location)(void) =
		(int *(*)(void))life_real(LIFE___errno_location);

	if (location)
		*location() = ENOSYS;
	return -1;
}
