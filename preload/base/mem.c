/*
 * mem.c: memcpy, memset and the like, for compiler-generated calls and for us.
 * Hidden, so that the program's own are never called: they may be interposed,
 * or not be relocated yet when we first run.
 *
 * Any thread, any time. I1: nothing here calls anything.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t mem_block
	__attribute__((vector_size(16), aligned(1), may_alias));
typedef uint64_t mem_word __attribute__((aligned(1), may_alias));

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	uint8_t *t = to;
	const uint8_t *f = from;

	for (; n >= sizeof(mem_block); n -= sizeof(mem_block)) {
		*(mem_block *)t = *(const mem_block *)f;
		t += sizeof(mem_block);
		f += sizeof(mem_block);
	}
	if (n >= sizeof(mem_word)) {
		*(mem_word *)t = *(const mem_word *)f;
		t += sizeof(mem_word);
		f += sizeof(mem_word);
		n -= sizeof(mem_word);
	}
	while (n--)
		*t++ = *f++;
	return to;
}

void *memmove(void *to, const void *from, size_t n)
{
	uint8_t *t = to;
	const uint8_t *f = from;

	if ((uintptr_t)t - (uintptr_t)f >= n)
		return memcpy(to, from, n);
	/* the destination lies above and overlaps: from the end, each word
	 * read before it can be overwritten */
	for (; n >= sizeof(mem_word); n -= sizeof(mem_word))
		*(mem_word *)(t + n - sizeof(mem_word)) =
			*(const mem_word *)(f + n - sizeof(mem_word));
	while (n--)
		t[n] = f[n];
	return to;
}

void *memset(void *to, int byte, size_t n)
{
	uint8_t *t = to;
	uint64_t word = (uint8_t)byte * UINT64_C(0x0101010101010101);
	mem_block block = { word, word };

	for (; n >= sizeof(block); n -= sizeof(block)) {
		*(mem_block *)t = block;
		t += sizeof(block);
	}
	while (n--)
		*t++ = byte;
	return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const uint8_t *x = a, *y = b;

	for (; n >= sizeof(mem_word); n -= sizeof(mem_word)) {
		if (*(const mem_word *)x != *(const mem_word *)y)
			break;
		x += sizeof(mem_word);
		y += sizeof(mem_word);
	}
	for (; n; n--, x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}

size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

int strcmp(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return (unsigned char)*a - (unsigned char)*b;
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n; n--, a++, b++) {
		if (*a != *b)
			return (unsigned char)*a - (unsigned char)*b;
		if (!*a)
			return 0;
	}
	return 0;
}
