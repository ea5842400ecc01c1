/*
 * guard_end.h: guarded blocks at the end of a program.
 */
#ifndef GNOMON_GUARD_END_H
#define GNOMON_GUARD_END_H

#include "preload/ring/recorder.h"

/*
 * The process is about to end, and of its threads only the calling one is known
 * to do nothing else: looks at all blocks that live, and leaves damages as
 * events of this thread. Once. *steps goes up meanwhile. Also in signal
 * handlers; keeps errno.
 */
void guard_end(struct recorder *r, _Atomic uint32_t *steps);

#endif
