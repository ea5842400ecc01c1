/* identity.c: see identity.h. */
#include "preload/interpose/identity.h"

#include <errno.h>
#include <stddef.h>

#include "preload/interpose/real.h"

void *identity_main;

void *identity_start(void *program_main)
{
	identity_main = program_main;
	/* without it no program runs */
	return real_late(REAL___libc_start_main);
}

long identity_missing(void)
{
	int *(*location)(void) = (int *(*)(void))real_of(REAL___errno_location);

	if (location)
		*location() = ENOSYS;
	return -1;
}
