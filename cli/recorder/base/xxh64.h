/*
 * xxh64.h: the 64-bit xxHash of a trace's frames, as specified in xxHash's
 * doc/xxhash_spec.md. No state but the caller's; any thread.
 */
#ifndef GNOMON_XXH64_H
#define GNOMON_XXH64_H

#include <stddef.h>
#include <stdint.h>

#define XXH64_STRIPE 32

struct xxh64 {
	uint64_t seed;
	uint64_t lane[4];
	uint64_t total;		/* bytes so far */
	uint8_t rest[XXH64_STRIPE];	/* total % XXH64_STRIPE of them */
};

void xxh64_init(struct xxh64 *hash, uint64_t seed);
void xxh64_update(struct xxh64 *hash, const void *data, size_t n);
uint64_t xxh64_digest(const struct xxh64 *hash);

#endif
