/*
 * index_cache.h: the cache folder for indexes of traces in folders that cannot
 * be written, and its size limit.
 *
 * $XDG_CACHE_HOME/gnomon, or ~/.cache/gnomon: accessible only to its owner.
 * Files in it that are no indexes are left alone.
 *
 * Any thread, any number of processes.
 */
#ifndef GNOMON_INDEX_CACHE_H
#define GNOMON_INDEX_CACHE_H

#include <stdbool.h>
#include <stdint.h>

/* The size limit of all indexes in it: GNOMON_INDEX_CACHE=SIZE. */
#define INDEX_CACHE_VARIABLE "GNOMON_INDEX_CACHE"
#define INDEX_CACHE_DEFAULT (UINT64_C(10) << 30)

/* Its path, to be freed; NULL: there is no home directory. */
char *index_cache_folder(void);
/* Make the folder if it is missing. 0 or -errno. */
int index_cache_make(void);
/* False: the variable is not a size; then *limit is the default. */
bool index_cache_limit(uint64_t *limit);
/*
 * Removes the least recently used indexes, and files left by makers that were
 * killed, except those of `path`, until `bytes` more are within the limit.
 * False: `bytes` alone exceeds the limit.
 */
bool index_cache_make_room(const char *path, uint64_t bytes, uint64_t limit);
/* Marks the index at this path as used now. */
void index_cache_touch(const char *path);

#endif
