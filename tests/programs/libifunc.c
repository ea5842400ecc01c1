/*
 * libifunc.c: a function chosen at relocation by a resolver that allocates:
 * the profiler, relocated after this library, is entered before its own
 * relocations are done. The block lives on, is grown later and freed.
 */
#include <stdlib.h>
#include <string.h>

void *ifunc_block(void);
int ifunc_answer(void);

static char *block;

static int answer(void)
{
	return block && !strcmp(block, "made by a resolver") ? 42 : 0;
}

static int (*resolve_answer(void))(void)
{
	char *other = malloc(100);

	block = calloc(1, 32);
	if (block && block[31] == 0)
		memcpy(block, "made by a resolver", 19);
	free(other);
	return answer;
}

int ifunc_answer(void) __attribute__((ifunc("resolve_answer")));

/* Hands the block over. */
void *ifunc_block(void)
{
	return block;
}
