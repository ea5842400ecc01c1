/*
 * sanitizer.c: a word to AddressSanitizer.
 *
 * Its run-time library wants to be the first of all, and ends the program
 * where another was preloaded, since that might hide its functions. Ours call
 * them: each hook calls the next allocator, which then is the sanitizer's, so
 * that it sees every block, and so do we. It asks for options here before it
 * looks; where the program has this function, too, the program's counts.
 *
 * Any thread; in practice the first one, before the program's constructors.
 */
#include "preload/hooks/hooks.h"

const char *__asan_default_options(void);

HOOK const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}
