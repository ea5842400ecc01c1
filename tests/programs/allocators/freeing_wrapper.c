/* FLAGS: -g -O0 -fno-inline -fno-optimize-sibling-calls
 *
 * freeing_wrapper.c: one function frees, by a wrapper of free, what three
 * callers hand to it: of 4000, 2000 and 1000 bytes, ten each.
 */
#include <stdlib.h>

static void xfree(void *block)
{
	free(block);
}

static void drop_it(void *block)
{
	xfree(block);
}

static void first_caller(void)
{
	drop_it(malloc(4000));
}

static void second_caller(void)
{
	drop_it(malloc(2000));
}

static void third_caller(void)
{
	drop_it(malloc(1000));
}

int main(void)
{
	for (int i = 0; i < 10; i++) {
		first_caller();
		second_caller();
		third_caller();
	}
	return 0;
}
