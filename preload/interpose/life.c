/* life.c: see life.h. */
#include "preload/interpose/life.h"

#include <errno.h>
#include <stddef.h>

#include "preload/interpose/real.h"

void *life_main;

void *life_start(void *program_main)
{
	life_main = program_main;
	/* without it no program runs */
	return real_late(REAL___libc_start_main);
}

long life_missing(void)
{
	int *(*location)(void) = (int *(*)(void))real_of(REAL___errno_location);

	if (location)
		*location() = ENOSYS;
	return -1;
}
