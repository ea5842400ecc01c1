/*
 * shadow_pointer.c: allocates a little, then prints "active 1" if its thread
 * has a hardware shadow stack, else "active 0".
 */
#include <stdio.h>
#include <stdlib.h>

#include "arch.h"

int main(void)
{
	void *volatile block;

	for (int i = 1; i < 100; i++) {
		block = malloc(i);
		free(block);
	}
	printf("active %d\n", arch_shadow_stack_pointer() != 0);
	return 0;
}
