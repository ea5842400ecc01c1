/*
 * no_bytes.c: leaks blocks of no bytes and nothing else: three, and as many
 * more as there are arguments.
 */
#include "tgt.h"

int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < argc + 2; i++)
		tgt_malloc(0);
	tgt_report();
	return 0;
}
