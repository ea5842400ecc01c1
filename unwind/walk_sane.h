/*
 * walk_sane.h: plausibility checks where no unwind table applies: of a frame
 * pointer, and of a frame found by one analysis of the code.
 *
 * Any thread, also signal handlers.
 */
#ifndef GNOMON_UNWIND_WALK_SANE_H
#define GNOMON_UNWIND_WALK_SANE_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/stack.h"

/*
 * In code without a table: whether fp is plausible as a frame pointer. It must
 * be word-aligned (JIT compilers keep no more), lie outward of sp on the same
 * stack, and have beside it an address just after a call instruction. *cfa: the
 * frame's end.
 */
bool walk_fp_sane(struct stack_reader *reader, uintptr_t sp, uintptr_t fp,
		  uintptr_t *cfa);

/*
 * Whether a plausible frame pointer may belong to a function further out than
 * pc, in code without a table. Where calls push, it is the frame's own if no
 * return address lies between the stack pointer and it: a function further out
 * has made a call. A frame once seen at a pc is assumed there each time. A link
 * register need not be stored.
 */
bool walk_fp_may_hide(struct stack_reader *reader, uintptr_t pc, uintptr_t sp,
		      uintptr_t fp);

/*
 * Whether an uncertain frame may return to ra: ra follows a call, is a signal
 * handler's return, or was made the outermost frame of a stack.
 */
bool walk_return_sane(uintptr_t ra);

/* For a rule from one analysis of the code (RULE_CODE): whether its frame may
 * end at cfa and return to ra. */
bool walk_code_sane(uintptr_t cfa, uintptr_t ra);

/* Code has changed: forgets the frames seen at each pc. */
void walk_sane_flush(void);

#endif
