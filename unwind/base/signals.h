/*
 * signals.h: blocks signals on this thread for a short section.
 *
 * Signals caused by an instruction or a system call (a fault, a trap, a
 * filter's SIGSYS) stay unblocked: the kernel ends the process if such a signal
 * is blocked.
 */
#ifndef GNOMON_UNWIND_SIGNALS_H
#define GNOMON_UNWIND_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "arch.h"
#include "unwind/base/memory.h"

/* The kernel's signal set: 64 signals, or 128. All signals named here are among
 * the first 64. */
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

/* The thread's earlier signal mask; signals_release does nothing if not
 * held. */
struct signals_held {
	struct signals_set mask;
	bool held;
};

/* All signals, except those of the first 64 whose bit is in `without`. */
static inline struct signals_set signals_all(uint64_t without)
{
	struct signals_set set;

	__builtin_memset(&set, 0xff, sizeof(set));
	set.word[0] &= ~without;
	return set;
}

/* Sets the calling thread's signal mask; *old (may be NULL): the earlier one. 0
 * or -errno. */
static inline long signals_mask(const struct signals_set *blocked,
				struct signals_set *old)
{
	return arch_syscall4(__NR_rt_sigprocmask, SIG_SETMASK, (long)blocked,
			     (long)old, SIGNALS_SET);
}

/* False where a filter of the process forbids the call. */
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
	/* another thread may be installing a filter for all threads: what it
	 * forbids is known in a moment */
	for (i = 0; i < SIGNALS_SPINS && !unwind_may(UNWIND_NO_PROBE); i++)
		arch_pause();
	/* cannot fail: the same call succeeded in signals_hold */
	signals_mask(&held->mask, NULL);
}

#endif
