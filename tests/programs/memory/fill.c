/*
 * fill.c: counts how many blocks of a mebibyte it can allocate, at most MOST.
 */
#include "tgt.h"

#define MOST 1000

int main(void)
{
	int blocks = 0;

	while (blocks < MOST && malloc(1 << 20))
		blocks++;
	tgt_print("mebibytes", blocks);
	return 0;
}
