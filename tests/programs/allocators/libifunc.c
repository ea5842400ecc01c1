// FLAGS: -D_GNU_SOURCE
/*
 * libifunc.c: a function selected at relocation by a resolver that allocates:
 * the profiler, relocated after this library, is called before its own
 * relocations are done. The block is kept, enlarged later and freed. The
 * resolver also maps memory: those calls must work as early.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *ifunc_block(void);
int ifunc_answer(void);

static char *block;

static int answer(void)
{
	return block && !strcmp(block, "made by a resolver") ? 42 : 0;
}

static int maps(void)
{
	char *p = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);

	if (p == MAP_FAILED || mprotect(p, 8192, PROT_READ | PROT_WRITE))
		return 0;
	p[5000] = 1;
	p = mremap(p, 8192, 32768, MREMAP_MAYMOVE);
	return p != MAP_FAILED && p[5000] == 1 && !munmap(p, 32768) &&
	       munmap(p + 1, 1) == -1 && sbrk(0) != (void *)-1;
}

static int (*resolve_answer(void))(void)
{
	char *other = maps() ? malloc(100) : NULL;

	if (!other)
		return answer;
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
