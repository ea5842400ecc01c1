/* size_limits.c: sizes are limited, then not, then many pairs follow: a sample
 * must record nothing of unsampled blocks, their frees neither. */
// FLAGS: -lgnomon-stub -Wl,-rpath,$ORIGIN/..
#include "tgt.h"

#include <gnomon/gnomon.h>

#define PAIRS 100000

int main(void)
{
	void *block;
	int i;

	block = tgt_malloc(100);
	tgt_free(block, 100);
	if (gnomon_limit_sizes(50, 0) || gnomon_limit_sizes(0, 0))
		return 1;
	for (i = 0; i < PAIRS; i++) {
		block = tgt_malloc(100);
		tgt_free(block, 100);
	}
	tgt_report();
	return 0;
}
