/* guard_note.h: what hooks tell of guarded blocks, while there are some
 * (guard.h). */
#ifndef GNOMON_GUARD_NOTE_H
#define GNOMON_GUARD_NOTE_H

#include "preload/base/base.h"

/* A block was recorded with this context. Whoever got it from the allocator,
 * before the program has it. It may be one that is not guarded. */
void guard_note(uintptr_t block, uint32_t context);

#endif
