/*
 * name_cache.c: two threads may make the same name at the same time; the second
 * finds the first one's text when it stores its own.
 */
#include "cli/symbol/names/name_cache.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/symbol/names/names.h"
#include "unwind/base/assertion.h"

void name_cache_init(struct name_cache *cache, bool full)
{
	memset(cache, 0, sizeof(*cache));
	pthread_mutex_init(&cache->lock, NULL);
	cache->full = full;
}

void name_cache_free(struct name_cache *cache)
{
	pthread_mutex_destroy(&cache->lock);
	intern_free(&cache->raw);
	intern_free(&cache->shown);
	table_free(&cache->known);
	free(cache->list);
	free(cache->whole);
	table_free(&cache->whole_of);
}

const char *name_cache_text(struct name_cache *cache, const char *text)
{
	struct buffer clean = { 0 };
	const char *one;

	buffer_string(&clean, text);
	buffer_printable(&clean);
	pthread_mutex_lock(&cache->lock);
	one = intern_string(&cache->shown, clean.data ? clean.data : "");
	pthread_mutex_unlock(&cache->lock);
	buffer_free(&clean);
	return one;
}

static const char *find(struct name_cache *cache, const char *raw,
			const char **key)
{
	uint32_t at;

	*key = intern_string(&cache->raw, raw);
	at = table_get(&cache->known, (uintptr_t)*key);
	DEBUG_ASSERT(at == TABLE_NONE || at < cache->count);
	return at == TABLE_NONE ? NULL : cache->list[at];
}

static const char *keep(struct name_cache *cache, const char *key,
			struct buffer *made)
{
	const char *known = find(cache, key, &key);

	if (known != NULL)
		return known;
	/* Names are not trusted: terminals interpret control characters. */
	if (made->size > 0)
		buffer_printable(made);
	assert(cache->count < TABLE_NONE);
	table_set(&cache->known, (uintptr_t)key, (uint32_t)cache->count);
	GROW(cache->list, cache->count, cache->capacity);
	return cache->list[cache->count++] =
		intern_string(&cache->shown, made->data ? made->data : "");
}

/* `all` is a demangled name that is shown as `one`. */
static void keep_whole(struct name_cache *cache, const char *one,
		       struct buffer *all)
{
	uint32_t first = table_get(&cache->whole_of, (uintptr_t)one);
	const char *name;

	buffer_printable(all);
	name = intern_string(&cache->shown, all->data);
	if (name == one)
		return;
	for (uint32_t i = first; i != TABLE_NONE; i = cache->whole[i].next)
		if (cache->whole[i].name == name)
			return;
	GROW(cache->whole, cache->whole_count, cache->whole_capacity);
	table_set(&cache->whole_of, (uintptr_t)one,
		  (uint32_t)cache->whole_count);
	cache->whole[cache->whole_count++] =
		(struct name_cache_whole){ name, first };
}

const char *name_cache_function(struct name_cache *cache, const char *raw)
{
	struct buffer plain = { 0 }, shorter = { 0 };
	const char *key, *known;

	if (raw == NULL)
		return NULL;
	pthread_mutex_lock(&cache->lock);
	known = find(cache, raw, &key);
	pthread_mutex_unlock(&cache->lock);
	if (known != NULL)
		return known;
	names_demangle(&plain, raw);
	if (!cache->full)
		names_shorten(&shorter, plain.data ? plain.data : "");
	pthread_mutex_lock(&cache->lock);
	known = keep(cache, key, cache->full ? &plain : &shorter);
	if (!cache->full && plain.size > 0)
		keep_whole(cache, known, &plain);
	pthread_mutex_unlock(&cache->lock);
	buffer_free(&plain);
	buffer_free(&shorter);
	return known;
}

const char *name_cache_whole(struct name_cache *cache, const char *one,
			     size_t i)
{
	const char *name = NULL;
	uint32_t at;

	pthread_mutex_lock(&cache->lock);
	at = table_get(&cache->whole_of, (uintptr_t)one);
	while (at != TABLE_NONE && i-- > 0)
		at = cache->whole[at].next;
	DEBUG_ASSERT(at == TABLE_NONE || at < cache->whole_count);
	if (at != TABLE_NONE)
		name = cache->whole[at].name;
	pthread_mutex_unlock(&cache->lock);
	return name;
}
