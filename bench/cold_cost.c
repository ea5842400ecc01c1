/*
 * cold_cost.c: gnomon's cost of the first capture in a module. Prints one row
 * as JSON.
 *
 *	bench-cold LIBRARY early|late
 *
 * The library is opened before the unwinder (early) or after it (late: the
 * first capture in it then also registers it). Captures start in its functions
 * without calling them: every word of the stack array is an address in _start,
 * so that for any size of the first frame, the second frame is the outermost.
 *
 *	first_ns	the first capture in the module
 *	function_ns	a function not met before, in a known module
 *	again_ns	a known function
 *	table_bytes	unwind tables made for all functions of the module
 *
 * Functions are those of the module's .eh_frame_hdr; captures start in the
 * middle of each, where most calls are. The last two times are medians of
 * groups of GROUP captures, so that reading the clock does not count. Every
 * stack is walked in full (mode off): remembered stacks are not measured here.
 *
 * I1  The array lies on the base stack, outward of the capture's own frames.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/unwinders.h"
#include "unwind/rules/rules.h"

#define COLD_GROUP 16
#define COLD_AGAIN 32		/* groups, at most: fewer than caches hold */
#define COLD_WORDS 32768		/* 256 KiB: larger frames are rare */
#define COLD_FUNCTIONS_MAX 1000000u
#define COLD_START_INTO 5	/* bytes: past the first instructions */

/* The encodings that linkers give .eh_frame_hdr and its CIEs. */
#define COLD_HDR_TABLE 0x3b	/* sdata4, relative to the header */
#define COLD_HDR_COUNT 0x03	/* udata4 */
#define COLD_HDR_FRAME 0x1b	/* sdata4, relative to itself */

extern const char _start[];

struct cold_image {
	const char *name;	/* as the loader's path ends */
	const uint8_t *hdr;
	uintptr_t *pc;		/* in the middle of each function */
	size_t count;
	size_t eh_frame_bytes;
	char path[512];
};

