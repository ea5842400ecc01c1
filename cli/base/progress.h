/*
 * progress.h: a bar on the terminal for work that takes longer than a second.
 */
#ifndef GNOMON_PROGRESS_H
#define GNOMON_PROGRESS_H

#include <stdint.h>

/*
 * Begin a piece of work of `total` units (0: unknown). Nothing is shown
 * unless standard error is a terminal and messages are not silenced.
 */
void progress_begin(const char *what, uint64_t total);
void progress_update(uint64_t done);
/* Take the bar away; messages call it so that they get a line of their own. */
void progress_clear(void);
void progress_end(void);

#endif
