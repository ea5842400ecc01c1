/* libcarried.c: a library that allocates; see carried.c. */
#include <stdlib.h>

char *tgt_of_library(void);

char *tgt_of_library(void)
{
	char *block = malloc(500);

	if (block)
		*block = 1;
	return block;
}
