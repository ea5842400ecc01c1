/* retained_blocks.c: blocks that stay, many more than a part of a trace has
 * room for, then pairs, of sizes in no order: traces are to become large. */
#include "tgt.h"

#define BLOCKS 60000

int main(void)
{
	static void *kept[BLOCKS];
	unsigned draw = 1;
	void *block;
	size_t size;
	int i;

	for (i = 0; i < BLOCKS; i++)
		kept[i] = tgt_malloc(40 + i % 50);
	for (i = 0; i < 8 * BLOCKS; i++) {
		draw = draw * 69069 + 12345;
		size = 1 + (draw >> 16) % 1000;
		block = tgt_malloc(size);
		tgt_free(block, size);
	}
	/* of some it is not known any more that they end */
	for (i = 0; i < 10; i++)
		tgt_free(kept[i], 40 + i % 50);
	tgt_report();
	return 0;
}
