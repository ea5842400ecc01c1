/*
 * embed_seen.c: see the header. For forked children, the live mapping has
 * hashes of pairs (build-id, path of the trace that has the file), in an array
 * that is filled from the front, each written once. Children read them in their
 * parent's live file.
 */
#include "cli/recorder/embed/embed_seen.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "cli/recorder/base/xxh64.h"
#include "cli/recorder/process/parent_live.h"

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
	if (seen->count == EMBED_SEEN_MAX)
		return true;
	seen->hash[seen->count++] = id;
	return false;
}

static uint64_t embed_seen_pair(const struct embed_wanted *wanted,
				const char *trace)
{
	/* 0 is an empty entry */
	return embed_seen_hash(trace, strlen(trace),
			       embed_seen_id(wanted)) | 1;
}

void embed_seen_report(const struct embed_wanted *wanted,
		       const struct recording *r, const char *trace)
{
	order_64 *pairs = r->shared->embedded;
	unsigned i;

	for (i = 0; i < GL_EMBEDDED; i++) {
		if (atomic_load_explicit(&pairs[i], memory_order_relaxed))
			continue;
		/* the value depends on no other data: it pairs with nothing */
		atomic_store_explicit(&pairs[i],
				      embed_seen_pair(wanted, trace),
				      memory_order_relaxed);
		return;
	}
}

bool embed_seen_by_parent(const struct embed_wanted *wanted,
			  const struct recording *r)
{
	order_word pairs[GL_EMBEDDED];
	uint64_t pair, its;
	unsigned i;

	if (!r->forked || !r->parent_trace[0] ||
	    !parent_live_read(r, offsetof(struct gl_shared, embedded), pairs,
			      sizeof(pairs)))
		return false;
	pair = embed_seen_pair(wanted, r->parent_trace);
	for (i = 0; i < GL_EMBEDDED && (its = order_word_get(&pairs[i])); i++)
		if (its == pair)
			return true;
	return false;
}
