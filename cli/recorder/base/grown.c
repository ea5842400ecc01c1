/*
 * grown.c: see grown.h. Arrays grow by half of their size, at most by some
 * megabytes: the kernel moves page tables, not pages, so steps may be small.
 * The writer only.
 */
#include "cli/recorder/base/grown.h"

#include <assert.h>

#include "cli/base/room.h"
#include "preload/base/base.h"

#define GROWN_FIRST 4096
#define GROWN_STEP (UINT64_C(4) << 20)

bool grown_more(struct grown *grown, uint64_t bytes)
{
	uint64_t step = base_min(grown->ready / 2, GROWN_STEP);
	uint64_t to = base_max(grown->ready + step, GROWN_FIRST);
	char *at;

	assert(grown->ready <= grown->most);
	assert((grown->at == NULL) == (grown->ready == 0));
	if (bytes > grown->most)
		return false;
	to = base_min(base_max(to, bytes), grown->most);
	at = room_pages(grown->at, grown->ready, to);
	if (!at)
		return false;
	grown->at = at;
	grown->ready = to;
	assert(grown->ready >= bytes && grown->ready <= grown->most);
	return true;
}
