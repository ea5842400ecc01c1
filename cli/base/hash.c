/*
 * hash.c: see hash.h. The seed is drawn before main, by the first thread.
 */
#include "cli/base/hash.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)	/* 2^64 / 1.618... */

struct hash_seed hash_seed;

void hash_seed_from(const uint64_t seed[2])
{
	hash_seed.toggle = seed[0];
	hash_seed.factor = seed[1] | 1;
	/* 24 bits: more would spread long runs of regular addresses only as
	 * evenly as chance; the seed still cannot be guessed */
	hash_seed.near_golden = GOLDEN ^ (seed[0] >> 40) << 1;
}

__attribute__((constructor)) static void draw_seed(void)
{
	const void *at_random = (const void *)getauxval(AT_RANDOM);
	uint64_t seed[2] = { 0 };

	/* getrandom fails if a seccomp filter forbids it; the kernel gave 16
	 * bytes. */
	if (getrandom(seed, sizeof(seed), GRND_NONBLOCK) !=
	    (ssize_t)sizeof(seed) && at_random != NULL)
		memcpy(seed, at_random, sizeof(seed));
	hash_seed_from(seed);
}

uint64_t hash_bytes(const void *bytes, size_t size)
{
	return XXH3_64bits_withSeed(bytes, size, hash_seed.factor);
}
