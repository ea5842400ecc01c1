/*
 * walk_plausible.h: plausibility checks where no unwind table applies: of a
 * frame pointer, and of a frame found by one analysis of the code.
 *
 * Any thread, also signal handlers.
 */
#ifndef GNOMON_UNWIND_WALK_PLAUSIBLE_H
#define GNOMON_UNWIND_WALK_PLAUSIBLE_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/stack.h"

/*
 * In code without a table: whether fp is plausible as a frame pointer. It must
 * be word-aligned (JIT compilers keep no more), lie outward of sp on the same
 * stack, by 1 MiB at most, and have beside it an address just after a call
 * instruction. *cfa: the frame's end.
 */
bool walk_fp_is_plausible(struct stack_reader *reader, uintptr_t sp,
			  uintptr_t fp, uintptr_t *cfa);

/*
 * For a plausible fp, in code without a table: true if fp may belong to a caller
 * of pc's function, so that a step by it skips frames. It belongs to pc's
 * function if no word between sp and fp is a return address, because a call
 * pushes one. A negative answer is cached by pc, until walk_plausible_flush.
 * Always true where a link register holds the return address: it need not be on
 * the stack.
 */
bool walk_fp_may_skip_frames(struct stack_reader *reader, uintptr_t pc,
			     uintptr_t sp, uintptr_t fp);

/*
 * Whether an uncertain frame may return to ra: ra follows a call, is a signal
 * handler's return, or was made the outermost frame of a stack.
 */
bool walk_return_is_plausible(uintptr_t ra);

/* For a rule from one analysis of the code (RULE_CODE): whether its frame may
 * end at cfa, which must have the alignment of stacks (ARCH_STACK_ALIGN), and
 * return to ra. */
bool walk_code_is_plausible(uintptr_t cfa, uintptr_t ra);

/* Code has changed: empties the cache of walk_fp_may_skip_frames. */
void walk_plausible_flush(void);

#endif
