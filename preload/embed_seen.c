/*
 * embed_seen.c: see the header. Forked children share a page with their
 * parents: behind its first line lie hashes of pairs (build-id, path of the
 * trace that has the file), from the front on, each written once.
 */
#include "preload/embed_seen.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "preload/xxh64.h"

#define EMBED_SEEN_SHARED ((RECORDER_TOLD_SIZE - BASE_LINE) / 8)

static uint64_t embed_seen_hash(const void *bytes, size_t n, uint64_t seed)
{
	struct xxh64 hash;

	xxh64_init(&hash, seed);
	xxh64_update(&hash, bytes, n);
	return xxh64_digest(&hash);
}

static uint64_t embed_seen_id(const struct embed_wanted *wanted)
{
	return embed_seen_hash(wanted->id, wanted->id_size, 0);
}

bool embed_seen_before(struct embed_seen *seen,
		       const struct embed_wanted *wanted)
{
	uint64_t id = embed_seen_id(wanted);
	uint32_t i;

	for (i = 0; i < seen->count; i++)
		if (seen->hash[i] == id)
			return true;
	if (seen->count == EMBED_SEEN_MOST)
		return true;
	seen->hash[seen->count++] = id;
	return false;
}

static _Atomic uint64_t *embed_seen_shared(void)
{
	return recorder_told ? (_Atomic uint64_t *)((char *)recorder_told +
						    BASE_LINE) : NULL;
}

static uint64_t embed_seen_pair(const struct embed_wanted *wanted,
				const char *trace)
{
	/* 0 is an empty place */
	return embed_seen_hash(trace, strlen(trace),
			       embed_seen_id(wanted)) | 1;
}

void embed_seen_tell(const struct embed_wanted *wanted, const char *trace)
{
	_Atomic uint64_t *pairs = embed_seen_shared();
	uint64_t pair = embed_seen_pair(wanted, trace), none;
	unsigned i;

	for (i = 0; pairs && i < EMBED_SEEN_SHARED; i++) {
		none = 0;
		/* the value is all there is: it pairs with nothing */
		if (atomic_compare_exchange_strong_explicit(
			    &pairs[i], &none, pair, memory_order_relaxed,
			    memory_order_relaxed))
			return;
	}
}

bool embed_seen_by_parent(const struct embed_wanted *wanted,
			  const struct recorder *r)
{
	_Atomic uint64_t *pairs = embed_seen_shared();
	uint64_t pair, found;
	unsigned i;

	if (!r->forked || !r->parent_trace[0] || !pairs)
		return false;
	pair = embed_seen_pair(wanted, r->parent_trace);
	for (i = 0; i < EMBED_SEEN_SHARED; i++) {
		found = atomic_load_explicit(&pairs[i], memory_order_relaxed);
		if (found == pair || !found)
			return found;
	}
	return false;
}
