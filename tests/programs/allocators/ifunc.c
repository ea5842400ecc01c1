// FLAGS: -lifunc
/*
 * ifunc.c: uses a library whose resolver allocated before the profiler was
 * ready, and continues with that block: realloc and free must know it.
 */
#include "tgt.h"

void *ifunc_block(void);
int ifunc_answer(void);

int main(void)
{
	char *p;

	tgt_print("answer", ifunc_answer());
	p = realloc(ifunc_block(), 100000);
	tgt_print("kept", !strcmp(p, "made by a resolver"));
	free(p);
	for (int i = 0; i < 100; i++)
		tgt_free(tgt_malloc(10), 10);
	tgt_report();
	return 0;
}
