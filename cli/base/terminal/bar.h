/*
 * bar.h: a bar on the terminal for work that takes longer than a second.
 * Nothing is shown unless standard error is a terminal and messages are not
 * silenced.
 */
#ifndef GNOMON_BAR_H
#define GNOMON_BAR_H

#include "cli/base/progress.h"

/* For progress_show, by the main thread. */
extern const struct progress_hook bar_hook;
/* Take it away; messages do so that they get a line of their own. */
void bar_clear(void);

#endif
