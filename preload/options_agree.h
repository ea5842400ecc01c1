/*
 * options_agree.h: options that contradict each other. For the library and the
 * command, as options.h. No state; any thread.
 */
#ifndef GNOMON_OPTIONS_AGREE_H
#define GNOMON_OPTIONS_AGREE_H

#include "preload/options.h"

/* What is wrong with them together, and what to do; NULL: nothing. */
const char *options_disagree(const struct options *options);

#endif
