/*
 * exec_chain.c N: executes itself with N - 1 if N is odd, and starts itself so
 * by posix_spawn if N is even, down to 0, whose status is 5. Each process
 * allocates 16 * (N + 1) bytes, which it keeps.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void *volatile kept;

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0, status;
	char number[16], *words[] = { argv[0], number, NULL };
	pid_t child;

	kept = malloc(16 * ((size_t)n + 1));
	if (n == 0)
		return 5;
	snprintf(number, sizeof(number), "%d", n - 1);
	if (n % 2 == 1) {
		execv(argv[0], words);
		return 1;
	}
	if (posix_spawn(&child, argv[0], NULL, NULL, words, environ) ||
	    waitpid(child, &status, 0) != child)
		return 2;
	return WIFEXITED(status) ? WEXITSTATUS(status) + 1 : 3;
}
