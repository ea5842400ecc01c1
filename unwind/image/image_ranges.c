/*
 * image_ranges.c: the table of all images' executable ranges.
 *
 *	| sorted ...      | in order of arrival | room |
 *	0              sorted              count
 *
 * A lookup scans the newer ranges, then searches the sorted ones. A full array
 * is replaced by a larger one, and the old one is left in place: readers may be
 * using it. All arrays together take a few times the bytes of the last one.
 *
 * A radix tree precedes the array: it holds, for each 64 KiB of addresses, the
 * image that was last found there. If pc lies in that image's code and the
 * image is still mapped, that is the result.
 *
 * I1  A range does not change after a count that covers it was published.
 *     Ranges of unmapped images stay; the image's `gone` marks them.
 */
#include <elf.h>
#include <stdatomic.h>

#include "unwind/base/assertion.h"
#include "unwind/base/memory.h"
#include "unwind/base/radix.h"
#include "unwind/image/image_ranges.h"

#define SPARE 32	/* room for later images */

struct range {
	uintptr_t start, end;
	const struct image *image;
};

struct range_table {
	uint32_t sorted, room;
	_Atomic uint32_t count;
	struct range range[];
};

static struct {
	const struct image *images;
	uint32_t known;		/* images whose ranges are in the table */
	_Atomic(struct range_table *) table;
} ranges;

void image_ranges_init(const struct image *images)
{
	ranges.images = images;
	ranges.known = 0;
	atomic_store_explicit(&ranges.table, NULL, memory_order_relaxed);
	radix_init();
}

static void insert_sorted(struct range_table *t, struct range r)
{
	uint32_t i = t->sorted++;

	for (; i > 0 && t->range[i - 1].start > r.start; i--)
		t->range[i] = t->range[i - 1];
	t->range[i] = r;
	DEBUG_ASSERT(i == 0 || t->range[i - 1].start <= r.start);
}

/* The next executable range of an image, from segment *n on. */
static bool next_range(const struct image *image, uint32_t *n,
		       struct range *r)
{
	const struct gl_image *g = image->public;

	DEBUG_ASSERT(g->segments <= GL_SEGMENTS_MAX);
	while (!image_is_gone(image) && *n < g->segments) {
		const struct gl_segment *s = &g->segment[(*n)++];

		*r = (struct range){ s->start, s->start + s->size, image };
		if (s->flags & PF_X)
			return true;
	}
	return false;
}

/* Makes a new array of all ranges, sorted, with room for a quarter more. */
static void make_ranges(uint32_t count)
{
	uint32_t i, j, n = 0;
	struct range_table *t;
	struct range r;

	ASSERT(ranges.known <= count);
	for (i = 0; i < count; i++)
		for (j = 0; next_range(&ranges.images[i], &j, &r);)
			n++;
	n += SPARE + n / 4;
	t = unwind_alloc(sizeof(*t) + n * sizeof(struct range));
	if (!t)
		return;
	t->room = n;
	/* The kernel maps top-down, so this order is nearly sorted. */
	for (i = count; i-- > 0;)
		for (j = 0; next_range(&ranges.images[i], &j, &r);)
			if (ASSERT(t->sorted < t->room))
				insert_sorted(t, r);
	DEBUG_ASSERT(t->sorted + SPARE <= t->room);
	atomic_store_explicit(&t->count, t->sorted, memory_order_relaxed);
	/* Pairs with the acquire in search_ranges. */
	atomic_store_explicit(&ranges.table, t, memory_order_release);
	ranges.known = count;
}

/* False: no room for all the ranges of the image; some may be there. */
static bool append_ranges(struct range_table *t, const struct image *image)
{
	uint32_t j = 0, n = atomic_load_explicit(&t->count,
						 memory_order_relaxed);
	struct range r;

	ASSERT(n >= t->sorted && n <= t->room);
	while (next_range(image, &j, &r)) {
		if (n == t->room)
			return false;
		t->range[n++] = r;
		/* Pairs with the acquire in search_ranges. */
		atomic_store_explicit(&t->count, n, memory_order_release);
	}
	return true;
}

void image_ranges_publish(uint32_t count)
{
	struct range_table *t = atomic_load_explicit(&ranges.table,
						     memory_order_relaxed);

	ASSERT(ranges.known <= count);
	while (t && ranges.known < count) {
		if (!append_ranges(t, &ranges.images[ranges.known]))
			break;
		ranges.known++;
	}
	if (!t || ranges.known < count)
		make_ranges(count);
	DEBUG_ASSERT(image_ranges_is_valid());
	DEBUG_ASSERT(count > UINT16_MAX || radix_is_valid((uint16_t)count));
}

void image_ranges_again(const struct image *image, uint32_t count)
{
	struct range_table *t = atomic_load_explicit(&ranges.table,
						     memory_order_relaxed);

	ASSERT(image >= ranges.images && image < ranges.images + count);
	/* A duplicate of its ranges does no harm. */
	if (!t || !append_ranges(t, image))
		make_ranges(count);
}

static const struct image *search_ranges(uintptr_t pc)
{
	/* Pairs with the release in make_ranges. */
	const struct range_table *t =
		atomic_load_explicit(&ranges.table, memory_order_acquire);
	uint32_t lo = 0, hi = t ? t->sorted : 0, i;

	/* Pairs with the release in append_ranges. */
	i = t ? atomic_load_explicit(&t->count, memory_order_acquire) : 0;
	DEBUG_ASSERT(!t || (t->sorted <= i && i <= t->room));
	while (i-- > hi)
		if (pc >= t->range[i].start && pc < t->range[i].end &&
		    !image_is_gone(t->range[i].image))
			return t->range[i].image;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (pc >= t->range[mid].end)
			lo = mid + 1;
		else
			hi = mid;
	}
	DEBUG_ASSERT(lo == hi && (!t || lo <= t->sorted));
	if (t && lo < t->sorted && pc >= t->range[lo].start &&
	    !image_is_gone(t->range[lo].image))
		return t->range[lo].image;
	return NULL;
}

const struct image *image_ranges_find(uintptr_t pc)
{
	/* The image was complete when its number was stored. */
	uint16_t number = radix_find(pc);
	const struct image *image;

	if (number) {
		image = &ranges.images[number - 1];
		if (pc - image->code_start <
			    image->code_end - image->code_start &&
		    !image_is_gone(image))
			return image;
	}
	image = search_ranges(pc);
	DEBUG_ASSERT(!image || image - ranges.images < UINT16_MAX);
	if (image)
		radix_store(pc, (uint16_t)(image - ranges.images + 1));
	return image;
}

#ifdef GNOMON_DEBUG_ASSERTS
bool image_ranges_is_valid(void)
{
	const struct range_table *t = atomic_load_explicit(
		&ranges.table, memory_order_acquire);
	uint32_t i, count = t ? atomic_load_explicit(&t->count,
						     memory_order_acquire) : 0;

	if (t && (t->sorted > count || count > t->room))
		return false;
	for (i = 0; i < count; i++) {
		const struct range *r = &t->range[i];

		if (r->start > r->end || r->image < ranges.images ||
		    (i && i < t->sorted && r->start < r[-1].start))
			return false;
	}
	return true;
}
#endif
