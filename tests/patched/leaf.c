/*
 * leaf.c: an allocator that calls nobody, compiled together with its callers:
 * they keep values in registers that any other function might change.
 */
#include <stddef.h>
#include <stdint.h>

#include "tgt.h"

static char heap[1 << 22];
static size_t used;

__attribute__((noinline)) void *malloc(size_t size)
{
	void *block = heap + used;

	used += (size + 15) & ~(size_t)15;
	return block;
}

__attribute__((noinline)) void free(void *block)
{
	if (block == heap + used)
		used--;
}

static __attribute__((noinline)) void tgt_pair(size_t size)
{
	char *block = malloc(size);

	*(char *volatile *)&tgt_sink = block;
	tgt_counts.allocations++;
	tgt_counts.total_bytes += size;
	free(block);
	tgt_counts.frees++;
	tgt_counts.freed_bytes += size;
}

/* More values that live across the calls than registers that are saved. */
static __attribute__((noinline)) uint64_t tgt_mix(uint64_t a, uint64_t b,
						  uint64_t c, uint64_t d,
						  double x, double y, double z)
{
	for (size_t n = 1; n <= 1000; n++) {
		free(malloc(n));
		a += b ^ n;
		b += c * 3;
		c ^= d + (a >> 7);
		d -= a;
		x += y * (double)n;
		y = z - x / 3;
		z *= 0.5;
	}
	tgt_counts.allocations += 1000;
	tgt_counts.frees += 1000;
	tgt_counts.total_bytes += 500500;
	tgt_counts.freed_bytes += 500500;
	return a ^ b ^ c ^ d ^ (uint64_t)(int64_t)(x + y + z);
}

int main(void)
{
	tgt_pair(100);
	tgt_print("mix", tgt_mix(1, 2, 3, 4, 5, 6, 7));
	tgt_report();
	return 0;
}
