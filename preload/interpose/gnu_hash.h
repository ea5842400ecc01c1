/*
 * gnu_hash.h: names in a DT_GNU_HASH table: symbols by the hash of their name,
 * those of one bucket side by side, the last of them marked.
 */
#ifndef GNOMON_GNU_HASH_H
#define GNOMON_GNU_HASH_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gnu_hash {
	const uint32_t *chain;	/* of symbol `index`; NULL: none is left */
	uint32_t hash, index;
};

/*
 * The symbols that may have this name, one after the other:
 *
 *	for (at = gnu_hash_first(table, name); at.chain; gnu_hash_next(&at))
 *		if (gnu_hash_fits(&at) && … name of symbol at.index)
 */
static inline struct gnu_hash gnu_hash_first(const uint32_t *table,
					     const char *name)
{
	uint32_t buckets = table[0], first = table[1], words = table[2];
	const uint32_t *bucket =
		table + 4 + words * (sizeof(ElfW(Addr)) / sizeof(*table));
	struct gnu_hash at = { .hash = 5381 };

	for (; *name; name++)
		at.hash = at.hash * 33 + (unsigned char)*name;
	at.index = buckets ? bucket[at.hash % buckets] : 0;
	/* an empty bucket has 0, which is no symbol's */
	if (at.index && at.index >= first)
		at.chain = bucket + buckets + (at.index - first);
	return at;
}

static inline bool gnu_hash_fits(const struct gnu_hash *at)
{
	return (*at->chain | 1) == (at->hash | 1);
}

static inline void gnu_hash_next(struct gnu_hash *at)
{
	at->index++;
	at->chain = *at->chain & 1 ? NULL : at->chain + 1;
}

#endif
