/*
 * progress.h: how far a piece of work has come, for who wants to show it.
 *
 * Of each thread by itself: what a thread does is shown by who asked for it in
 * that thread, and by nobody else.
 */
#ifndef GNOMON_PROGRESS_H
#define GNOMON_PROGRESS_H

#include <stdint.h>

struct progress_hook {
	void (*begin)(const char *what, uint64_t total);
	void (*update)(uint64_t done);	/* often */
	void (*end)(void);		/* perhaps without a beginning */
};

/* For this thread; NULL: nobody. It has to live as long. */
void progress_show(const struct progress_hook *hook);

/* Begin a piece of work of `total` units (0: unknown). */
void progress_begin(const char *what, uint64_t total);
void progress_update(uint64_t done);
void progress_end(void);

#endif
