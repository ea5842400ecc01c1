// FLAGS: -O2 -foptimize-sibling-calls -fomit-frame-pointer
// FLAGS: -fno-asynchronous-unwind-tables -fno-unwind-tables -fbuiltin
/*
 * nested_untabled.c: plain C without unwind tables and frame pointers, in which
 * each function calls the next one and has another frame shape. The n-th
 * function allocates blocks of size 1000 + n, so that the expected functions
 * from there outward are known.
 *
 * Prints as last line the functions, outermost first.
 */
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWN __attribute__((noinline, noclone)) static
#define ROUNDS 20

static volatile int zero;
static jmp_buf out;

OWN void take(int n)
{
	char *volatile block = malloc((size_t)(1000 + n));

	if (!block)
		abort();
	block[0] = 1;
	free(block);
}

/* Never returns: what comes behind its call is another function. */
OWN __attribute__((noreturn)) void fails(int n)
{
	take(n);
	longjmp(out, 1);
}

/* Returns by a jump: it is in no stack. */
OWN int ends_in_a_call(int a, int b);

OWN int pushes(int a, int b, int c, int d, int e, int f)
{
	int g = zero, h = zero;

	take(11);
	if (zero)
		fails(a);
	take(11);
	return a + b * c - d + e * f + g * h;
}

OWN int switches(int a)
{
	int x = zero;

	take(10);
	switch (a) {
	case 0: x = 5; break;
	case 1: x = pushes(a, x, 3, 4, 5, 6) + 1; break;
	case 2: x = 11 * a; take(10); break;
	case 3: x -= a; break;
	case 4: x ^= a; take(10); break;
	case 5: x = a * a; break;
	default: fails(99);
	}
	return x + a;
}

OWN int many_arguments(int a, int b, int c, int d, int e, int f, int g, int h,
		       int i, int j)
{
	int x = switches(a);

	take(9);
	return x + a + b + c + d + e + f + g + h + i + j;
}

OWN int passes_in_the_stack(int a)
{
	take(8);
	return many_arguments(a, 2, 3, 4, 5, 6, 7, zero, 9, a) + a;
}

OWN int varies(int n, ...)
{
	va_list list;
	int sum = 0;

	va_start(list, n);
	while (n--)
		sum += va_arg(list, int);
	va_end(list);
	take(7);
	return passes_in_the_stack(sum) + sum;
}

OWN int shrinks(int a)
{
	if (a < 0)
		return a;
	take(6);
	if (a > 100000)
		fails(99);
	return varies(3, a, 0, zero) + a;
}

OWN int ends_in_a_call(int a, int b)
{
	return shrinks(a + b);
}

OWN int aligned(int a)
{
	_Alignas(64) volatile char room[256];

	room[a] = (char)a;
	take(5);
	return ends_in_a_call(room[a], zero) + room[a];
}

OWN int grows(int a)
{
	char *room = alloca((size_t)(16 + 16 * a));

	memset(room, a, (size_t)(16 + 16 * a));
	take(4);
	return aligned(room[a]) + room[a];
}

OWN int large(int a)
{
	volatile char room[100000];

	room[a] = (char)a;
	take(3);
	return grows(room[a]) + room[a];
}

OWN int loops(int a)
{
	int i, sum = 0;

	for (i = 0; i < 3; i++) {
		take(2);
		if (i == 1)
			sum += large(a);
		if (sum < 0)
			return sum;
	}
	return sum;
}

OWN int compares(const void *a, const void *b)
{
	loops(1);
	return *(const char *)a - *(const char *)b;
}

OWN int through_the_library(int a)
{
	char list[2] = { 2, (char)a };

	take(1);
	qsort(list, 2, 1, compares);
	return list[0] + list[1];
}

OWN int never_returns(int a)
{
	if (!setjmp(out))
		fails(12 + a);
	return a;
}

int main(void)
{
	int i, sum = 0;

	for (i = 0; i < ROUNDS; i++)
		sum += through_the_library(zero) + never_returns(zero);
	printf("%d\n", sum);
	puts("main through_the_library compares loops large grows aligned "
	     "shrinks varies passes_in_the_stack many_arguments switches "
	     "pushes");
	return 0;
}
