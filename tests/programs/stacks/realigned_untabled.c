// FLAGS: -O2 -fomit-frame-pointer -fbuiltin
// FLAGS: -fno-asynchronous-unwind-tables -fno-unwind-tables
/*
 * realigned_untabled.c: plain C without unwind tables and frame pointers, in
 * which functions align their stacks: on x86-64 the CFA is then only a word of
 * the frame, which may also grow at run time. Each function calls the next one;
 * every other one is of the usual kind. The n-th function allocates blocks of
 * size 1000 + n, so that the expected functions from there outward are known.
 *
 * Prints as last line the functions, outermost first.
 */
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWN __attribute__((noinline, noclone)) static
#define ALIGNED _Alignas(64)
#define ROUNDS 20

static volatile int zero;

/* So that what is aligned is somewhere. */
OWN void see(void *a, void *b)
{
	__asm__ volatile("" : : "r"(a), "r"(b) : "memory");
}

OWN void take(int n)
{
	char *volatile block = malloc((size_t)(1000 + n));

	if (!block)
		abort();
	block[0] = 1;
	free(block);
}

OWN int innermost(int a)
{
	ALIGNED char room[64];
	char *more = alloca((size_t)(16 + a));

	see(room, more);
	take(10);
	return room[a] = (char)a;
}

OWN int pushes(int a)
{
	int b = zero, c = zero;

	take(9);
	return innermost(a) + a * b + c;
}

/* All registers that calls preserve are saved below the word. */
OWN int saves(int a, int b, int c, int d, int e)
{
	ALIGNED char room[192];
	char *more = alloca((size_t)(16 + a));
	int f = b * c, g = c ^ d, h = d - e, i = e << 2, j = a + b;

	see(room, more);
	take(8);
	a += pushes(a);
	see(room, more);
	return a + b + c + d + e + f + g + h + i + j;
}

/* Its frame grows and shrinks in a loop. */
OWN int loops(int a)
{
	ALIGNED char room[64];
	int i, sum = 0;

	for (i = 0; i < 3; i++) {
		char more[16 + i * a + i];

		memset(more, i, sizeof(more));
		see(room, more);
		take(7);
		if (i == 1)
			sum += saves(a, i, 3, 4, 5);
		see(room, more);
	}
	return sum;
}

OWN int large(int a)
{
	volatile char room[100000];

	room[a] = (char)a;
	take(6);
	return loops(room[a]) + room[a];
}

/* Returns early, before its stack grows. */
OWN int returns(int a)
{
	ALIGNED char room[64];

	see(room, room);
	take(5);
	if (a > 0)
		return room[a];
	{
		char *more = alloca((size_t)(16 + a));

		see(room, more);
		return large(a) + more[a];
	}
}

/* The register that has the CFA meanwhile is one that calls preserve. */
OWN int has_another_in_it(int a)
{
	int sum = a;

#ifdef __clang__
	return sum + returns(a);
#else
	__attribute__((noinline)) int within(int b)
	{
		ALIGNED char room[64];
		char *more = alloca((size_t)(16 + b));

		see(room, more);
		take(4);
		sum += returns(b);
		return room[b] = 0;
	}

	take(3);
	return within(a) + sum;
#endif
}

/* Ends in a call, by a register. */
static int (*volatile next)(int) = has_another_in_it;

OWN int passes(int a)
{
	ALIGNED char room[64];
	char *more = alloca((size_t)(16 + a));

	see(room, more);
	take(2);
	return next(a) + room[a];
}

OWN int order(const void *a, const void *b)
{
	passes(zero);
	return *(const char *)a - *(const char *)b;
}

OWN int through_the_library(int a)
{
	ALIGNED char list[64];
	char *more = alloca((size_t)(16 + a));

	see(list, more);
	take(1);
	list[0] = 2;
	list[1] = (char)a;
	qsort(list, 2, 1, order);
	return list[0] + list[1];
}

int main(void)
{
	int i, sum = 0;

	for (i = 0; i < ROUNDS; i++)
		sum += through_the_library(zero);
	printf("%d\n", sum);
	puts("main through_the_library order passes has_another_in_it within "
	     "returns large loops saves pushes innermost");
	return 0;
}
