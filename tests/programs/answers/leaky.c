/*
 * leaky.c: leaks of known numbers and sizes, in functions that rules can
 * distinguish, and memory that is freed.
 *
 *	tgt_list      7 blocks of  16 bytes, called by tgt_parse
 *	tgt_list      5 blocks of  24 bytes, called by tgt_load by tgt_parse
 *	tgt_buffer    3 blocks of 100 bytes
 *	tgt_recurse   1 block of 1000 bytes, four calls deep
 *
 * With an argument N, tgt_list by tgt_parse leaks N more.
 */
#include <stdio.h>
#include <stdlib.h>

/* Where the compiler does not see that nothing is done with a block. */
static void *volatile last;

__attribute__((noinline)) void tgt_list(int count, size_t size)
{
	for (int i = 0; i < count; i++)
		last = malloc(size);
}

__attribute__((noinline)) void tgt_load(void)
{
	tgt_list(5, 24);
	last = NULL;
}

__attribute__((noinline)) void tgt_parse(int more)
{
	tgt_list(7 + more, 16);
	tgt_load();
	last = NULL;
}

__attribute__((noinline)) void tgt_buffer(void)
{
	for (int i = 0; i < 3; i++)
		last = malloc(100);
	last = NULL;
}

__attribute__((noinline)) void tgt_recurse(int depth)
{
	if (depth > 0)
		tgt_recurse(depth - 1);
	else
		last = malloc(1000);
	last = NULL;
}

__attribute__((noinline)) void tgt_freed(void)
{
	for (int i = 0; i < 10; i++) {
		last = malloc(5000);
		free(last);
	}
	last = NULL;
}

/* So that no register, and no slot of the stack, still has an address: a leak
 * checker would find it there. */
__attribute__((noinline)) static void overwrite(void)
{
	volatile char room[4096];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 0;
}

int main(int argc, char **argv)
{
	tgt_parse(argc > 1 ? atoi(argv[1]) : 0);
	tgt_buffer();
	tgt_recurse(3);
	tgt_freed();
	overwrite();
	return 0;
}
