/*
 * guard_end.h: guarded blocks at the end of a program. The writer only.
 */
#ifndef GNOMON_GUARD_END_H
#define GNOMON_GUARD_END_H

#include "preload/feed.h"

/*
 * No thread of the target runs any more, and all of its events are written:
 * looks at all blocks that live, and leaves damages as events in a ring.
 */
void guard_end(struct feed *feed);

#endif
