/*
 * returns.c: functions that return a value of each class of the calling
 * convention, each through a hundred returns at whose depth something was
 * allocated: rax, rdx:rax, xmm0, xmm1:xmm0, xmm0 beside rax, ymm0, zmm0, st0,
 * st1:st0, through memory. What is printed is a checksum of all bits. Tail
 * calls between them, by the compiler's leave and by hand.
 */
#include <complex.h>
#include <immintrin.h>
#include <stdbool.h>

#include "deep.h"

#define FRAMES 100

struct mixed { double d; long l; };
struct mixed_other { long l; double d; };
struct pair { double a, b; };
struct floats { float a, b, c; };
struct words { long a, b; };
struct small { char c[5]; };
struct large { long many[40]; };
struct odd { char c[17]; };

static uint64_t checksum, returns;

static void add(const void *value, size_t size)
{
	const unsigned char *bytes = value;

	for (size_t i = 0; i < size; i++)
		checksum = (checksum ^ bytes[i]) * 1099511628211u;
	returns++;
}

static void touch(int depth)
{
	tgt_free(tgt_malloc(10 + depth), 10 + depth);
}

/* NAME(depth): seed at the bottom, then step at each level, checked there. */
#define RETURNS(name, type, bytes, seed, step, attribute)		\
	static attribute __attribute__((noinline)) type			\
	return_##name(int depth)					\
	{								\
		type v;							\
									\
		touch(depth);						\
		if (depth == 0)						\
			v = (seed);					\
		else							\
			v = return_##name(depth - 1);			\
		touch(depth);						\
		step;							\
		add(&v, bytes);						\
		return v;						\
	}
#define SIMPLE(name, type, seed, step) \
	RETURNS(name, type, sizeof(type), seed, step, )

SIMPLE(byte, unsigned char, 1, v += depth)
SIMPLE(truth, bool, true, v = !v)
SIMPLE(word, long, 1, v = v * 31 + depth)
SIMPLE(int128, unsigned __int128, 1, v = v * 0x123456789abcdef1 + depth)
SIMPLE(float, float, 1.5f, v = v / 1.01f + depth)
SIMPLE(double, double, 1.5, v = v / 1.01 + depth)
/* a long double has six bytes of padding */
RETURNS(x87, long double, 10, 1.5L, v = v / 1.01L + depth, )
SIMPLE(complex_float, float _Complex, 1 + 2 * I, v = v * (0.9f + 0.1f * I))
SIMPLE(complex_double, double _Complex, 1 + 2 * I, v = v * (0.9 + 0.1 * I))
SIMPLE(mixed, struct mixed, ((struct mixed){ 1, 2 }), (v.d += 0.3, v.l += 7))
SIMPLE(other, struct mixed_other, ((struct mixed_other){ 1, 2 }),
       (v.d += 0.3, v.l += 7))
SIMPLE(pair, struct pair, ((struct pair){ 1, 2 }), (v.a += 0.3, v.b *= 1.1))
SIMPLE(floats, struct floats, ((struct floats){ 1, 2, 3 }),
       (v.a += 0.3f, v.b *= 1.1f, v.c -= v.a))
SIMPLE(words, struct words, ((struct words){ 1, 2 }),
       (v.a += 3, v.b = v.b * 5 + v.a))
SIMPLE(small, struct small, ((struct small){ "abcd" }), v.c[depth % 4]++)
SIMPLE(large, struct large, ((struct large){ { 1, 2 } }),
       v.many[depth % 40] += depth)
SIMPLE(odd, struct odd, ((struct odd){ "0123456789" }), v.c[depth % 16]++)
SIMPLE(sse, __m128d, _mm_set_pd(1, 2), v = _mm_add_pd(v, v / 7))
#define AVX __attribute__((target("avx")))
#define AVX512 __attribute__((target("avx512f")))
RETURNS(avx, __m256d, 32, _mm256_set_pd(1, 2, 3, 4), v = v + v / 7, AVX)
RETURNS(avx512, __m512d, 64, _mm512_set1_pd(3), v = v + v / 7, AVX512)

