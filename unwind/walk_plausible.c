/*
 * walk_plausible.c: see walk_plausible.h.
 */
#include <stdatomic.h>

#include "unwind/barrier.h"
#include "unwind/base/assertion.h"
#include "unwind/rule_cache.h"
#include "unwind/rules/prologue.h"
#include "unwind/rules/rule_dictionary.h"
#include "unwind/walk.h"
#include "unwind/walk_plausible.h"

#define FP_FRAME_MAX (1u << 20)	/* bytes of a frame without a table */
#define OWN_FRAME_MAX (128 * ARCH_WORD)	/* bytes to search */
#define OWN_FRAMES 1024u

/* walk_fp_may_skip_frames: pcs at which the answer was no; 0: unused. */
static _Atomic uintptr_t own_frames[OWN_FRAMES];

void walk_plausible_flush(void)
{
	uint32_t i;

	for (i = 0; i < OWN_FRAMES; i++)
		atomic_store_explicit(&own_frames[i], 0, memory_order_relaxed);
}

bool walk_fp_is_plausible(struct stack_reader *reader, uintptr_t sp,
			  uintptr_t fp, uintptr_t *cfa)
{
	uintptr_t ra;

	if (fp < sp || fp & (ARCH_WORD - 1) || fp - sp > FP_FRAME_MAX ||
	    !stack_read(reader, fp + ARCH_WORD, &ra) ||
	    !walk_is_return_address(barrier_origin(ra)))
		return false;
	*cfa = fp + 2 * ARCH_WORD;
	DEBUG_ASSERT(*cfa > sp);
	return true;
}

bool walk_fp_may_skip_frames(struct stack_reader *reader, uintptr_t pc,
			     uintptr_t sp, uintptr_t fp)
{
	_Atomic uintptr_t *own = &own_frames[pc / ARCH_INSTRUCTION %
					      OWN_FRAMES];
	uintptr_t at, word;

	if (ARCH_LINK_REGISTER || fp - sp > OWN_FRAME_MAX)
		return true;
	if (atomic_load_explicit(own, memory_order_relaxed) == pc)
		return false;
	for (at = sp; at < fp; at += ARCH_WORD)
		if (!stack_read(reader, at, &word) ||
		    walk_is_return_address(barrier_origin(word)))
			return true;
	atomic_store_explicit(own, pc, memory_order_relaxed);
	return false;
}

bool walk_return_is_plausible(uintptr_t ra)
{
	uint32_t payload;
	unsigned kind;

	ra = barrier_origin(ra);
	if (walk_is_return_address(ra))
		return true;
	if (!rule_cache || ra < UNWIND_PAGE)
		return false;
	payload = rule_of(rule_cache, ra);
	if (payload & (WORD_PLAIN | WORD_FP | WORD_STUB))
		return false;
	kind = rules_dictionary[payload & WORD_ID].kind;
	return payload & WORD_END || kind == RULE_SIGNAL || kind == RULE_END;
}

bool walk_code_is_plausible(uintptr_t cfa, uintptr_t ra)
{
	return cfa % ARCH_STACK_ALIGN == 0 && walk_return_is_plausible(ra);
}
