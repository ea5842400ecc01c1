/*
 * parallel.h: parallel for: the same work for each item, by several threads.
 */
#ifndef GNOMON_PARALLEL_H
#define GNOMON_PARALLEL_H

#include <stddef.h>

#define PARALLEL_MAX 32		/* threads */

/*
 * Call work(owner, i) once for each i below `count`, from as many threads as
 * there are processors and items, including the caller's; returns when all are
 * done. Items are taken in order, so put the largest first. With one item, or
 * if no thread can be made, the caller does all the work.
 */
void parallel_each(size_t count, void (*work)(void *owner, size_t i),
		   void *owner);
/* The maximum number of threads for that, including the caller's. */
size_t parallel_threads(size_t count);

#endif
