/*
 * guard_end.c: checks guarded blocks at the end of a program, see guard.h.
 */
#include "preload/base/ban.h"
#include "preload/guard/guard.h"
#include "preload/guard/guard_sweep.h"
#include "preload/hooks/hooks.h"
#include "preload/ring/request.h"
#include "preload/ring/timeout.h"

static void guard_end_report(void *owner, uintptr_t block,
			     const struct guard_found *found,
			     struct guard_harm harm)
{
	struct gl_shared *shared = owner;
	bool known = guard_forks(found->place) == guard.mark.forks;
	const uint64_t args[GT_EXTRA_ARGS] = {
		(uint64_t)harm.offset, known ? found->context : 0, harm.bytes,
		GT_DAMAGE_END,
	};

	hooks_extra_at_end(GT_EXTRA_DAMAGE, block, found->size, args);
	atomic_fetch_add_explicit(&shared->guard_damages, 1,
				  memory_order_relaxed);
}

/* Whether the calling thread can sweep: without the counter it has no time for
 * its events; without system calls it finds nothing. */
static bool guard_end_may(void)
{
	const struct thread *thread = producer_tls;

	return guard.on && !(thread && thread->skip & THREAD_MUTE) &&
	       unwind_may(UNWIND_NO_FILES | UNWIND_NO_READ);
}

void guard_end(struct producer *p, _Atomic uint32_t *steps)
{
	struct gl_shared *shared = p->shared;
	struct guard_sweep sweep = {
		.shape = &guard.shape,
		.moves = guard.moves,
		.report = guard_end_report,
		.owner = shared,
		.steps = steps,
	};
	bool done;

	if (!shared || !guard_end_may() || timeout_given_up(p))
		return;
	/* never reset: the program ends */
	atomic_store_explicit(&guard.watched, 1, memory_order_seq_cst);
	done = guard_sweep_open(&sweep);
	if (done) {
		done = request_memory(p, true, guard_sweep_part(&sweep),
				      GUARD_SWEEP_PART, guard_sweep_scan,
				      &sweep);
		guard_sweep_close(&sweep);
	}
	atomic_store_explicit(&shared->guard_blocks, sweep.blocks,
			      memory_order_relaxed);
	atomic_store_explicit(&shared->guard_skipped, sweep.skipped,
			      memory_order_relaxed);
	atomic_store_explicit(&shared->guard_swept, done,
			      memory_order_relaxed);
}
