/*
 * tgt.h: what the target programs share.
 *
 * A target allocates through the functions below, counts its own operations,
 * and prints as the last lines of its output the expected values of the trace,
 * "key value" a line. The checker adds up the trace's rows whose stack has a
 * function named tgt_*: this excludes the C library's own allocations. So
 * nothing here may be inlined, and only these functions may have such a name.
 * Printing allocates nothing.
 *
 * Any thread may call these, also in a signal handler if the allocator can.
 */
#ifndef GNOMON_TESTS_TGT_H
#define GNOMON_TESTS_TGT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TGT_FUNCTION static __attribute__((noinline, unused))

struct tgt_counts {
	uint64_t allocations, frees, total_bytes, freed_bytes;
};
static struct tgt_counts tgt_counts;

#define TGT_ADD(counter, n) \
	__atomic_fetch_add(&(counter), (uint64_t)(n), __ATOMIC_RELAXED)

/* Use of every block, so that none can be left out by the compiler. */
static void *volatile tgt_sink __attribute__((unused));

TGT_FUNCTION void tgt_made(void *p, size_t size)
{
	if (!p)
		abort();
	tgt_sink = p;
	TGT_ADD(tgt_counts.allocations, 1);
	TGT_ADD(tgt_counts.total_bytes, size);
}

TGT_FUNCTION void *tgt_malloc(size_t size)
{
	void *p = malloc(size);

	tgt_made(p, size);
	return p;
}

TGT_FUNCTION void *tgt_calloc(size_t count, size_t size)
{
	void *p = calloc(count, size);

	tgt_made(p, count * size);
	return p;
}

/* size: what the block was asked for with. */
TGT_FUNCTION void tgt_free(void *p, size_t size)
{
	TGT_ADD(tgt_counts.frees, 1);
	TGT_ADD(tgt_counts.freed_bytes, size);
	free(p);
}

/* A reallocation counts as one allocation of the new size and, where there
 * was a block, one free of the old. */
TGT_FUNCTION void *tgt_realloc(void *old, size_t old_size, size_t size)
{
	void *p = realloc(old, size);

	tgt_made(p, size);
	if (old) {
		TGT_ADD(tgt_counts.frees, 1);
		TGT_ADD(tgt_counts.freed_bytes, old_size);
	}
	return p;
}

TGT_FUNCTION void tgt_write(const char *text)
{
	size_t left = strlen(text);

	while (left) {
		ssize_t n = write(STDOUT_FILENO, text, left);

		if (n <= 0)
			return;
		text += n;
		left -= n;
	}
}

TGT_FUNCTION void tgt_print(const char *key, uint64_t value)
{
	char line[128], digits[24];
	size_t n = sizeof(digits) - 1;

	digits[n] = '\0';
	do {
		digits[--n] = '0' + value % 10;
		value /= 10;
	} while (value);
	strcpy(line, key);
	strcat(line, " ");
	strcat(line, digits + n);
	strcat(line, "\n");
	tgt_write(line);
}

TGT_FUNCTION void tgt_report(void)
{
	struct tgt_counts *c = &tgt_counts;

	tgt_print("allocations", c->allocations);
	tgt_print("frees", c->frees);
	tgt_print("total_bytes", c->total_bytes);
	tgt_print("live_blocks", c->allocations - c->frees);
	tgt_print("live_bytes", c->total_bytes - c->freed_bytes);
}

#endif
