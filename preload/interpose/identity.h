/*
 * identity.h: calls of C library functions that change the process: its
 * privileges, its ids, its root directory, its namespaces, its program.
 */
#ifndef GNOMON_IDENTITY_H
#define GNOMON_IDENTITY_H

#include "preload/base/base.h"

/* The result of a call without a real function: -1, ENOSYS. */
long identity_missing(void);

/* Called by arch/ in __libc_start_main: takes the program's main and returns
 * the main to pass on. */
void *identity_start(void *program_main);
extern BASE_HIDDEN void *identity_main;

/* For an entry in arch/: the function to jump to for this raw system call. a,
 * b: its first two arguments. */
void *identity_entry(long number, long a, long b);

#endif
