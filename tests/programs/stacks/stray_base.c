// LINK: switch_base.S
/*
 * stray_base.c: stacks whose outermost return address is an arbitrary word of
 * memory, as beyond a greenlet's slice of the stack. With each of several kinds
 * of words it allocates a few times at two depths, on one stack, and in the end
 * with the word 0, which every unwinder takes for an end. With an argument the
 * word is always the same, and points to memory that sometimes looks like the
 * code after a call, and sometimes does not.
 */
#include <sys/mman.h>

#include "tgt.h"

#define STACK_SIZE (256 << 10)
#define EACH 20

void switch_base(void *top, uintptr_t word, void (*f)(void));
void leave_base(void);

static uintptr_t data[64] = { 1, 2, 3 };

static unsigned char *changes;

__attribute__((noinline)) static void inner(void)
{
	tgt_malloc(40);
	__asm__ volatile("");
}

__attribute__((noinline)) static void on_base(void)
{
	for (int i = 0; i < 4; i++) {
		if (changes)
			changes[-1] = i % 2 ? 0xd0 : 0;	/* call *%rax */
		tgt_malloc(100);
		inner();
	}
	leave_base();
}

/* On a part of this thread's own stack. */
static void change(unsigned char *at)
{
	char room[STACK_SIZE] __attribute__((aligned(16)));

	at[-2] = 0xff;
	changes = at;
	for (unsigned i = 0; i < EACH; i++)
		switch_base(room + STACK_SIZE, (uintptr_t)at, on_base);
}

int main(int argc, char **argv)
{
	char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t *heap = tgt_calloc(64, sizeof(*heap));

	(void)argv;
	if (stack == MAP_FAILED)
		abort();
	if (argc > 1) {
		change((unsigned char *)&heap[8]);
		tgt_report();
		return 0;
	}
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
