/*
 * api_thread.c: the functions of gnomon/gnomon.h that concern threads. Threads
 * of the target; also in handlers.
 */
#include "preload/api.h"
#include "preload/aside.h"

API int gnomon_active(enum gnomon_who who)
{
	const struct thread *thread;

	if (!api_recorder() || aside_dormant())
		return 0;
	thread = recorder_tls;
	return who != GNOMON_THREAD || !thread ||
	       !(thread->aside & (THREAD_INACTIVE | THREAD_MUTE));
}
