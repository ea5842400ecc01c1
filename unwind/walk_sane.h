/*
 * walk_sane.h: what is judged where no table leads on: whether a frame pointer, or
 * what code that was followed one way only says, may be believed.
 *
 * Any thread, also signal handlers.
 */
#ifndef GNOMON_UNWIND_WALK_SANE_H
#define GNOMON_UNWIND_WALK_SANE_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/stack.h"

/*
 * Code that no table covers: whether fp proves itself to be a frame pointer.
 * It must be aligned to a word (compilers at run time keep no more), lie
 * outward of sp on the same stack and have beside it an address just after a
 * call instruction. *cfa: the frame's end.
 */
bool walk_fp_sane(struct stack_reader *reader, uintptr_t sp, uintptr_t fp,
		  uintptr_t *cfa);

/*
 * Whether a frame pointer that is sane may be that of a function further out, at
 * pc, in code without a table. Where calls push, it is the frame's own if no return
 * address lies between the stack pointer and it: whoever is further out has called.
 * What was seen at a pc once is so each time. A link register need not be stored.
 */
bool walk_fp_may_hide(struct stack_reader *reader, uintptr_t pc, uintptr_t sp,
		      uintptr_t fp);

/*
 * Whether a frame that is not certain may return to ra: behind a call, to where a
 * signal handler returns, or to what somebody made a stack's outermost frame.
 */
bool walk_return_sane(uintptr_t ra);

/* Code that was followed one way only (RULE_CODE): whether its frame may end at
 * cfa and return to ra. */
bool walk_code_sane(uintptr_t cfa, uintptr_t ra);

/* Code has changed: what was seen at a pc is forgotten. */
void walk_sane_flush(void);

#endif
