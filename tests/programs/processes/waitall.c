/*
 * waitall.c: waits for all its children whatever their exit signal, as tracers
 * and inits do, and counts them. It has one child of its own.
 */
#include <errno.h>
#include <sys/wait.h>

#include "tgt.h"

int main(void)
{
	int status, reaped = 0;
	pid_t child;

	tgt_malloc(1000);
	child = fork();
	if (child == 0)
		_exit(0);
	while (waitpid(-1, &status, __WALL) > 0)
		reaped++;
	tgt_print("reaped", reaped);
	tgt_print("no_more_children", errno == ECHILD);
	tgt_report();
	return 0;
}
