/*
 * stuck_dump.c: dumps into a pipe that nobody reads. An alarm ends the dump, if
 * its handler lacks SA_RESTART.
 */
// FLAGS: -lgnomon-stub -Wl,-rpath,$ORIGIN/..
#include "tgt.h"

#include <errno.h>
#include <gnomon/gnomon.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static volatile int alarms;

static void on_alarm(int number)
{
	(void)number;
	/* the first may come before it has begun to write */
	if (++alarms == 40)
		_exit(3);
}

int main(void)
{
	static char filling[1 << 20];
	struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval often = { { 0, 50000 }, { 0, 50000 } };
	volatile void *kept = malloc(100);
	int ends[2], result;

	(void)kept;
	sigaction(SIGALRM, &action, NULL);
	if (pipe(ends))
		return 1;
	setitimer(ITIMER_REAL, &often, NULL);
	while (write(ends[1], filling, sizeof(filling)) > 0)
		;
	result = gnomon_dump(NULL, ends[1]);
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	return result == -EINTR ? 0 : 2;
}
