/*
 * api_thread.c: the functions of gnomon/gnomon.h that select which threads and
 * blocks are recorded, and set event times. Each thread applies a change for
 * all threads by itself (skip.h).
 */
#include <errno.h>

#include "preload/api/api.h"
#include "preload/ring/control_call.h"
#include "preload/sample/skip.h"

#define API_LATEST_NS (UINT64_C(1000) * 86400 * 1000000000)

API(int, active, (enum gnomon_who who))
{
	const struct producer *p = api_producer();
	const struct thread *thread;
	uint32_t activity;

	if (!p || skip_dormant())
		return 0;
	activity = atomic_load_explicit(&sample->activity, memory_order_relaxed);
	thread = producer_tls;
	if (who != GNOMON_THREAD || !thread || !thread->own ||
	    (thread->activity ^ activity) >> 1)
		return !(activity & 1);
	return !(thread->skip & (THREAD_INACTIVE | THREAD_MUTE));
}

static int api_activity(enum gnomon_who who, bool inactive)
{
	struct producer *p = api_producer();
	struct thread *thread;

	if (!p)
		return -ENODEV;
	switch (who) {
	case GNOMON_ALL:
	case GNOMON_NEW:
		/* the calling thread is not new, even if it has recorded
		 * nothing yet */
		if (who == GNOMON_NEW)
			producer_join();
		skip_set_activity(p, inactive, who == GNOMON_ALL);
		return 0;
	case GNOMON_THREAD:
		/* also while dormant: the setting must hold after a start */
		thread = producer_join();
		if (!thread)
			return -ENOMEM;
		skip_set_inactive(p, thread, inactive);
		return 0;
	}
	return -EINVAL;
}

API(int, activate, (enum gnomon_who who))
{
	return api_activity(who, false);
}

API(int, deactivate, (enum gnomon_who who))
{
	return api_activity(who, true);
}

API(int, limit_sizes, (uint64_t min_bytes, uint64_t max_bytes))
{
	struct producer *p = api_producer();

	if (max_bytes && min_bytes > max_bytes)
		return -EINVAL;
	if (!p)
		return -ENODEV;
	skip_set_limits(p, min_bytes, max_bytes ? max_bytes : UINT64_MAX);
	return 0;
}

API(int, set_timestamp, (uint64_t ns))
{
	struct control_request request = { .what = CONTROL_TICK,
					   .number = ns };
	struct producer *p = api_producer();
	struct thread *thread;
	int err;

	if (ns > API_LATEST_NS)
		return -EINVAL;
	if (!p)
		return -ENODEV;
	thread = producer_thread();
	if (!thread)
		return -EAGAIN;
	err = api_may_request();
	if (err)
		return err;
	err = control_call(&request) ? request.err : -ETIMEDOUT;
	if (err)
		return err;
	request.tick <<= p->live->tick_shift + GL_KIND_BITS;
	if (!(thread->skip & THREAD_TIMED) || request.tick > thread->timed)
		thread->timed = request.tick;
	producer_set_skip(thread, THREAD_TIMED, true);
	return 0;
}
