/*
 * one_behind.c: writes one byte past the end of a block, and frees it in
 * another function: guards must find this.
 */
#include <stdlib.h>

static char *tgt_allocate(void)
{
	return malloc(24);
}

static void tgt_release(char *block)
{
	free(block);
}

int main(void)
{
	char *block = tgt_allocate();

	((volatile char *)block)[24] = 1;
	tgt_release(block);
	return 0;
}
