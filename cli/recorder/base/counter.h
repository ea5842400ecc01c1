/*
 * counter.h: the counter by which hooks stamp events, as the recorder reads it:
 * this processor's own. Where an emulator runs the target, and not the recorder,
 * it is another one, of so many a second as the target says, and computed from
 * the clock.
 *
 * Set before the writer runs; then any thread.
 */
#ifndef GNOMON_COUNTER_H
#define GNOMON_COUNTER_H

#include <stdint.h>

#include "preload/ring/shared.h"

/* Of the same machine as the recorder nothing is changed. */
void counter_of(const struct gl_told *told, const struct gl_header *live);

/* Never ahead of what a hook reads at the same moment. */
uint64_t counter_now(void);

#endif
