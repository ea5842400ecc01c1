/*
 * pinned.c: frees nearly all of its blocks, and keeps few small ones, from two
 * functions, spread over the heap; a large block; and a mapping of its own. It
 * prints on how many pages they lie, by its own addresses. With an argument N
 * it holds all blocks for N ms.
 */
#include <sys/mman.h>

#include "tgt.h"

#define PAGE 4096u
#define FILLERS 40000
#define FILLER 200
#define OFTEN 21		/* every so manieth is followed by one */
#define SELDOM 210
#define SMALL 48
#define LARGE (1u << 20)
#define MAPPED (8u << 20)
#define PAGES 8192		/* of the heap */

static void *fillers[FILLERS];
static uintptr_t base;		/* of the heap: the first page */
static uint8_t often_on[PAGES], seldom_on[PAGES];

TGT_FUNCTION void *tgt_often(void)
{
	void *block = malloc(SMALL);

	tgt_made(block, SMALL);
	return block;
}

TGT_FUNCTION void *tgt_seldom(void)
{
	void *block = malloc(SMALL);

	tgt_made(block, SMALL);
	return block;
}

TGT_FUNCTION void *tgt_large(void)
{
	void *block = malloc(LARGE);

	tgt_made(block, LARGE);
	return block;
}

static void note(uint8_t *on, const void *block)
{
	uintptr_t first = ((uintptr_t)block - base) / PAGE;
	uintptr_t last = ((uintptr_t)block + SMALL - 1 - base) / PAGE;

	if (last >= PAGES)
		abort();
	on[first] = on[last] = 1;
}

static void fill(unsigned full_ms)
{
	for (int i = 0; i < FILLERS; i++) {
		fillers[i] = tgt_malloc(FILLER);
		memset(fillers[i], 1, FILLER);
		if (i == 0)
			base = (uintptr_t)fillers[i] & -(uintptr_t)PAGE;
		if (i % OFTEN == 0)
			note(often_on, tgt_often());
		if (i % SELDOM == SELDOM - 1)
			note(seldom_on, tgt_seldom());
	}
	note(often_on, tgt_often());	/* the heap ends with it */
	usleep(full_ms * 1000);
	for (int i = 0; i < FILLERS; i++)
		tgt_free(fillers[i], FILLER);
}

static void print_pages(void)
{
	uint64_t often = 0, seldom = 0, both = 0;

	for (unsigned i = 0; i < PAGES; i++) {
		often += often_on[i];
		seldom += seldom_on[i];
		both += often_on[i] & seldom_on[i];
	}
	tgt_print("often_pages", often);
	tgt_print("seldom_pages", seldom);
	tgt_print("both_pages", both);
}

static uint64_t resident_pages(void)
{
	char text[128] = "";
	FILE *statm = fopen("/proc/self/statm", "r");

	if (!statm || !fgets(text, sizeof(text), statm))
		abort();
	fclose(statm);
	return strtoull(strchr(text, ' '), NULL, 10);
}

int main(int argc, char **argv)
{
	char *mapped = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *large;

	if (mapped == MAP_FAILED)
		return 1;
	memset(mapped, 1, MAPPED);
	fill(argc > 1 ? (unsigned)atoi(argv[1]) : 0);
	large = tgt_large();
	memset(large, 1, LARGE);
	print_pages();
	tgt_print("large_pages", ((uintptr_t)large % PAGE + LARGE + PAGE - 1) /
		  PAGE);
	tgt_print("filled_bytes", (uint64_t)FILLERS * FILLER);
	tgt_print("mapped_bytes", MAPPED);
	tgt_print("resident_bytes", resident_pages() * PAGE);
	tgt_report();
	return 0;
}
