/*
 * live_map.c: see live_map.h.
 *
 * The target has no descriptor of the live file. A shared mapping can be
 * duplicated without one: mremap with an old size of 0 maps the same file
 * again, from a given page on, with a given size. So the page before a piece,
 * which is mapped with the piece before it, gives access to it:
 *
 *	piece i - 1:	| … | last page |
 *	                          │ mremap(last page, 0, page + size)
 *	piece i:	          | last page | piece i … |
 *	                                      ^ at[i]
 *
 * The new mapping inherits the exclusion from children and from core dumps.
 *
 * Where that is impossible (emulators, system call filters), and where readers
 * of a core dump expect the complete file at one address, everything is mapped
 * from the start.
 *
 * I1: at[i] is set once, when the piece and all pieces before it are mapped.
 * I2: all of this is static: a forked child knows where its parent's mapping
 * was, until it starts its own recorder (fork_copy.c).
 */
#include "preload/ring/live_map.h"

#include <errno.h>
#include <sys/mman.h>

#include "preload/base/ban.h"
#include "preload/base/sys.h"
#include "preload/ring/producer.h"

struct live_map_region {
	uint64_t offset, size;	/* of the region in the file */
	uint64_t first;		/* bytes of the first piece */
	_Atomic uintptr_t at[GL_PIECES];
};

static struct live_map_region live_map[LIVE_REGIONS];
/* The page before each region. */
static struct live_range live_map_before[LIVE_REGIONS];
static bool live_map_whole;

/* Offset of the i-th piece in the region, at most the region's size. */
static uint64_t live_map_start(const struct live_map_region *region,
			       unsigned i)
{
	return base_min(gl_piece_start(region->first, i), region->size);
}

static uint64_t live_map_size(const struct live_map_region *region, unsigned i)
{
	return live_map_start(region, i + 1) - live_map_start(region, i);
}

static void live_map_find(const struct gl_header *h,
			  struct live_map_region region[LIVE_REGIONS])
{
	region[LIVE_NODES].offset = h->nodes_offset;
	region[LIVE_NODES].size = h->rings_offset - h->nodes_offset;
	region[LIVE_NODES].first = GL_NODES_FIRST;
	region[LIVE_DATA].offset = h->data_offset;
	region[LIVE_DATA].size = h->size - h->data_offset;
	region[LIVE_DATA].first = GL_DATA_FIRST;
}

/* Maps [at, at + size) again; a part of the range is not mapped yet. */
static long live_map_again(uintptr_t at, uint64_t size)
{
	return sys_mremap((void *)at, 0, size, MREMAP_MAYMOVE);
}

static void live_map_cut_region(const struct gl_header *live,
				const struct live_map_region *region)
{
	uint64_t keep = live_map_start(region, 1);

	if (keep < region->size)
		sys_munmap((char *)live + region->offset + keep,
			   region->size - keep);
}

bool live_map_cut(const struct gl_header *live)
{
	struct live_map_region region[LIVE_REGIONS];
	unsigned which;
	long at;

	if (!unwind_may(SECCOMP_NO_GROWTH))
		return false;
	at = live_map_again((uintptr_t)live, GL_PAGE);
	if (sys_failed(at))
		return false;
	sys_munmap((void *)at, GL_PAGE);
	live_map_find(live, region);
	for (which = 0; which < LIVE_REGIONS; which++)
		live_map_cut_region(live, &region[which]);
	return true;
}

/* The i-th piece with the page before it. */
static struct live_range live_map_range(enum live_region which, unsigned i)
{
	const struct live_map_region *region = &live_map[which];
	uintptr_t at = atomic_load_explicit(&region->at[i],
					    memory_order_acquire);
	uint64_t lead = i && !live_map_whole ? GL_PAGE : 0;

	if (!at)
		return (struct live_range){ NULL, 0 };
	return (struct live_range){ (char *)at - lead,
				    live_map_size(region, i) + lead };
}

static void live_map_report_range(struct gl_shared *shared, unsigned slot,
				  struct live_range range)
{
	if (shared && range.bytes)
		gl_own_put(&shared->own[GL_AREA_PIECES + slot],
			   (uintptr_t)range.at, range.bytes);
}

static void live_map_report(struct gl_shared *shared, enum live_region which,
			    unsigned i)
{
	live_map_report_range(shared, LIVE_REGIONS + which * GL_PIECES + i,
			      live_map_range(which, i));
}

static void live_map_put(struct live_map_region *region,
			 const struct gl_header *live, bool whole)
{
	unsigned i;

	for (i = 0; i < GL_PIECES; i++) {
		bool there = live_map_size(region, i) && (whole || !i);

		atomic_store_explicit(
			&region->at[i],
			there ? (uintptr_t)live + region->offset +
					live_map_start(region, i) : 0,
			memory_order_release);
	}
}

