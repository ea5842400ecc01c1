/*
 * bar.h: a progress bar on the terminal for work that takes longer than a
 * second. Shown only if standard error is a terminal and messages are not
 * silenced.
 */
#ifndef GNOMON_BAR_H
#define GNOMON_BAR_H

#include "cli/base/progress.h"

/* For progress_show, by the main thread. */
extern const struct progress_hook bar_hook;
/* Erase the bar; messages do so to get a line of their own. */
void bar_clear(void);

#endif
