/*
 * area.c: a bump allocator over anonymous mappings, which are added on demand,
 * since address space may be limited, too.
 *
 *	piece 0:	| struct producer | struct area | places … | blocks … | free … |
 *	piece 1, …:	| blocks … | free … |
 *
 * A block comes from the first piece that has room for it. A piece has a fixed
 * share of the size of all pieces before it, so that there are few; a larger
 * table gets its own piece.
 *
 * Once tables are in use (area_set_budget), blocks of AREA_HALF and more start with
 * a huge page: one fault instead of 512. Other blocks fill the rest of it.
 *
 * I1: each piece is private, anonymous and MADV_WIPEONFORK before it is in the
 * list. A child finds struct area zeroed, and starts again at area_first. I2:
 * the list is static, is only appended to, and an entry is one word: a child
 * knows the pieces that it inherits.
 */
#include "preload/ring/area.h"

#include <errno.h>
#include <string.h>

#include "preload/base/ban.h"
#include "preload/base/sys.h"
#include "preload/ring/producer.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

#define AREA_PIECE (UINT64_C(16) << 20)	/* the first piece; enough for most
					 * programs */
#define AREA_PART 2		/* a later piece has 1 / AREA_PART of all
				 * before */
#define AREA_LEAST (UINT64_C(4) << 20)	/* the first piece, under a limit */
#define AREA_LARGE (UINT64_C(2) << 20)	/* a huge page */
#define AREA_HALF (AREA_LARGE / 2)	/* least size of a block that gets
					 * one */

/* An entry of the list: number of the first page, and count of pages. */
#define AREA_PAGE_BITS 12
#define AREA_COUNT_BITS 28

struct producer *producer;
struct area *area;
static _Atomic uint64_t area_list[GL_AREA_PIECES];	/* 0 ends it */
static uint64_t area_most;
static uint64_t area_first;	/* start of blocks in the first piece */

static char *area_at(uint64_t entry)
{
	return (char *)(uintptr_t)(entry >> AREA_COUNT_BITS << AREA_PAGE_BITS);
}

static uint64_t area_bytes(uint64_t entry)
{
	return (entry & ((UINT64_C(1) << AREA_COUNT_BITS) - 1))
	       << AREA_PAGE_BITS;
}

static uint64_t area_entry(unsigned i)
{
	/* pairs with the exchange of area_add: the piece is there */
	return i < GL_AREA_PIECES ?
		       atomic_load_explicit(&area_list[i],
					    memory_order_acquire) : 0;
}

/* Bytes of all pieces so far. */
static uint64_t area_mapped(void)
{
	uint64_t sum = 0, entry;
	unsigned i;

	for (i = 0; (entry = area_entry(i)); i++)
		sum += area_bytes(entry);
	return sum;
}

/* Maps a piece: its entry for the list, or -errno. */
static int64_t area_map_piece(uint64_t size)
{
	long at = sys_mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (sys_failed(at))
		return at;
	if (sys_madvise((void *)at, size, MADV_WIPEONFORK)) {
		sys_munmap((void *)at, size);
		return -ENOSYS;
	}
	/* core dumps are for the program's memory; a refusal only makes them
	 * larger */
	sys_madvise((void *)at, size, MADV_DONTDUMP);
	ASSERT(size >> AREA_PAGE_BITS >> AREA_COUNT_BITS == 0);
	return (int64_t)((uint64_t)at >> AREA_PAGE_BITS << AREA_COUNT_BITS |
			 size >> AREA_PAGE_BITS);
}

/* Maps a smaller piece if address space is limited (ulimit -v). */
static int64_t area_map_about(uint64_t size, uint64_t least)
{
	int64_t entry;

	for (;;) {
		entry = area_map_piece(size);
		if (entry != -ENOMEM || size <= least)
			return entry;
		size = base_max(base_round_up(size / 2, GL_PAGE), least);
	}
}

