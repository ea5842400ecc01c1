/* guard_note.h: passes the contexts of guarded blocks to guard.h. */
#ifndef GNOMON_GUARD_NOTE_H
#define GNOMON_GUARD_NOTE_H

#include "preload/base/base.h"

/* A block was recorded with this context. The thread that allocated it calls
 * this before the program gets the block. The block need not be guarded. */
void guard_note(uintptr_t block, uint32_t context);

#endif
