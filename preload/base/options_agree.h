/*
 * options_agree.h: options that contradict each other. For the library and the
 * command, as options.h. No state; any thread.
 */
#ifndef GNOMON_OPTIONS_AGREE_H
#define GNOMON_OPTIONS_AGREE_H

#include "preload/base/options.h"

/* What is wrong with them together, and what to do; NULL: nothing. */
const char *options_disagree(const struct options *options);

/* The number N of an output named /dev/stdout, /dev/fd/N and the like, -1 if it
 * is none. */
int options_descriptor(const char *output);

#endif
