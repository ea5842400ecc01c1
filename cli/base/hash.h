/*
 * hash.h: hashes for tables whose keys come from a file.
 *
 * Addresses, ids and names are what a trace says. Whoever writes one and knows
 * the hash can choose keys that all fall upon each other, and each look-up then
 * walks past all of them. So each run has a seed of its own. No result may
 * depend on it, nor on the order of what is in a table.
 */
#ifndef GNOMON_HASH_H
#define GNOMON_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Random; set before main. Factors are odd. */
extern struct hash_seed {
	uint64_t toggle, factor;
	uint64_t near_golden;	/* the golden ratio but for its low bits */
} hash_seed;

/* Made of 16 random bytes; for tests, of others. No table may exist. */
void hash_seed_from(const uint64_t seed[2]);

/* The halves of a product, as one number: by one instruction, or by the products
 * of halves where words have 32 bits. */
static inline uint64_t hash_product(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
	uint64_t low = (uint64_t)(uint32_t)a * (uint32_t)b;
	uint64_t left = (a >> 32) * (uint32_t)b + (low >> 32);
	uint64_t right = (uint64_t)(uint32_t)a * (b >> 32) + (uint32_t)left;
	uint64_t high = (a >> 32) * (b >> 32) + (left >> 32) + (right >> 32);

	return (right << 32 | (uint32_t)low) ^ high;
#endif
}

/* Both halves of a product with a factor that nobody knows (as in wyhash,
 * Wang Yi). */
static inline uint64_t hash_fold(uint64_t number)
{
	return hash_product(number ^ hash_seed.toggle, hash_seed.factor);
}

/* All bits of a number into all bits. Twice: of one product, regular numbers
 * are spread unevenly by one factor in twenty. */
static inline uint64_t hash_number(uint64_t number)
{
	return hash_fold(hash_fold(number));
}

/*
 * For tables of addresses that are taken by the upper bits: the golden ratio
 * (Knuth, TAOCP 6.4) spreads regular addresses more evenly than chance does,
 * and neighbours so that a large table is read half as slowly as by a hash
 * that mixes all bits. Runs of some ten thousand do not notice the low bits;
 * addresses that are chosen to fall upon each other by the ratio itself lie
 * far apart, and do.
 */
static inline uint64_t hash_address(uint64_t address)
{
	return (address >> 4) * hash_seed.near_golden;
}

uint64_t hash_bytes(const void *bytes, size_t size);

/* The same in each run, for what people see (Steele, Lea, Flood:
 * splitmix64). */
static inline uint64_t hash_fixed(uint64_t number)
{
	number ^= number >> 30;
	number *= UINT64_C(0xbf58476d1ce4e5b9);
	number ^= number >> 27;
	number *= UINT64_C(0x94d049bb133111eb);
	return number ^ number >> 31;
}

#endif
