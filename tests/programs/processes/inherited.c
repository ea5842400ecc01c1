/*
 * inherited.c: a child that frees what its parent allocated before the fork.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "tgt.h"

#define BLOCKS 50

int main(void)
{
	void *blocks[BLOCKS];
	int status = 0;

	for (int i = 0; i < BLOCKS; i++)
		blocks[i] = tgt_malloc(100);
	if (fork() == 0) {
		for (int i = 0; i < BLOCKS; i++)
			free(blocks[i]);
		_exit(0);
	}
	wait(&status);
	return status != 0;
}