int area_map(uint64_t size_bytes)
{
	uint64_t size = base_min(base_round_up(size_bytes, GL_PAGE),
				 AREA_PIECE);
	int64_t entry = area_map_about(size, base_min(size, AREA_LEAST));

	if (entry < 0 && entry > -4096)
		return (int)entry;
	area_most = base_max(size_bytes, size);
	area_first = base_round_up(sizeof(*producer), BASE_LINE);
	producer = (struct producer *)area_at((uint64_t)entry);
	area = area_place(sizeof(*area));
	atomic_store_explicit(&area_list[0], (uint64_t)entry,
			      memory_order_release);
	return 0;
}

void *area_place(size_t size_bytes)
{
	char *place = (char *)producer + area_first;

	/* I2: blocks start after all places */
	ASSERT(!area || (!area->used &&
			 area_first + size_bytes <= area_bytes(area_entry(0))));
	area_first += base_round_up(size_bytes, BASE_LINE);
	return place;
}

uint64_t area_used(void)
{
	return area_first + atomic_load_explicit(&area->used,
						 memory_order_relaxed);
}

static uint64_t area_limit(void)
{
	return area->limit ? area->limit : area_most;
}

void area_set_budget(uint64_t budget)
{
	uint64_t used = area_used();

	area->limit = base_min(used + budget, area_most);
	area->spare = (area->limit - used) / 4;
	ASSERT(area->limit >= used);
}

static void area_report(void)
{
	struct gl_shared *shared = producer->shared;
	uint64_t used;

	if (!shared)
		return;
	/* the thread that stores it reads again, so that the last value is
	 * right */
	do {
		used = area_used();
		atomic_store_explicit(&shared->area_used, used,
				      memory_order_seq_cst);
		atomic_thread_fence(memory_order_seq_cst);
	} while (used != area_used());
}

static void area_report_piece(struct gl_shared *shared, unsigned i)
{
	struct area_range range;

	if (shared && area_piece(i, &range))
		gl_own_put(&shared->own[i], (uintptr_t)range.at, range.bytes);
}

void area_report_pieces(struct gl_shared *shared)
{
	struct area_range range;
	unsigned i;

	for (i = 0; area_piece(i, &range); i++)
		area_report_piece(shared, i);
}

/* Adds the i-th entry, which was just 0, with at least `need` bytes; 0: there
 * is no memory. */
static uint64_t area_add(unsigned i, uint64_t need)
{
	uint64_t least = base_round_up(need, GL_PAGE), there = area_mapped();
	uint64_t size = base_min(there / AREA_PART,
				 there < area_most ? area_most - there : 0);
	uint64_t found = 0;
	int64_t entry;

	if (!unwind_may(SECCOMP_NO_GROWTH))
		return 0;
	DEBUG_ASSERT(i > 0 && i < GL_AREA_PIECES);
	size = base_max(base_round_up(size, GL_PAGE), least);
	/* newer kernels align a mapping whose size is a multiple of huge
	 * pages */
	if (need >= AREA_HALF)
		size = base_round_up(size, AREA_LARGE);
	entry = area_map_about(size, least);
	if (entry < 0 && entry > -4096)
		return 0;
	/* pairs with the acquire of area_entry */
	if (!atomic_compare_exchange_strong_explicit(
		    &area_list[i], &found, (uint64_t)entry,
		    memory_order_acq_rel, memory_order_acquire)) {
		/* another thread was faster */
		sys_munmap(area_at((uint64_t)entry),
			   area_bytes((uint64_t)entry));
		return found;
	}
	area_report_piece(producer->shared, i);
	return (uint64_t)entry;
}

/* The offset of a new block in the i-th piece, of which `taken` bytes are used.
 * Requests huge pages if the block fills at least half of one. */
