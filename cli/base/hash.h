/*
 * hash.h: hashes for tables whose keys come from a file.
 *
 * Addresses, ids and names come from a trace. An author of a trace who knows
 * the hash could choose keys that all collide, and each look-up would walk past
 * all of them. So each run has a random seed. No result may depend on the seed,
 * nor on the order of entries in a table.
 */
#ifndef GNOMON_HASH_H
#define GNOMON_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Random; set before main. Factors are odd. */
extern struct hash_seed {
	uint64_t toggle, factor;
	uint64_t near_golden;	/* the golden ratio except its low bits */
} hash_seed;

/* Sets the seed, normally 16 random bytes; tests pass others. No table may
 * exist yet. */
void hash_seed_from(const uint64_t seed[2]);

/* XOR of the halves of a product: by one instruction, or, on 32-bit machines,
 * by products of halves. */
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

/* XOR of both halves of a product with a secret factor (as in wyhash, Wang
 * Yi). */
static inline uint64_t hash_fold(uint64_t number)
{
	return hash_product(number ^ hash_seed.toggle, hash_seed.factor);
}

/* Mixes all bits of a number into all bits. Twice: one product spreads regular
 * numbers unevenly with one factor in twenty. */
static inline uint64_t hash_number(uint64_t number)
{
	return hash_fold(hash_fold(number));
}

/*
 * For tables of addresses, indexed by the upper bits: the golden ratio (Knuth,
 * TAOCP 6.4) spreads regular addresses more evenly than chance. It keeps
 * neighbours near enough that a large table is read twice as fast as with a
 * hash that mixes all bits. The random low bits do not affect runs of some ten
 * thousand addresses; addresses chosen to collide under the exact ratio lie far
 * apart, and those bits separate them.
 */
static inline uint64_t hash_address(uint64_t address)
{
	return (address >> 4) * hash_seed.near_golden;
}

uint64_t hash_bytes(const void *bytes, size_t size);

/* The same in each run, for numbers that users see (Steele, Lea, Flood:
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
