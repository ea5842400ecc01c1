/*
 * abandoned.c: see abandoned.h. That a function has been left cannot be told
 * from where it was: a handler's own stack may lie anywhere, also in a local
 * variable of a function further out, above the function it has interrupted.
 *
 * I1  It is left if its caller has made another call from the same place:
 *     where the one that asks begins, it does not stand.
 * I2  On the thread's base stack it is left if all frames from the one that
 *     asks to the stack's outermost one are known, those that signals
 *     interrupted included, and it is not among them. (Those further in than
 *     the one that asks may begin where it began, and of those further out one
 *     that returns elsewhere.) Frames that a frame pointer led to are not
 *     enough: such a step may leave out others.
 * I3  Where they are not known, it is left if the word where its return
 *     address was is another one, and no return address: what `ra` says is
 *     not quite enough, as a handler in between may have stored its own.
 *
 * On other stacks than the base stack only I1 and I3 hold: a handler may have
 * switched to another of them, and the function may go on later.
 *
 * Thread context: the thread that owns the state, also in handlers that
 * interrupted a capture: the state is only read.
 */
#include "unwind/abandoned.h"

#include "unwind/claim.h"
#include "unwind/memory.h"
#include "unwind/stack.h"
#include "unwind/walk.h"

/* Beyond the outermost frame lies thread-local data only. */
#define OUTERMOST_MAX (1u << 20)

/* Pages further in than any capture, which are looked at one by one. */
#define DEEPER_MAX 16u

static bool is_known(const struct capture_thread *t, uintptr_t address)
{
	return t && address - t->lo < t->hi - t->lo;
}

/* As stack_is_base, of a thread that may be about to ask that itself. */
static bool is_base(const struct capture_thread *t, uintptr_t address)
{
	uintptr_t page;

	CLAIM_FULL(!t || t->lo <= t->hi);
	if (!t || is_known(t, address))
		return t;
	if (t->lo - address > DEEPER_MAX * STACK_PAGE)
		return false;
	page = address & ~(uintptr_t)(STACK_PAGE - 1);
	for (; page < t->lo; page += STACK_PAGE)
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
