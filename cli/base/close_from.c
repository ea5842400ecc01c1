/*
 * close_from.c: see close_from.h.
 */
#include "cli/base/close_from.h"

#include <sys/syscall.h>
#include <unistd.h>

void close_from(int first)
{
	long max = sysconf(_SC_OPEN_MAX);

	/* Linux 5.9; libraries may be older than the kernel's headers */
#ifdef __NR_close_range
	if (syscall(__NR_close_range, first, ~0u, 0) == 0)
		return;
#endif
	for (int fd = first; fd < max; fd++)
		close(fd);
}
