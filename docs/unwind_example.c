/*
 * unwind_example.c: who calls work(), and how often?
 * cc -g -no-pie unwind_example.c $(pkg-config --cflags --libs gnomon-unwind)
 */
#include <gnomon/unwind.h>
#include <inttypes.h>
#include <stdio.h>

#define CONTEXTS 4096
#define DEPTH 64

static unsigned calls[CONTEXTS];	/* by context id: ids are small */

__attribute__((noinline)) static void work(void)
{
	calls[gu_capture() % CONTEXTS]++;
}

__attribute__((noinline)) static unsigned outer(unsigned n)
{
	work();
	return n ? outer(n - 1) + 1 : 0;
}

int main(void)
{
	uintptr_t stack[DEPTH];
	size_t depth, i;
	uint32_t id, stop;

	if (gu_init(NULL) != 0)
		return 1;
	for (i = 0; i < 1000; i++)
		outer(i % 2);
	for (id = 0; id < CONTEXTS; id++) {
		if (!calls[id])
			continue;
		depth = gu_expand(id, stack, DEPTH, &stop);
		printf("%u calls, %s:", calls[id], gu_stop_text(stop));
		for (i = 0; i < depth; i++)
			printf(" %#" PRIxPTR, stack[i] - 1);
		printf("\n");
	}
	return 0;
}
