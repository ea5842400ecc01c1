/*
 * xxh64.c: four lanes consume stripes of 32 bytes; the remaining bytes are
 * mixed in at the end, in words, half words and bytes. Called by the recorder.
 */
#include "cli/recorder/base/xxh64.h"

#include <string.h>

#define XXH64_PRIME1 UINT64_C(0x9e3779b185ebca87)
#define XXH64_PRIME2 UINT64_C(0xc2b2ae3d27d4eb4f)
#define XXH64_PRIME3 UINT64_C(0x165667b19e3779f9)
#define XXH64_PRIME4 UINT64_C(0x85ebca77c2b2ae63)
#define XXH64_PRIME5 UINT64_C(0x27d4eb2f165667c5)

static inline uint64_t xxh64_rotate(uint64_t v, unsigned by)
{
	return v << by | v >> (64 - by);
}

static inline uint64_t xxh64_read64(const uint8_t *p)
{
	uint64_t v;

	__builtin_memcpy(&v, p, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

static inline uint32_t xxh64_read32(const uint8_t *p)
{
	uint32_t v;

	__builtin_memcpy(&v, p, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap32(v);
#endif
	return v;
}

static inline uint64_t xxh64_round(uint64_t lane, uint64_t input)
{
	lane += input * XXH64_PRIME2;
	return xxh64_rotate(lane, 31) * XXH64_PRIME1;
}

static const uint8_t *xxh64_stripes(uint64_t lane[4], const uint8_t *p,
				    size_t count)
{
	uint64_t a = lane[0], b = lane[1], c = lane[2], d = lane[3];

	for (; count; count--, p += XXH64_STRIPE) {
		a = xxh64_round(a, xxh64_read64(p));
		b = xxh64_round(b, xxh64_read64(p + 8));
		c = xxh64_round(c, xxh64_read64(p + 16));
		d = xxh64_round(d, xxh64_read64(p + 24));
	}
	lane[0] = a;
	lane[1] = b;
	lane[2] = c;
	lane[3] = d;
	return p;
}

void xxh64_init(struct xxh64 *hash, uint64_t seed)
{
	hash->seed = seed;
	hash->lane[0] = seed + XXH64_PRIME1 + XXH64_PRIME2;
	hash->lane[1] = seed + XXH64_PRIME2;
	hash->lane[2] = seed;
	hash->lane[3] = seed - XXH64_PRIME1;
	hash->total = 0;
}

void xxh64_update(struct xxh64 *hash, const void *data, size_t n)
{
	const uint8_t *p = data;
	size_t held = hash->total % XXH64_STRIPE;

	hash->total += n;
	if (held + n < XXH64_STRIPE) {
		memcpy(hash->rest + held, p, n);
		return;
	}
	if (held) {
		size_t part = XXH64_STRIPE - held;

		memcpy(hash->rest + held, p, part);
		xxh64_stripes(hash->lane, hash->rest, 1);
		p += part;
		n -= part;
	}
	p = xxh64_stripes(hash->lane, p, n / XXH64_STRIPE);
	memcpy(hash->rest, p, n % XXH64_STRIPE);
}

static uint64_t xxh64_merge(const struct xxh64 *hash)
{
	static const uint8_t turns[4] = { 1, 7, 12, 18 };
	uint64_t h = 0;
	unsigned i;

	if (hash->total < XXH64_STRIPE)
		return hash->seed + XXH64_PRIME5;
	for (i = 0; i < 4; i++)
		h += xxh64_rotate(hash->lane[i], turns[i]);
	for (i = 0; i < 4; i++) {
		h ^= xxh64_round(0, hash->lane[i]);
		h = h * XXH64_PRIME1 + XXH64_PRIME4;
	}
	return h;
}

uint64_t xxh64_digest(const struct xxh64 *hash)
{
	const uint8_t *p = hash->rest;
	size_t n = hash->total % XXH64_STRIPE;
	uint64_t h = xxh64_merge(hash) + hash->total;

	for (; n >= 8; n -= 8, p += 8) {
		h ^= xxh64_round(0, xxh64_read64(p));
		h = xxh64_rotate(h, 27) * XXH64_PRIME1 + XXH64_PRIME4;
	}
	if (n >= 4) {
		h ^= xxh64_read32(p) * XXH64_PRIME1;
		h = xxh64_rotate(h, 23) * XXH64_PRIME2 + XXH64_PRIME3;
		n -= 4;
		p += 4;
	}
	for (; n; n--, p++) {
		h ^= *p * XXH64_PRIME5;
		h = xxh64_rotate(h, 11) * XXH64_PRIME1;
	}
	h ^= h >> 33;
	h *= XXH64_PRIME2;
	h ^= h >> 29;
	h *= XXH64_PRIME3;
	return h ^ h >> 32;
}
