/*
 * undumpable.c: runs as an unprivileged user with PR_SET_DUMPABLE off:
 * allocates, then has a forked child do the same. Exits with 77 if it cannot
 * become that user.
 */
#include <sys/prctl.h>
#include <sys/wait.h>

#include "tgt.h"

#define NOBODY 65534

static void allocate(void)
{
	int i;

	for (i = 0; i < 20000; i++)
		tgt_free(tgt_malloc(100), 100);
	tgt_malloc(1 << 20);
	/* the recorder looks some times */
	usleep(300000);
}

int main(void)
{
	int status = 0;

	if (setgid(NOBODY) || setuid(NOBODY) || prctl(PR_SET_DUMPABLE, 0))
		return 77;
	allocate();
	if (fork() == 0) {
		allocate();
		_exit(prctl(PR_GET_DUMPABLE) ? 1 : 0);
	}
	wait(&status);
	return status ? 1 : 0;
}
