/* hoard.c: blocks that stay, many more than a part of a trace has room for,
 * then as many pairs. */
#include "tgt.h"

#define BLOCKS 60000

int main(void)
{
	static void *kept[BLOCKS];
	void *block;
	int i;

	for (i = 0; i < BLOCKS; i++)
		kept[i] = tgt_malloc(40 + i % 50);
	for (i = 0; i < 8 * BLOCKS; i++) {
		block = tgt_malloc(24);
		tgt_free(block, 24);
	}
	/* of some it is not known any more that they end */
	for (i = 0; i < 10; i++)
		tgt_free(kept[i], 40 + i % 50);
	tgt_report();
	return 0;
}
