/*
 * fork_blocks.c: a forked child frees blocks of its parent, reallocates others,
 * and makes some of its own at addresses that are free then. The parent frees
 * all of its own.
 *
 * In the child: 100 of them exist; it frees 50, enlarges 10, keeps 40, and
 * makes 7. So it makes 17, and frees none of them.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCKS 100

static void *blocks[BLOCKS];

static void child(void)
{
	int i;

	for (i = 0; i < 50; i++)
		free(blocks[i]);
	for (i = 50; i < 60; i++)
		blocks[i] = realloc(blocks[i], i % 2 ? 5000 : 1 + 100 + i);
	for (i = 0; i < 7; i++)
		blocks[i] = malloc(100 + i);
}

int main(void)
{
	int i, status = 0;
	pid_t pid;

	for (i = 0; i < BLOCKS; i++)
		blocks[i] = malloc(100 + i);
	pid = fork();
	if (pid < 0)
		return 1;
	if (!pid) {
		child();
		return 0;
	}
	if (waitpid(pid, &status, 0) != pid)
		return 1;
	for (i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	return status != 0;
}
