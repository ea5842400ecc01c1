/*
 * heaps_many.c: more heaps than the initial table has names for, with a block
 * each; then a child made by fork, which inherits their numbers, does the same.
 */
// FLAGS: -lgnomon-stub -Wl,-rpath,$ORIGIN/..
#include "tgt.h"

#include <gnomon/gnomon.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEAPS 300

static uint32_t heap[HEAPS];
static char blocks[HEAPS][32];

static void fill(size_t size)
{
	int i;

	for (i = 0; i < HEAPS; i++)
		gnomon_alloc(heap[i], blocks[i], size);
}

int main(void)
{
	char name[16];
	pid_t child;
	int i, status;

	for (i = 0; i < HEAPS; i++) {
		snprintf(name, sizeof(name), "heap %d", i);
		heap[i] = gnomon_heap_create(name);
	}
	fill(16);
	child = fork();
	if (!child) {
		fill(32);
		exit(0);
	}
	return waitpid(child, &status, 0) != child || status;
}
