/*
 * code_words.h: addresses of functions in a file's data, which show where code
 * without symbols begins. It reads the init arrays and the global offset table:
 * these have addresses of functions and of data, but not of code inside a
 * function, as jump tables have. Any thread.
 */
#ifndef GNOMON_CODE_WORDS_H
#define GNOMON_CODE_WORDS_H

#include <stdint.h>

#include "cli/symbol/cfi/binary.h"

/* Calls back with each word that the loader writes or finds there. It may be
 * any address, and may have ARM's Thumb bit. */
void code_words(const struct binary *binary,
		void (*word)(void *owner, uint64_t address), void *owner);

#endif
