/*
 * hash.c: see hash.h. The seed is drawn before main, by the first thread.
 */
#include "cli/base/hash.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

struct hash_seed hash_seed;

__attribute__((constructor)) static void draw_seed(void)
{
	const void *at_random = (const void *)getauxval(AT_RANDOM);

	/* It fails where a filter forbids it: the kernel gave 16 bytes. */
	if (getrandom(&hash_seed, sizeof(hash_seed), GRND_NONBLOCK) !=
	    (ssize_t)sizeof(hash_seed) && at_random != NULL)
		memcpy(&hash_seed, at_random, sizeof(hash_seed));
	hash_seed.factor |= 1;
}

uint64_t hash_bytes(const void *bytes, size_t size)
{
	return XXH3_64bits_withSeed(bytes, size, hash_seed.factor);
}
