/*
 * constructor.c: the library is loaded, and comes to its end. The loader calls
 * this constructor before all others (-z initfirst), so nothing of the program
 * has run but what resolvers of indirect functions did.
 */
#include "preload/guard/guard.h"
#include "preload/hooks/hooks.h"
#include "preload/hooks/hooks_wrap.h"
#include "preload/interpose/real.h"
#include "preload/patch/patch.h"
#include "preload/process/control_signal.h"
#include "preload/process/hooks_exit.h"
#include "preload/ring/recorder.h"
#include "preload/sample/aside.h"
#include "preload/start/start.h"

__attribute__((constructor)) static void constructor_load(void)
{
	struct thread *thread;

	if (real_resolve()) {
		hooks_exit();
		hooks_patch();
		wrap_start();
		hooks_in_front();
		hooks_within();
		thread = recorder_thread();
		/* whether anything was patched is known now */
		if (thread)
			aside_thread(thread);
		hooks_guard();
		control_signal_install();
	}
}

__attribute__((destructor)) static void constructor_unload(void)
{
	start_leave();
	hooks_exit_unload();
}
