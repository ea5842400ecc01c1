/*
 * name_cache.h: names as they are shown, each made once: demangling costs
 * some microseconds.
 *
 * Thread context: any, several at once.
 */
#ifndef GNOMON_NAME_CACHE_H
#define GNOMON_NAME_CACHE_H

#include <pthread.h>
#include <stdbool.h>

#include "cli/base/intern.h"
#include "cli/base/table.h"

struct name_cache {
	pthread_mutex_t lock;
	bool full;		/* not shortened */
	struct intern raw;
	struct intern shown;
	struct table known;	/* raw name -> index in the list */
	const char **list;
	size_t count;
	size_t capacity;
};

void name_cache_init(struct name_cache *cache, bool full);
void name_cache_free(struct name_cache *cache);

/* A linker's name as people write it; NULL for NULL. Lives as long as the
 * cache; equal names are equal pointers. */
const char *name_cache_function(struct name_cache *cache, const char *raw);
/* The text itself, once. */
const char *name_cache_text(struct name_cache *cache, const char *text);

#endif
