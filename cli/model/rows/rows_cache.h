/*
 * rows_cache.h: the folder for stores of traces beside which nothing can be
 * written, and how much lies in it.
 *
 *  $XDG_CACHE_HOME/gnomon, or ~/.cache/gnomon: of its owner alone. What is in
 *  there besides stores stays as it is.
 *
 * Any thread, any number of processes.
 */
#ifndef GNOMON_ROWS_CACHE_H
#define GNOMON_ROWS_CACHE_H

#include <stdbool.h>
#include <stdint.h>

/* How much all stores in it may take: GNOMON_INDEX_CACHE=SIZE. */
#define ROWS_CACHE_VARIABLE "GNOMON_INDEX_CACHE"
#define ROWS_CACHE_DEFAULT (UINT64_C(10) << 30)

/* Its path, to be freed; NULL: there is no home. */
char *rows_cache_folder(void);
/* Make it where it is not there. 0 or -errno. */
int rows_cache_make(void);
/* False: the variable is no size; *limit is the default then. */
bool rows_cache_limit(uint64_t *limit);
/*
 * Remove the stores that were used least recently, and what makers have left who
 * were killed, but for that of `path`, until `bytes` more are within the limit.
 * False: they are more than that by themselves.
 */
bool rows_cache_make_room(const char *path, uint64_t bytes, uint64_t limit);
/* The store at this path was used just now. */
void rows_cache_touch(const char *path);

#endif
