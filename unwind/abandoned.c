/*
 * abandoned.c: see abandoned.h. The position of a function's frame does not
 * tell whether it was left: a handler's stack may lie anywhere, also in a local
 * variable of a function further out, above the frame of the function that it
 * interrupted.
 *
 * I1  The function was left if its caller has made another call from the same
 *     place: the asking function begins where it began.
 * I2  On the thread's base stack the function was left if all frames from the
 *     asking function to the outermost one are known, interrupted ones
 *     included, and it is not among them. (A frame further in than the asking
 *     function may begin where it began; so may one further out that returns
 *     elsewhere.) Frames found by a frame pointer do not count as known: such a
 *     step may skip others.
 * I3  Otherwise the function was left if the word at its return address has
 *     changed and is no return address. A different return address is not
 *     enough: a handler in between may have stored its own.
 *
 * On other stacks than the base stack only I1 and I3 hold: a handler may have
 * switched to another stack, and the function may continue later.
 *
 * Thread context: the thread that owns the state, also in handlers that
 * interrupted a capture: the state is only read.
 */
#include "unwind/abandoned.h"

#include "unwind/base/assertion.h"
#include "unwind/base/memory.h"
#include "unwind/stack.h"
#include "unwind/walk.h"

/* Beyond the outermost frame lies thread-local data only. */
#define OUTERMOST_MAX (1u << 20)

/* Pages further in than any capture, which are probed one by one. */
#define DEEPER_MAX 16u

static bool is_known(const struct capture_thread *t, uintptr_t address)
{
	return t && address - t->lo < t->hi - t->lo;
}

/* Like stack_is_base, for a thread that this call may have interrupted in
 * stack_is_base. */
static bool is_base(const struct capture_thread *t, uintptr_t address)
{
	uintptr_t page;

	DEBUG_ASSERT(!t || t->lo <= t->hi);
	if (!t || is_known(t, address))
		return t;
	if (t->lo - address > DEEPER_MAX * UNWIND_PAGE)
		return false;
	page = address & ~(uintptr_t)(UNWIND_PAGE - 1);
	for (; page < t->lo; page += UNWIND_PAGE)
		if (!unwind_readable(page))
			return false;
	return true;
}

bool abandoned_perhaps(const struct capture_thread *thread, uintptr_t cfa,
		       uintptr_t ra)
{
	uintptr_t at = cfa + ARCH_RA_OFFSET;

	return is_known(thread, at) && *(const uintptr_t *)at != ra;
}

/* I3 */
static bool is_overwritten(uintptr_t cfa, uintptr_t ra)
{
	uint64_t word;

	return unwind_read(cfa + ARCH_RA_OFFSET, &word) && word != ra &&
	       !walk_is_return_address((uintptr_t)word);
}

/* I2 */
static bool is_none_of_ours(const struct capture_thread *t, uintptr_t cfa,
			    uintptr_t ra, uintptr_t sp, bool *met)
{
	const struct walk_search search = { .sp = sp, .cfa = cfa, .ra = ra,
					    .lo = t->lo, .hi = t->hi };
	uintptr_t outermost = walk_past(&search, met);

	return is_known(t, outermost) && t->hi - outermost < OUTERMOST_MAX;
}

bool abandoned(const struct capture_thread *thread, uintptr_t cfa,
	       uintptr_t ra, uintptr_t sp)
{
	bool met = false;

	if (sp == cfa)
		return true;	/* I1 */
	if (is_base(thread, cfa + ARCH_RA_OFFSET) &&
	    is_none_of_ours(thread, cfa, ra, sp, &met))
		return true;
	return !met && is_overwritten(cfa, ra);
}
