/*
 * constructor.c: constructor and destructor of the library. The loader calls
 * this constructor before all others (-z initfirst), so no code of the program
 * has run except resolvers of indirect functions.
 */
#include "preload/guard/guard.h"
#include "preload/hooks/hooks.h"
#include "preload/hooks/hooks_wrap.h"
#include "preload/interpose/real.h"
#include "preload/patch/patch.h"
#include "preload/process/control_signal.h"
#include "preload/process/hooks_exit.h"
#include "preload/ring/arenas.h"
#include "preload/ring/producer.h"
#include "preload/sample/skip.h"
#include "preload/start/launch.h"

__attribute__((constructor)) static void constructor_load(void)
{
	struct thread *thread;

	if (real_resolve()) {
		hooks_exit();
		if (ARCH_PATCHES)
			hooks_patch();
		wrap_start();
		hooks_in_front();
		hooks_reentry();
		thread = producer_thread();
		/* only now is it known whether anything was patched */
		if (thread)
			skip_thread(thread);
		hooks_map_start();
		hooks_guard();
		control_signal_install();
	}
}

/* The program is about to end: the recorder reads the rings more often. Later
 * events are still recorded. */
static void constructor_leave(void)
{
	struct producer *p = producer;

	if (!producer_is_on(p))
		return;
	arenas_leave(p);
	atomic_store_explicit(&p->shared->hurry, 1, memory_order_relaxed);
	recorder_wake(p);
	launch_wait_exec(p);
	if (atomic_load_explicit(&p->shared->spoke, memory_order_relaxed))
		producer_has_reported(p);
}

__attribute__((destructor)) static void constructor_unload(void)
{
	constructor_leave();
	hooks_exit_unload();
}
