// FLAGS: -O2 -fno-inline -freorder-blocks-and-partition
/*
 * shapes.c: allocates in functions whose code or frame has an unusual shape: a
 * cold part split off, a call that never returns at the end of a function (its
 * return address is another function's), a frame of variable size, a realigned
 * one, and a chain of tail calls.
 */
#include <setjmp.h>

#include "tgt.h"

#define TIMES 100

static jmp_buf back;
static volatile int unlikely_number;

__attribute__((cold)) static void *cold_malloc(size_t size)
{
	return tgt_malloc(size);
}

/* The branch into cold code goes to another section. */
__attribute__((noinline)) static int split(int n)
{
	int sum = n;

	for (int i = 0; i < n; i++)
		sum += i * unlikely_number;
	if (__builtin_expect(sum != -1, 0)) {
		tgt_free(cold_malloc(100), 100);
		sum++;
	}
	return sum;
}

__attribute__((noreturn, noinline)) static void leaves(size_t size)
{
	tgt_free(tgt_malloc(size), size);
	longjmp(back, 1);
}

/* The call is its last instruction. */
__attribute__((noinline)) static void ends_in_call(size_t size)
{
	leaves(size + 1);
}

__attribute__((noinline)) static int after_it(int n)
{
	return n + unlikely_number;
}

__attribute__((noinline)) static int variable(int n)
{
	volatile char *block = __builtin_alloca((size_t)n);

	block[0] = 1;
	tgt_free(tgt_malloc(102), 102);
	return block[0] + n;
}

__attribute__((noinline)) static int realigned(int n, int a, int b, int c,
					       int d, int e, int on_stack)
{
	_Alignas(128) volatile char block[256];

	block[n] = (char)a;
	tgt_free(tgt_malloc(103), 103);
	return block[n] + b + c + d + e + on_stack + variable(n);
}

__attribute__((noinline)) static void *last_of_tail(size_t size)
{
	void *p = tgt_malloc(size);

	tgt_sink = p;
	return p;
}

__attribute__((noinline, optimize("optimize-sibling-calls")))
static void *tail(size_t size)
{
	return last_of_tail(size + 1);
}

int main(void)
{
	for (volatile int i = 0; i < TIMES; i++) {
		unlikely_number += split(3);
		if (!setjmp(back))
			ends_in_call(100);
		unlikely_number += after_it(i);
		unlikely_number += realigned(17, 1, 2, 3, 4, 5, i);
		tgt_free(tail(103), 104);
	}
	tgt_print("times", TIMES);
	tgt_report();
	return 0;
}
