/*
 * signals.h: no handler on this thread for a moment.
 *
 * What an instruction or a call brings about (a fault, a trap, a filter's
 * SIGSYS) is let through: while such a signal is kept out, the kernel ends the
 * process instead.
 */
#ifndef GNOMON_UNWIND_SIGNALS_H
#define GNOMON_UNWIND_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "arch.h"
#include "unwind/memory.h"

/* The kernel's signal set: 64 signals, or 128. All that are named here are
 * among the first 64. */
#define SIGNALS_WORDS ((_NSIG - 1 + 63) / 64)

struct signals_set {
	uint64_t word[SIGNALS_WORDS];
};

#define SIGNALS_SET sizeof(struct signals_set)	/* bytes */
#define SIGNALS_BIT(number) (UINT64_C(1) << ((number) - 1))
#define SIGNALS_OWN                                                     \
	(SIGNALS_BIT(SIGTRAP) | SIGNALS_BIT(SIGSEGV) | SIGNALS_BIT(SIGBUS) | \
	 SIGNALS_BIT(SIGFPE) | SIGNALS_BIT(SIGILL) | SIGNALS_BIT(SIGSYS))
#define SIGNALS_SPINS 100000	/* some milliseconds */

/* What the thread kept out before; nothing to go back to if not held. */
struct signals_held {
	struct signals_set mask;
	bool held;
};

/* All but those of the first 64 that have such a bit in `without`. */
static inline struct signals_set signals_all(uint64_t without)
{
	struct signals_set set;

	__builtin_memset(&set, 0xff, sizeof(set));
	set.word[0] &= ~without;
	return set;
}

/* Which signals the calling thread keeps out; *old (NULL: not wanted): which
 * it did before. 0 or -errno. */
static inline long signals_mask(const struct signals_set *blocked,
				struct signals_set *old)
{
	return arch_syscall4(__NR_rt_sigprocmask, SIG_SETMASK, (long)blocked,
			     (long)old, SIGNALS_SET);
}

/* Not where a filter of the process forbids the call. */
static inline bool signals_hold(struct signals_held *held)
{
	const struct signals_set blocked = signals_all(SIGNALS_OWN);

	held->held = unwind_may(UNWIND_NO_PROBE) &&
		     !signals_mask(&blocked, &held->mask);
	return held->held;
}

static inline void signals_release(const struct signals_held *held)
{
	unsigned i;

	if (!held->held)
		return;
	/* another thread may be putting a filter in force for all: what that
	 * forbids is known in a moment */
	for (i = 0; i < SIGNALS_SPINS && !unwind_may(UNWIND_NO_PROBE); i++)
		arch_pause();
	/* it was accepted a moment ago */
	signals_mask(&held->mask, NULL);
}

#endif
