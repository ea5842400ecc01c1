/* all_freed.c WHAT: allocates, and frees all of it. */
#include "tgt.h"

int main(void)
{
	for (int i = 0; i < 100; i++) {
		char *block = malloc(100 + i);

		block[0] = 1;
		free(block);
	}
	return 0;
}