static AVX void with_avx(int depth)
{
	return_avx(depth);
}

static AVX512 void with_avx512(int depth)
{
	return_avx512(depth);
}

/* Both parts alone: a _Complex long double has padding in each. */
static long double _Complex return_complex_x87(int depth)
{
	long double _Complex v;
	long double part;

	touch(depth);
	if (depth == 0)
		v = 1 + 2 * I;
	else
		v = return_complex_x87(depth - 1);
	touch(depth);
	v = v * (0.9L + 0.1L * I);
	part = __real__ v;
	add(&part, 10);
	part = __imag__ v;
	add(&part, 10);
	return v;
}

/* Tail calls: with -foptimize-sibling-calls all of these share one slot. */
static long tail_b(int depth, long sum);
static long tail_c(int depth, long sum, long a, long b, long c, long d,
		   long e, long f);

static long tail_a(int depth, long sum)
{
	touch(depth);
	if (depth == 0)
		return deep(30, deep_nothing, NULL) + sum;
	return tail_b(depth - 1, sum + 1);
}

static long tail_b(int depth, long sum)
{
	touch(depth);
	return tail_c(depth, sum, 1, 2, 3, 4, 5, 6);
}

/* With arguments on the stack: a call and its return again. */
static long tail_c(int depth, long sum, long a, long b, long c, long d,
		   long e, long f)
{
	touch(depth);
	if (depth == 0)
		return tail_a(0, sum + a + b + c + d + e + f);
	return tail_a(depth - 1, sum + f);
}

/* By hand: a frame of its own, undone before the jump. */
long tail_target(int depth, long sum);
long tail_by_hand(int depth, long sum);
__asm__(".text\n"
	".globl tail_by_hand\n"
	".type tail_by_hand, @function\n"
	"tail_by_hand:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	sub $24, %rsp\n"
	"	.cfi_adjust_cfa_offset 24\n"
	"	mov %rdi, (%rsp)\n"
	"	mov %rsi, 8(%rsp)\n"
	"	call tail_touch\n"
	"	mov (%rsp), %rdi\n"
	"	mov 8(%rsp), %rsi\n"
	"	add $24, %rsp\n"
	"	.cfi_adjust_cfa_offset -24\n"
	"	jmp tail_target\n"
	"	.cfi_endproc\n"
	".size tail_by_hand, . - tail_by_hand\n");

void tail_touch(int depth);
void tail_touch(int depth)
{
	touch(depth);
}

__attribute__((noinline)) long tail_target(int depth, long sum)
{
	long answer;

	touch(depth);
	if (depth == 0)
		return sum;
	answer = tail_by_hand(depth - 1, sum + depth);
	touch(depth);
	return answer + 1;
}

static void all(int depth)
{
	return_byte(depth);
	return_truth(depth);
	return_word(depth);
	return_int128(depth);
	return_float(depth);
	return_double(depth);
	return_x87(depth);
	return_complex_float(depth);
	return_complex_double(depth);
	return_complex_x87(depth);
	return_mixed(depth);
	return_other(depth);
	return_pair(depth);
	return_floats(depth);
	return_words(depth);
	return_small(depth);
	return_large(depth);
	return_odd(depth);
	return_sse(depth);
	if (__builtin_cpu_supports("avx"))
		with_avx(depth);
	if (__builtin_cpu_supports("avx512f"))
		with_avx512(depth);
	returns += (uint64_t)tail_a(depth, 0);
	returns += (uint64_t)tail_by_hand(depth, 0);
}

static long all_at_bottom(void *argument)
{
	all(*(int *)argument);
	return 0;
}

int main(void)
{
	long wrong = 0;

	for (int depth = 0; depth <= FRAMES; depth += 10) {
		all(depth);
		wrong += deep(depth, all_at_bottom, &depth) != depth;
	}
	tgt_print("checksum", checksum);
	tgt_print("returns", returns);
	tgt_print("wrong", (uint64_t)wrong);
	tgt_report();
	return wrong != 0;
}
