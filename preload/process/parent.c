/* parent.c: see parent.h. Static, so that children have it. */
#include "preload/process/parent.h"

#include <string.h>

#include "preload/ring/recorder.h"

struct parent parent;

void parent_forks(void)
{
	const struct recorder *r = recorder;
	const struct gl_shared *shared = r ? r->shared : NULL;

	if (!shared || parent.trace[0])
		return;
	recorder_settle();
	memcpy(parent.live, shared->live_path, sizeof(parent.live));
	/* pairs with the release of writer_tell */
	if (atomic_load_explicit(&shared->recorder_state,
				 memory_order_acquire) == GL_RECORDER_READY)
		memcpy(parent.trace, r->live->trace_path,
		       sizeof(parent.trace));
}