void live_map_begin(struct gl_header *live, bool whole)
{
	struct gl_shared *shared = (struct gl_shared *)((char *)live +
							live->shared_offset);
	uint64_t table = live->rings_offset;
	unsigned which, i;

	live_map_whole = whole;
	live_map_find(live, live_map);
	live_map_before[LIVE_NODES] = (struct live_range){
		(char *)live, live->nodes_offset
	};
	live_map_before[LIVE_DATA] = (struct live_range){
		(char *)live + table, live->data_offset - table
	};
	for (which = 0; which < LIVE_REGIONS; which++) {
		live_map_put(&live_map[which], live, whole);
		live_map_report_range(shared, which, live_map_before[which]);
		for (i = 0; i < GL_PIECES; i++)
			live_map_report(shared, which, i);
	}
}

void live_map_forget(void)
{
	unsigned which, i;

	for (which = 0; which < LIVE_REGIONS; which++) {
		live_map_before[which].bytes = 0;
		for (i = 0; i < GL_PIECES; i++)
			atomic_store_explicit(&live_map[which].at[i], 0,
					      memory_order_relaxed);
	}
}

/* Maps the i-th piece, which was just missing, by the last page of the piece
 * before it (I1). */
static uintptr_t live_map_add(enum live_region which, unsigned i,
			      uintptr_t before)
{
	struct live_map_region *region = &live_map[which];
	uint64_t size = live_map_size(region, i);
	uintptr_t lead = before + live_map_size(region, i - 1) - GL_PAGE;
	uintptr_t found = 0;
	long at;

	DEBUG_ASSERT(i > 0 && before);
	if (!size || !unwind_may(SECCOMP_NO_GROWTH))
		return 0;
	at = live_map_again(lead, GL_PAGE + size);
	if (sys_failed(at))
		return 0;
	/* pairs with the acquire of live_map_piece */
	if (!atomic_compare_exchange_strong_explicit(
		    &region->at[i], &found, (uintptr_t)at + GL_PAGE,
		    memory_order_acq_rel, memory_order_acquire)) {
		/* another thread was faster */
		sys_munmap((void *)at, GL_PAGE + size);
		return found;
	}
	live_map_report(producer->shared, which, i);
	return (uintptr_t)at + GL_PAGE;
}

void *live_map_piece(enum live_region which, unsigned i)
{
	struct live_map_region *region = &live_map[which];
	uintptr_t at = 0, before = 0;
	unsigned k;

	if (i >= GL_PIECES)
		return NULL;
	at = atomic_load_explicit(&region->at[i], memory_order_acquire);
	for (k = 0; !at && k <= i; k++) {
		uintptr_t one = atomic_load_explicit(&region->at[k],
						     memory_order_acquire);

		if (!one && before)
			one = live_map_add(which, k, before);
		if (!one)
			return NULL;
		before = one;
		at = k == i ? one : 0;
	}
	return (void *)at;
}

void *live_map_data(uint64_t offset)
{
	const struct live_map_region *region = &live_map[LIVE_DATA];
	uint64_t byte = offset - region->offset;
	unsigned piece;
	char *at;

	if (offset < region->offset || byte >= region->size)
		return NULL;
	piece = gl_piece_of(region->first, byte);
	at = live_map_piece(LIVE_DATA, piece);
	return at ? at + (byte - live_map_start(region, piece)) : NULL;
}

struct gl_thread *live_map_thread(const struct gl_shared *shared,
				  uint32_t ring)
{
	struct gl_thread *threads =
		live_map_data(shared->threads[ring / GL_THREADS]);

	DEBUG_ASSERT(ring < GL_RINGS_MAX);
	return threads ? threads + ring % GL_THREADS : NULL;
}

void live_map_fill(void)
{
	unsigned which;

	/* maps all existing pieces; beyond them it fails */
	for (which = 0; which < LIVE_REGIONS; which++)
		live_map_piece(which, GL_PIECES - 1);
}

/* Appends a range to `count` others, or merges it with the last one if
 * adjacent. Returns the new count. */
static unsigned live_map_join(struct live_range *to, unsigned count,
			      struct live_range range)
{
	if (!range.bytes)
		return count;
	if (count && to[count - 1].at + to[count - 1].bytes == range.at) {
		to[count - 1].bytes += range.bytes;
		return count;
	}
	DEBUG_ASSERT(count < GL_LIVE_RANGES);
	to[count] = range;
	return count + 1;
}

unsigned live_map_ranges(struct live_range to[GL_LIVE_RANGES])
{
	unsigned count = 0, which, i;

	for (which = 0; which < LIVE_REGIONS; which++) {
		count = live_map_join(to, count, live_map_before[which]);
		for (i = 0; i < GL_PIECES; i++)
			count = live_map_join(to, count,
					      live_map_range(which, i));
	}
	return count;
}