static uint64_t cold_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int cold_compare_ns(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int32_t cold_read(const uint8_t *at)
{
	int32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static const uint8_t *cold_relative(const uint8_t *at)
{
	return at + cold_read(at);
}

/* Records up to the one of length 0 that ends the section. */
static size_t cold_eh_frame_bytes(const uint8_t *frames)
{
	const uint8_t *at = frames;

	while (cold_read(at) != 0)
		at += 4 + (uint32_t)cold_read(at);
	return (size_t)(at - frames) + 4;
}

/* Whether the table entry's FDE is of the common form; then its middle. */
static bool cold_middle(const uint8_t *hdr, const uint8_t *entry,
			uintptr_t *pc)
{
	const uint8_t *start = hdr + cold_read(entry);
	const uint8_t *fde = hdr + cold_read(entry + 4);

	*pc = (uintptr_t)start + (uint32_t)cold_read(fde + 12) / 2;
	return cold_relative(fde + 8) == start;
}

/* Lists the functions; false if the header is of another form. */
static bool cold_list(struct cold_image *image)
{
	const uint8_t *hdr = image->hdr;
	uint32_t count, i;

	if (!hdr || hdr[0] != 1 || hdr[1] != COLD_HDR_FRAME ||
	    hdr[2] != COLD_HDR_COUNT || hdr[3] != COLD_HDR_TABLE)
		return false;
	image->eh_frame_bytes = cold_eh_frame_bytes(cold_relative(hdr + 4));
	count = (uint32_t)cold_read(hdr + 8);
	if (count == 0 || count > COLD_FUNCTIONS_MAX)
		return false;
	image->pc = malloc(count * sizeof(*image->pc));
	if (!image->pc)
		return false;
	for (i = 0; i < count; i++)
		if (cold_middle(hdr, hdr + 12 + 8 * i,
				&image->pc[image->count]))
			image->count++;
	return image->count > 2 * COLD_GROUP;
}

/* dl_iterate_phdr: finds the image by the end of its path. */
static int cold_visit(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct cold_image *image = arg;
	size_t length = strlen(info->dlpi_name);
	size_t suffix = strlen(image->name);
	unsigned i;

	(void)size;
	if (length < suffix ||
	    strcmp(info->dlpi_name + length - suffix, image->name) != 0)
		return 0;
	snprintf(image->path, sizeof(image->path), "%s", info->dlpi_name);
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
			image->hdr = (const uint8_t *)(info->dlpi_addr +
				info->dlpi_phdr[i].p_vaddr);
	return 1;
}

/* In a scattered order, the same in every run: programs do not meet functions
 * by address. */
static void cold_shuffle(struct cold_image *image)
{
	uint64_t random = 1;
	size_t i, j;

	for (i = image->count - 1; i > 0; i--) {
		uintptr_t pc = image->pc[i];

		random = random * UINT64_C(6364136223846793005) +
			 UINT64_C(1442695040888963407);
		j = (size_t)(random >> 33) % (i + 1);
		image->pc[i] = image->pc[j];
		image->pc[j] = pc;
	}
}

/* The median of groups of captures in the functions [from, to), ns for one.
 * *ended: captures that reached the outermost frame. */
static double cold_measure(const struct cold_image *image, uintptr_t stack,
			   size_t from, size_t to, uint64_t *times,
			   size_t *ended)
{
	size_t groups = (to - from) / COLD_GROUP, g, i;

	for (g = 0; g < groups; g++) {
		const uintptr_t *pc = &image->pc[from + g * COLD_GROUP];
		uint64_t start = cold_now();

		for (i = 0; i < COLD_GROUP; i++)
			*ended += unwinder_capture_from(
				pc[i], stack,
				stack + COLD_WORDS / 2 * sizeof(stack));
		times[g] = cold_now() - start;
	}
	qsort(times, groups, sizeof(*times), cold_compare_ns);
	return (double)times[groups / 2] / COLD_GROUP;
}

static __attribute__((noinline)) int cold_run(struct cold_image *image,
					      uintptr_t *stack)
{
	size_t tables = rules_bytes(), ended = 0, again = 0;
	uint64_t *times = calloc(image->count, sizeof(*times));
	uintptr_t sp = (uintptr_t)stack;
	double function_ns, again_ns;
	uint64_t first;
	size_t i, known;

	if (!times)
		return 1;
	for (i = 0; i < COLD_WORDS; i++)
		stack[i] = (uintptr_t)_start + COLD_START_INTO;
	/* What is no image's: the first capture at all, this stack's pages. */
	unwinder_capture_from((uintptr_t)cold_list, sp, sp);
	first = cold_now();
	ended += unwinder_capture_from(image->pc[0], sp,
				       sp + COLD_WORDS / 2 * sizeof(*stack));
	first = cold_now() - first;
	function_ns = cold_measure(image, sp, 1, image->count, times, &ended);
	known = image->count - 1;
	if (known > COLD_AGAIN * COLD_GROUP)
		known = COLD_AGAIN * COLD_GROUP;
	cold_measure(image, sp, 1, 1 + known, times, &again);
	again_ns = cold_measure(image, sp, 1, 1 + known, times, &again);
	printf("{\"image\":\"%s\",\"path\":\"%s\",\"functions\":%zu,"
	       "\"eh_frame_bytes\":%zu,\"table_bytes\":%zu,"
	       "\"first_ns\":%" PRIu64 ",\"function_ns\":%.1f,"
	       "\"again_ns\":%.1f,\"ended\":%.4f}\n",
	       image->name, image->path, image->count, image->eh_frame_bytes,
	       rules_bytes() - tables, first, function_ns, again_ns,
	       (double)ended / (double)image->count);
	free(times);
	free(image->pc);
	return 0;
}

int main(int argc, char **argv)
{
	const struct unwinder *unwinder = unwinder_find("gnomon-off");
	bool late = argc == 3 && strcmp(argv[2], "late") == 0;
	struct cold_image image = { .name = argc == 3 ? argv[1] : "" };
	uintptr_t stack[COLD_WORDS];	/* I1 */

	if (argc != 3) {
		fprintf(stderr, "usage: bench-cold LIBRARY early|late\n");
		return 2;
	}
	if (late && unwinder->open() != 0)
		return 77;
	if (!dlopen(image.name, RTLD_LAZY | RTLD_LOCAL)) {
		fprintf(stderr, "bench: %s\n", dlerror());
		return 77;
	}
	if (!late && unwinder->open() != 0)
		return 77;
	if (!dl_iterate_phdr(cold_visit, &image) || !cold_list(&image)) {
		fprintf(stderr, "bench: %s: no table of functions\n",
			image.name);
		return 77;
	}
	cold_shuffle(&image);
	return cold_run(&image, stack);
}
