/*
 * progress.h: reports the progress of work to an observer.
 *
 * Observers are per thread: each sees only the work of the thread that set it.
 */
#ifndef GNOMON_PROGRESS_H
#define GNOMON_PROGRESS_H

#include <stdint.h>

struct progress_hook {
	void (*begin)(const char *what, uint64_t total);
	void (*update)(uint64_t done);	/* often */
	void (*end)(void);		/* perhaps without a begin */
};

/* Set this thread's observer; NULL: none. It must stay valid while it is
 * set. */
void progress_show(const struct progress_hook *hook);

/* Begin a piece of work of `total` units (0: unknown). */
void progress_begin(const char *what, uint64_t total);
void progress_update(uint64_t done);
void progress_end(void);

#endif
