/* progress.c: see the header. */
#include "cli/base/progress.h"

#include <stddef.h>

static _Thread_local const struct progress_hook *shown;

void progress_show(const struct progress_hook *hook)
{
	shown = hook;
}

void progress_begin(const char *what, uint64_t total)
{
	if (shown != NULL)
		shown->begin(what, total);
}

void progress_update(uint64_t done)
{
	if (shown != NULL)
		shown->update(done);
}

void progress_end(void)
{
	if (shown != NULL)
		shown->end();
}
