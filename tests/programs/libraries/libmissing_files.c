/* libmissing_files.c: a library that allocates; see missing_files.c. */
#include <stdlib.h>

char *tgt_of_library(void);

char *tgt_of_library(void)
{
	char *block = malloc(500);

	if (block)
		*block = 1;
	return block;
}
