// FLAGS: -O3 -fipa-ra -mno-red-zone -fomit-frame-pointer
// LINK: quiet_allocate.S
/*
 * ipa_ra.c: callers that keep values in registers which every call may
 * destroy, because they know that this callee does not (-fipa-ra): a callee
 * that is captured through, by a call that the compiler does not see. Were a
 * return to change a register that the callee leaves alone, sums would be
 * wrong.
 */
#include "deep.h"

void quiet_allocate_body(void);

void quiet_allocate_body(void)
{
	deep(3, deep_nothing, NULL);
	tgt_free(tgt_malloc(71), 71);
}

static long counter;

/* Uses few registers; the call keeps all. Without a red zone, because the
 * compiler takes this for a leaf. */
static __attribute__((noinline)) long leaf(long x)
{
	__asm__ volatile("call quiet_allocate" ::: "memory");
	counter += x;
	return x + 1;
}

static __attribute__((noinline)) long over_leaf(long x)
{
	long y = leaf(x * 3) + leaf(x);

	return y - counter % 3;
}

static __attribute__((noinline)) long sums(long a, long b, long c, double d)
{
	long e = a * 3, f = b * 5, g = c * 7, h = a + b, i = b + c, j = a + c;
	double m = d * 3, n = d / 7, o = d - 1, p = d + 9;

	e += over_leaf(a);
	m += n;
	f += over_leaf(e) + g;
	o *= p;
	g ^= over_leaf(h + i);
	p -= m;
	j += over_leaf(e + f + g + h + i + j);
	return a + 2 * b + 3 * c + 4 * e + 5 * f + 6 * g + 7 * h + 8 * i +
	       9 * j + (long)(10 * m + 11 * n + 12 * o + 13 * p + d);
}

static long at_bottom(void *argument)
{
	long n = *(long *)argument;

	return sums(n, n + 1, n * n, (double)n);
}

int main(void)
{
	uint64_t sum = 0;

	for (long i = 0; i < 300; i++) {
		sum = sum * 31 + (uint64_t)at_bottom(&i);
		sum = sum * 31 + (uint64_t)deep(i % 40, at_bottom, &i);
	}
	tgt_print("sum", sum);
	tgt_report();
	return 0;
}
