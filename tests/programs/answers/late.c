/*
 * late.c: frees blocks in a second in which it allocates none of that size.
 */
#include <unistd.h>

#include "tgt.h"

int main(void)
{
	void *block[100];
	int i;

	for (i = 0; i < 100; i++)
		block[i] = tgt_malloc(3000);
	usleep(1300000);
	for (i = 0; i < 100; i++)
		tgt_free(block[i], 3000);
	tgt_report();
	return 0;
}
