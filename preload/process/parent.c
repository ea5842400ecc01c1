/* parent.c: see parent.h. The data is static, so that children inherit it. */
#include "preload/process/parent.h"

#include <string.h>

#include "preload/base/text.h"
#include "preload/ring/producer.h"

struct parent parent;

void parent_starts(const struct gl_shared *shared)
{
	struct text text;

	text_init(&text, parent.live, sizeof(parent.live));
	text_put(&text, shared->live_path);
	parent.trace[0] = '\0';
}

void parent_forks(void)
{
	const struct producer *p = producer;
	const struct gl_shared *shared = p ? p->shared : NULL;

	if (!shared || parent.trace[0])
		return;
	recorder_wait_open();
	if (!parent.live[0])	/* only the recorder knows its path */
		parent_starts(shared);
	/* pairs with the release of recorder_report */
	if (atomic_load_explicit(&shared->recorder_state,
				 memory_order_acquire) == GL_RECORDER_READY)
		memcpy(parent.trace, p->live->trace_path,
		       sizeof(parent.trace));
}
