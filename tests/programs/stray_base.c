// LINK: switch_base.S
/*
 * stray_base.c: stacks whose outermost return address is whatever lay in the
 * memory: as a greenlet's, beyond its slice of the stack. With each word of
 * several kinds it allocates a few times at two depths, on one stack, and in
 * the end at a base whose word is 0, which every unwinder takes for an end.
 */
#include <sys/mman.h>

#include "tgt.h"

#define STACK_SIZE (256 << 10)
#define EACH 20

void switch_base(void *top, uintptr_t word, void (*f)(void));
void leave_base(void);

static uintptr_t data[64] = { 1, 2, 3 };

__attribute__((noinline)) static void inner(void)
{
	tgt_malloc(40);
	__asm__ volatile("");
}

__attribute__((noinline)) static void on_base(void)
{
	for (int i = 0; i < 4; i++) {
		tgt_malloc(100);
		inner();
	}
	leave_base();
}

int main(void)
{
	char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t *heap = tgt_calloc(64, sizeof(*heap));

	if (stack == MAP_FAILED)
		abort();
	for (unsigned i = 0; i < EACH; i++) {
		const uintptr_t words[] = {
			0x5f7539ab3fe64c00 + i,		/* a canary */
			(uintptr_t)&data[i + 8],
			(uintptr_t)&heap[i + 8],
			(uintptr_t)stack + 4096 + i * 8,
			i + 1, 0,
		};

		for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++)
			switch_base(stack + STACK_SIZE, words[w], on_base);
	}
	tgt_report();
	return 0;
}
