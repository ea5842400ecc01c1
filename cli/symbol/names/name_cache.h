/*
 * name_cache.h: demangled names for output, each made once: demangling takes
 * some microseconds.
 *
 * Thread context: any, several at once.
 */
#ifndef GNOMON_NAME_CACHE_H
#define GNOMON_NAME_CACHE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/intern.h"
#include "cli/base/table.h"

struct name_cache_whole {
	const char *name;
	uint32_t next;		/* of the names shown alike */
};

struct name_cache {
	pthread_mutex_t lock;
	bool full;		/* names are not shortened */
	struct intern raw;
	struct intern shown;
	struct table known;	/* raw name -> index in the list */
	const char **list;
	size_t count;
	size_t capacity;
	/* Names before shortening, as the demangler made them. */
	struct table whole_of;	/* shown name -> index of the last */
	struct name_cache_whole *whole;
	size_t whole_count;
	size_t whole_capacity;
};

void name_cache_init(struct name_cache *cache, bool full);
void name_cache_free(struct name_cache *cache);

/* A linker name in the form for output; NULL for NULL. Lives as long as the
 * cache; equal names are equal pointers. */
const char *name_cache_function(struct name_cache *cache, const char *raw);
/* The i-th demangled name that is shown as `one`, a result of
 * name_cache_function; NULL: there are no more that differ from `one`. */
const char *name_cache_whole(struct name_cache *cache, const char *one,
			     size_t i);
/* The text itself, stored once. */
const char *name_cache_text(struct name_cache *cache, const char *text);

#endif
