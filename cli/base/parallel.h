/*
 * parallel.h: the same work for each of many things, by several threads.
 */
#ifndef GNOMON_PARALLEL_H
#define GNOMON_PARALLEL_H

#include <stddef.h>

#define PARALLEL_MAX 32		/* threads */

/*
 * Call work(owner, i) once for each i below `count`, from as many threads as
 * there are processors and things, the caller's among them; returns when all
 * are done. Things are taken in order, so put the largest first. With one
 * thing, or where no thread can be made, the caller does it all.
 */
void parallel_each(size_t count, void (*work)(void *owner, size_t i),
		   void *owner);
/* How many threads that are at most, the caller's among them. */
size_t parallel_threads(size_t count);

#endif
