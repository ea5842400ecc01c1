/*
 * code_words.h: addresses of functions among a file's data, which tell where code
 * without symbols begins: those that the program's start is made of (init arrays),
 * and the global offset table, which has addresses of functions and of data, but
 * of no place inside of a function, as tables of jumps have. Any thread.
 */
#ifndef GNOMON_CODE_WORDS_H
#define GNOMON_CODE_WORDS_H

#include <stdint.h>

#include "cli/symbol/cfi/binary.h"

/* Calls back with each word that the loader puts there, or finds there: it may be
 * any address, and have ARM's bit for Thumb. */
void code_words(const struct binary *binary,
		void (*word)(void *owner, uint64_t address), void *owner);

#endif
