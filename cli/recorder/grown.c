/*
 * grown.c: see grown.h. Large pieces of the heap are moved by the kernel, page
 * by page, so growing by a half each time costs no copy. The writer only.
 */
#include "cli/recorder/grown.h"

#include <string.h>

#include "cli/base/room.h"
#include "preload/base/base.h"

#define GROWN_FIRST 4096

bool grown_more(struct grown *grown, uint64_t bytes)
{
	uint64_t to = base_max(grown->ready + grown->ready / 2, GROWN_FIRST);
	char *at;

	if (bytes > grown->most)
		return false;
	to = base_min(base_max(to, bytes), grown->most);
	at = room_resize(grown->at, to, 1);
	if (!at)
		return false;
	memset(at + grown->ready, 0, to - grown->ready);
	grown->at = at;
	grown->ready = to;
	return true;
}
