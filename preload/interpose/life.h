/*
 * life.h: what it takes to call those of the C library's functions by which a
 * process changes what it is (real_life.h).
 */
#ifndef GNOMON_LIFE_H
#define GNOMON_LIFE_H

#include "preload/base/base.h"
#include "preload/interpose/real_life.h"

/* The real one; NULL: the C library has none, or it is too early. */
void *life_real(enum life_function which);

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
