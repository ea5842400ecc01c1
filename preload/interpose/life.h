/*
 * life.h: what it takes to call those of the C library's functions by which a
 * process changes what it is: what it may do, who it is, where it lives, what
 * program it runs.
 */
#ifndef GNOMON_LIFE_H
#define GNOMON_LIFE_H

#include "preload/base/base.h"

/* What a call returns whose real function does not exist: -1, ENOSYS. */
long life_missing(void);

/* As arch/ enters __libc_start_main: takes the program's main, gives the real
 * one. */
void *life_start(void *program_main);
extern BASE_HIDDEN void *life_main;

/* As an entry in arch/ jumps on: what answers this raw system call. a, b: its
 * first two arguments. */
void *life_entry(long number, long a, long b);

#endif
