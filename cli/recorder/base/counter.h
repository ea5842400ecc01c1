/*
 * counter.h: reads the time counter with which hooks stamp events. It is the
 * processor's own counter. If an emulator runs only the target, the recorder
 * computes the counter from the clock, at the frequency that the target
 * reports.
 *
 * Set before the recorder runs; then any thread.
 */
#ifndef GNOMON_COUNTER_H
#define GNOMON_COUNTER_H

#include <stdint.h>

#include "preload/ring/shared.h"

/* Changes nothing if the target runs on the recorder's own machine type. */
void counter_of(const struct gl_setup *setup, const struct gl_header *live);

/* The counter now; never ahead of a hook's reading at the same moment. */
uint64_t counter_now(void);

#endif
