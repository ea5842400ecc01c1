/*
 * sanitizer.c: default options for AddressSanitizer.
 *
 * Its runtime must be the first library, and ends the program if another one
 * was preloaded, since that might hide its functions. Our hooks do not: each
 * calls the next allocator, which then is the sanitizer's, so both see every
 * block. The runtime calls this function for its options before that check. If
 * the program defines the function, too, the program's is used.
 *
 * Any thread; in practice the first one, before the program's constructors.
 */
#include "preload/hooks/hooks.h"

const char *__asan_default_options(void);

HOOK const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}
