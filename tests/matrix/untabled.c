/*
 * untabled.c: what plain C makes of frames, built without unwind tables: small
 * and large frames, such as grow at run time, arguments in the stack, functions
 * that call through the C library, that never return, that end in a call or in
 * the middle. Each allocates.
 *
 * Prints how many blocks that were.
 */
#include <alloca.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 200

static int blocks;

static void *take(size_t size)
{
	void *block = malloc(size);

	if (!block)
		exit(1);
	__atomic_fetch_add(&blocks, 1, __ATOMIC_RELAXED);
	memset(block, 1, size);
	return block;
}

static int small(int n)
{
	free(take(16));
	return n + 1;
}

static int large(int n)
{
	volatile char room[100000];

	room[n] = (char)n;
	free(take(32));
	return small(room[n]) + room[n];
}

static int grows(int n)
{
	char *room = alloca(16 + 16 * n);

	memset(room, n, 16 + 16 * n);
	free(take(48));
	return small(n) + room[n];
}

static int many(int a, int b, int c, int d, int e, int f, int g, int h, int i,
		int j)
{
	free(take(64));
	return small(a + b + c + d + e) + f + g + h + i + j;
}

static int varies(int n, ...)
{
	va_list list;
	int sum = 0;

	va_start(list, n);
	while (n--)
		sum += small(va_arg(list, int));
	va_end(list);
	return sum;
}

static int order(const void *a, const void *b)
{
	free(take(80));
	return *(const int *)a - *(const int *)b;
}

static int sorts(int n)
{
	int list[8] = { n, 3, 1, 4, 1, 5, 9, 2 };

	qsort(list, 8, sizeof(list[0]), order);
	return list[0];
}

static int early(int n)
{
	if (n % 3 == 0)
		return small(n);
	if (n % 3 == 1)
		return grows(n % 8) + large(n % 8);
	return many(n, 1, 2, 3, 4, 5, 6, 7, 8, 9);
}

static int recurses(int n, int (*then)(int))
{
	return n ? recurses(n - 1, then) + 1 : then(n);
}

static double mixed(double a, int n)
{
	double b = a * n;

	free(take(96));
	return b + small(n);
}

static void *thread(void *argument)
{
	int i, n = *(int *)argument;

	for (i = 0; i < ROUNDS; i++)
		n += early(i) + recurses(i % 20, small);
	return take((size_t)n % 100 + 1);
}

static __attribute__((noreturn)) void ends(int status)
{
	free(take(112));
	exit(status);
}

static void (*volatile last)(int) = ends;

int main(void)
{
	pthread_t other;
	void *result;
	int i, n = 0;

	pthread_create(&other, NULL, thread, &n);
	pthread_join(other, &result);
	free(result);
	for (i = 0; i < ROUNDS; i++) {
		n += early(i) + recurses(i % 30, grows) + sorts(i);
		n += varies(3, i, n, 7) + (int)mixed(0.5, i);
	}
	printf("%d blocks\n", blocks);
	fflush(stdout);
	last(n == 0);
	return 2;
}
