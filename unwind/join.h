/*
 * join.h: the capture of a stack whose outer part is the last one's.
 */
#ifndef GNOMON_UNWIND_JOIN_H
#define GNOMON_UNWIND_JOIN_H

#include "unwind/stack.h"

/*
 * The context of the stack outward from (ra, sp), and the shadow is that stack
 * then; 0, and nothing has changed, if this is no case for it: a rule that is
 * not plain, a frame that depends on the frame pointer, a shadow that does
 * not hold. sp lies on the base stack. Thread context: the owner of the state.
 */
uint32_t join_capture(struct capture_thread *t, uintptr_t ra, uintptr_t sp);

#endif
