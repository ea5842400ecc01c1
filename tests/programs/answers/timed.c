/* timed.c: blocks whose times the program states itself: made at second i,
 * freed at i + 10, in a recording that takes almost no time. */
// FLAGS: -lgnomon-stub -Wl,-rpath,$ORIGIN/..
#include "tgt.h"

#include <gnomon/gnomon.h>

#define SECOND UINT64_C(1000000000)

int main(void)
{
	void *p[10];
	int i;

	for (i = 0; i < 10; i++) {
		if (gnomon_set_timestamp((i + 1) * SECOND))
			return 1;
		p[i] = tgt_malloc(100 + i);
	}
	for (i = 0; i < 10; i++) {
		if (gnomon_set_timestamp((i + 11) * SECOND))
			return 1;
		tgt_free(p[i], 100 + i);
	}
	return 0;
}