static uint64_t area_start(unsigned i, uint64_t entry, uint64_t taken,
			   uint64_t need)
{
	uintptr_t at = (uintptr_t)area_at(entry);
	uint64_t start = base_round_up(at + taken, AREA_LARGE) - at;
	uint64_t bytes = (need + AREA_HALF) & ~(AREA_LARGE - 1);

	if (!area->limit || need < AREA_HALF ||
	    taken + need <= atomic_load_explicit(&area->large[i],
						 memory_order_relaxed) ||
	    start + base_max(need, bytes) > area_bytes(entry))
		return taken;
	if (unwind_may(SECCOMP_NO_GROWTH) &&
	    !sys_madvise((void *)(uintptr_t)(at + start), bytes, MADV_HUGEPAGE))
		atomic_store_explicit(&area->large[i], start + bytes,
				      memory_order_relaxed);
	return start;
}

static void *area_bump(unsigned i, uint64_t entry, uint64_t need)
{
	uint64_t taken = atomic_load_explicit(&area->taken[i],
					      memory_order_relaxed);
	uint64_t start;

	do {
		start = area_start(i, entry, taken || i ? taken : area_first, need);
		if (need > area_bytes(entry) ||
		    start > area_bytes(entry) - need)
			return NULL;
	} while (!atomic_compare_exchange_weak_explicit(
		&area->taken[i], &taken, start + need, memory_order_relaxed,
		memory_order_relaxed));
	DEBUG_ASSERT(start % BASE_LINE == 0);
	return area_at(entry) + start;
}

static void *area_take(uint64_t need)
{
	void *block = NULL;
	unsigned i;

	for (i = 0; !block && i < GL_AREA_PIECES; i++) {
		uint64_t entry = area_entry(i);

		if (!entry)
			entry = area_add(i, need);
		if (!entry)
			break;
		block = area_bump(i, entry, need);
	}
	return block;
}

/* Charges `need` bytes to the limit. */
static bool area_charge(uint64_t need)
{
	uint64_t most = area_limit() - area_first;
	uint64_t used = atomic_load_explicit(&area->used,
					     memory_order_relaxed);

	do {
		if (need > most || used > most - need)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(
		&area->used, &used, used + need, memory_order_seq_cst,
		memory_order_relaxed));
	return true;
}

void *area_alloc(size_t size_bytes)
{
	uint64_t need = base_round_up(size_bytes, BASE_LINE);
	void *block;

	if (need < size_bytes || !area_charge(need))
		return NULL;
	block = area_take(need);
	if (!block)
		atomic_fetch_sub_explicit(&area->used, need,
					  memory_order_seq_cst);
	area_report();
	DEBUG_ASSERT(area_is_valid());
	return block;
}

void area_fill(void)
{
	uint64_t there = area_mapped(), limit;
	unsigned i = 0;

	if (!area)
		return;		/* nothing is recorded */
	limit = area_limit();
	while (area_entry(i))
		i++;
	if (i < GL_AREA_PIECES && there < limit)
		area_add(i, limit - there);
}

bool area_scarce(void)
{
	return area_used() + area->spare > area_limit();
}

bool area_piece(unsigned i, struct area_range *range)
{
	uint64_t entry = area_entry(i), taken;

	if (!entry)
		return false;
	taken = atomic_load_explicit(&area->taken[i], memory_order_relaxed);
	*range = (struct area_range){
		.at = area_at(entry),
		.bytes = area_bytes(entry),
		.taken = i ? taken : base_max(taken, area_first),
	};
	return true;
}

void area_wipe(void)
{
	struct area_range range;
	unsigned i = 0;

	/* the first piece last: it has the state of all pieces */
	while (area_piece(i, &range))
		i++;
	while (i--)
		/* MADV_DONTNEED fails on locked memory */
		if (area_piece(i, &range) &&
		    sys_madvise(range.at, range.bytes, MADV_DONTNEED))
			memset(range.at, 0, range.taken);
}

#ifdef GNOMON_DEBUG_ASSERTS
bool area_is_valid(void)
{
	uint64_t used = area_used();
	struct area_range range;
	unsigned i;

	for (i = 0; area_piece(i, &range); i++)
		if (range.taken > range.bytes || range.taken % BASE_LINE)
			return false;
	return i && area_first % BASE_LINE == 0 &&
	       area_first >= sizeof(*producer) && used % BASE_LINE == 0 &&
	       used <= area_limit();
}
#endif
