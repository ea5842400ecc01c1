// FLAGS: -fsanitize=address
/*
 * lang_asan_report.c: reads a freed block far down the stack, which
 * AddressSanitizer reports with the stack, and ends the program.
 */
#include <stdlib.h>

#define DEPTH 30

static __attribute__((noinline)) int down(int depth, const char *block)
{
	char *own = malloc(depth + 1);
	int result = depth ? down(depth - 1, block) : block[2];

	free(own);
	return result + 1;
}

int main(void)
{
	char *block = calloc(1, 10);
	int sum = down(DEPTH, block);

	free(block);
	return sum + down(DEPTH, block);
}
