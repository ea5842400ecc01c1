/*
 * within.c: counts what lib_within.c allocates for it, beside blocks of the
 * C library.
 */
#include "tgt.h"

void *within_get(size_t size);
void within_put(void *block);

TGT_FUNCTION void tgt_within(size_t size)
{
	void *block = within_get(size);

	tgt_made(block, size);
	TGT_ADD(tgt_counts.frees, 1);
	TGT_ADD(tgt_counts.freed_bytes, size);
	within_put(block);
}

int main(void)
{
	for (size_t n = 1; n <= 300; n++) {
		tgt_within(n);
		tgt_free(tgt_malloc(n), n);
	}
	tgt_report();
	return 0;
}
