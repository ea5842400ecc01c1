/*
 * pairs.c: malloc and free, nothing else, whoever provides them.
 */
#include "tgt.h"

int main(void)
{
	for (size_t n = 1; n <= 100; n++)
		tgt_free(tgt_malloc(n), n);
	tgt_report();
	return 0;
}
