/*
 * untabled_shapes.c: functions of plain C that call each other, each of another
 * shape, down to one that allocates. Built without unwind tables and without
 * frame pointers, the code alone says who called whom.
 *
 * Prints the functions, the outermost first, as one line.
 */
#include <alloca.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 50
#define SHAPE __attribute__((noinline, noclone))

static volatile int zero;

SHAPE static int take(int n)
{
	void *volatile block = malloc((size_t)n + 1);

	free(block);
	return n + zero;
}

SHAPE static int small(int n)
{
	return take(n) + 1;
}

/* Saves nothing on the way that returns at once. */
SHAPE static int wrapped(int n, int *sum)
{
	if (n < 0)
		return zero;
	*sum += small(n);
	return *sum + n;
}

SHAPE static int large(int n)
{
	volatile char room[100000];

	room[n] = (char)n;
	return wrapped(n, &n) + room[n % 8];
}

SHAPE static int probed(int n)
{
	volatile char room[1300000];

	room[n * 1000] = 1;
	return large(n) + room[n * 1000];
}

SHAPE static int grows(int n)
{
	char *room = alloca(16 + 16 * (size_t)n);

	memset(room, n, 16 + 16 * (size_t)n);
	return probed(n) + room[n];
}

SHAPE static int arguments(int a, int b, int c, int d, int e, int f, int g,
			   int h, int i, int j)
{
	int sum = grows(a);

	return sum + b + c + d + e + f + g + h + i + j;
}

SHAPE static int passes(int n)
{
	return arguments(n, 1, 2, 3, 4, 5, 6, 7, 8, 9) + zero;
}

SHAPE static double numbers(double a, double b, int n)
{
	double sum = a * b;

	sum += passes(n);
	return sum + a + b;
}

SHAPE static int varies(int n, ...)
{
	va_list list;
	int sum = 0;

	va_start(list, n);
	sum += (int)numbers(va_arg(list, double), va_arg(list, double), n);
	va_end(list);
	return sum;
}

SHAPE static int chooses(int n, int how)
{
	switch (how) {
	case 0:
		return take(n) + 1;
	case 1:
		return small(n) * 2;
	case 2:
		return passes(n) - 3;
	case 3:
		return varies(n, 0.5, 2.0) ^ 4;
	case 4:
		return large(n) / 5;
	case 5:
		return probed(n) % 6;
	default:
		abort();
	}
}

/* Keeps all registers that it can. */
SHAPE static int keeps(int n, int *list)
{
	int a = list[0], b = list[1], c = list[2], d = list[3], e = list[4];
	int f = list[5], g = list[6], h = list[7];
	int sum = chooses(n, 3 + zero);

	return (a ^ sum) + (b | sum) + (c & sum) + d * sum + e + f * g + h;
}

SHAPE static int fails(int n)
{
	int list[8] = { n, 1, 2, 3, 4, 5, 6, 7 }, sum = keeps(n, list);

	if (sum == zero - 12345)
		abort();
	if (list[1] != 1)
		exit(3);
	return sum;
}

static __attribute__((noinline, noclone, noreturn)) void never_returns(int n)
{
	int i;

	for (i = 0; i < ROUNDS; i++)
		n += fails(i % 8);
	puts("main never_returns fails keeps chooses varies numbers passes "
	     "arguments grows probed large wrapped small take");
	exit(n == 1);
}

int main(void)
{
	never_returns(zero);
}
