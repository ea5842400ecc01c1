/*
 * basic.c: one thread with known numbers: live, peak, temporary blocks. Only
 * its own code allocates, so the trace's summary must be equal, not only the
 * sum of the program's own rows.
 */
#include "tgt.h"

#define ROUNDS 300
#define KEEP 100

static void *kept[KEEP];
static uint64_t live_bytes, live_blocks, peak_bytes, peak_blocks, temporary;

static void *make(size_t size)
{
	live_bytes += size;
	live_blocks++;
	if (live_bytes > peak_bytes) {
		peak_bytes = live_bytes;
		peak_blocks = live_blocks;
	}
	return tgt_malloc(size);
}

static void drop(void *p, size_t size)
{
	live_bytes -= size;
	live_blocks--;
	tgt_free(p, size);
}

static size_t size_of(int i)
{
	return 16 + (size_t)i * 7 % 2000;
}

/* Freed with no other allocation between: a temporary block. */
static void churn(int i)
{
	drop(make(size_of(i) * 3), size_of(i) * 3);
	temporary++;
}

/* The first is freed with one other made between: not temporary; the second
 * with none. */
static void pair(int i)
{
	void *a = make(size_of(i)), *b = make(50);

	drop(a, size_of(i));
	drop(b, 50);
	temporary++;
}

/* The peak is here, in the middle of the run. The last is temporary. */
static void swell(void)
{
	void *big[20];

	for (int i = 0; i < 20; i++)
		big[i] = make(100000 + i);
	for (int i = 0; i < 20; i++)
		drop(big[i], 100000 + i);
	temporary++;
}

int main(void)
{
	for (int i = 0; i < KEEP; i++)
		kept[i] = make(size_of(i));
	for (int i = 0; i < ROUNDS; i++) {
		churn(i);
		pair(i);
		if (i == ROUNDS / 2)
			swell();
	}
	for (int i = 0; i < KEEP; i += 2)
		drop(kept[i], size_of(i));
	tgt_report();
	tgt_print("peak_bytes", peak_bytes);
	tgt_print("peak_blocks", peak_blocks);
	tgt_print("temporary", temporary);
	return 0;
}
