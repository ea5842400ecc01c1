/*
 * granule.c: rows of three bytes behind an index of granules.
 *
 *	table.page[]    one pointer for 64 KiB of code, NULL while untouched
 *	page.slot[]     one for 256 bytes of code: where its newest block is
 *	block           | next | first | last | rows-1 | - | ids | offsets |
 *
 * A block says what holds in one FDE's part of one granule: [first, last],
 * and rows (offset, rule number), 3 bytes each. FDEs are interpreted when
 * first asked for, one by one, so a granule that several share has a chain of
 * blocks, newest first; a new block is complete before its slot names it, and
 * nothing is ever changed or taken away after that. The rival, one block for
 * all FDEs of a granule, needs either a search for the neighbours at the
 * first touch or a copy per FDE that is never freed.
 *
 * Slots and links are distances in units of 4 bytes, so they take half the
 * room of pointers: a block costs 8 bytes and 3 a row, a granule 4. Blocks lie
 * in arenas of ARENA_BYTES. A block too far away for a link is left out.
 *
 * Readers: any thread, also signal handlers. Writers: who owns the lock.
 *
 * I1  A block that a slot or a link leads to is complete and constant.
 * I2  A block's offset[0] is its first; offsets rise.
 * I3  Links lead from newer to older blocks, so every chain ends.
 * I4  Blocks of one granule do not overlap, as valid stretches of FDEs do not
 *     (cfi.h) and the owner of the lock looks before it stores.
 */
#include <string.h>

#include "unwind/granule.h"
#include "unwind/memory.h"

enum { ARENA_BYTES = 16384, UNIT = 4 };

struct granule_page {
	_Atomic int32_t slot[GRANULE_PAGE_SLOTS];	/* from the page; 0 */
};

struct granule_block {
	int32_t next;		/* from this block; 0: none */
	uint8_t first, last;
	uint8_t rows_less_one;
	uint8_t reserved;
	uint16_t id[];		/* then the offsets, one byte each */
};
_Static_assert(sizeof(struct granule_block) == 8, "head of a block");
_Static_assert(sizeof(struct granule_page) < ARENA_BYTES &&
	       sizeof(struct granule_block) + 3 * GRANULE_BYTES < ARENA_BYTES,
	       "arenas hold the largest piece");

/* Owned by the owner of the lock. */
static uint8_t *arena;
static size_t arena_left;

static _Atomic size_t bytes_taken;
static atomic_flag lock = ATOMIC_FLAG_INIT;

bool granule_try_lock(void)
{
	/* Acquire pairs with the release in granule_unlock. */
	return !atomic_flag_test_and_set_explicit(&lock, memory_order_acquire);
}

void granule_unlock(void)
{
	atomic_flag_clear_explicit(&lock, memory_order_release);
}

void granule_reset(void)
{
	arena = NULL;
	arena_left = 0;
	atomic_store_explicit(&bytes_taken, 0, memory_order_relaxed);
	granule_unlock();
}

size_t granule_bytes(void)
{
	return atomic_load_explicit(&bytes_taken, memory_order_relaxed);
}

static void count_bytes(size_t size)
{
	atomic_fetch_add_explicit(&bytes_taken, size, memory_order_relaxed);
}

static void *take(size_t size)
{
	void *piece;

	size = (size + UNIT - 1) & ~(size_t)(UNIT - 1);
	if (size > arena_left) {
		uint8_t *fresh = unwind_alloc(ARENA_BYTES);

		if (!fresh)
			return NULL;
		arena = fresh;
		arena_left = ARENA_BYTES;
	}
	piece = arena;
	arena += size;
	arena_left -= size;
	count_bytes(size);
	return piece;
}

void granule_table_init(struct granule_table *table, uintptr_t start,
			uintptr_t end)
{
	table->start = start & ~(uintptr_t)(GRANULE_PAGE_BYTES - 1);
	table->pages = 0;
	table->page = NULL;
	if (end <= start)
		return;
	table->pages = (end - 1 - table->start) / GRANULE_PAGE_BYTES + 1;
	if (table->pages <= GRANULE_PAGES_MAX)
		table->page = unwind_alloc(table->pages * sizeof(table->page[0]));
	if (!table->page)
		table->pages = 0;
	else
		count_bytes(table->pages * sizeof(table->page[0]));
}

/* The last row at or before the offset: a binary search whose steps are
 * conditional moves, as which way they go cannot be predicted. */
static uint16_t find_row(const struct granule_block *block, uint8_t offset)
{
	unsigned int count = block->rows_less_one + 1u, low = 0;
	const uint8_t *offsets = (const uint8_t *)(block->id + count);

	while (count > 1) {
		unsigned int half = count / 2;

		low += offsets[low + half] <= offset ? half : 0;
		count -= half;
	}
	return block->id[low];
}

static const struct granule_block *block_at(const void *from, int32_t units)
{
	const uint8_t *address = (const uint8_t *)from + (intptr_t)units * UNIT;

	return (const struct granule_block *)address;
}

/* Pairs with the release in publish: what is behind the slot is complete. */
static int32_t load_slot(struct granule_page *page, size_t granule)
{
	return atomic_load_explicit(
		&page->slot[granule % GRANULE_PAGE_SLOTS],
		memory_order_acquire);
}

static struct granule_page *load_page(const struct granule_table *table,
				      size_t number)
{
	/* Pairs with the release in granule_begin. */
	return atomic_load_explicit(&table->page[number],
				    memory_order_acquire);
}

uint16_t granule_find(const struct granule_table *table, uintptr_t pc)
{
	uintptr_t distance = pc - table->start;
	const struct granule_block *block;
	struct granule_page *page;
	uint8_t offset = (uint8_t)(distance % GRANULE_BYTES);
	int32_t slot;

	if (distance / GRANULE_PAGE_BYTES >= table->pages)
		return 0;
	page = load_page(table, distance / GRANULE_PAGE_BYTES);
	if (!page)
		return 0;
	slot = load_slot(page, distance / GRANULE_BYTES);
	if (slot == 0)
		return 0;
	for (block = block_at(page, slot);; block = block_at(block, slot)) {
		if (offset >= block->first && offset <= block->last)
			return find_row(block, offset);
		slot = block->next;
		if (slot == 0)
			return 0;
	}
}

bool granule_begin(struct granule_writer *w, const struct granule_table *table,
		   uintptr_t pc, uintptr_t start, uintptr_t end)
{
	uintptr_t number = (pc - table->start) / GRANULE_PAGE_BYTES;
	uintptr_t page_start = table->start + number * GRANULE_PAGE_BYTES;

	if (pc < table->start || number >= table->pages)
		return false;
	w->page = load_page(table, number);
	if (!w->page) {
		w->page = take(sizeof(*w->page));
		if (!w->page)
			return false;
		/* Pairs with the acquire in load_page; it is all zero. */
		atomic_store_explicit(&table->page[number], w->page,
				      memory_order_release);
	}
	w->table = table;
	w->start = start > page_start ? start : page_start;
	w->end = end - page_start < GRANULE_PAGE_BYTES ?
			 end : page_start + GRANULE_PAGE_BYTES;
	w->rows = 0;
	return true;
}

/* Distance in units; 0 where it does not fit. */
static int32_t distance_to(const void *from, const void *to)
{
	int64_t units = ((intptr_t)to - (intptr_t)from) / UNIT;

	return units == (int32_t)units ? (int32_t)units : 0;
}

/* The rows at hand become a block at the head of the granule's chain. */
static void publish(struct granule_writer *w)
{
	size_t number = (w->granule - w->table->start) / GRANULE_BYTES;
	int32_t old = load_slot(w->page, number), slot;
	unsigned int rows = w->rows;
	struct granule_block *block;

	w->rows = 0;
	if (rows == 0)
		return;
	block = take(sizeof(*block) + 3 * rows);
	if (!block)
		return;
	slot = distance_to(w->page, block);
	block->next = old ? distance_to(block, block_at(w->page, old)) : 0;
	if (slot == 0 || (old && block->next == 0))
		return;
	block->first = w->first;
	block->last = w->last;
	block->rows_less_one = (uint8_t)(rows - 1);
	memcpy(block->id, w->id, rows * sizeof(w->id[0]));
	memcpy(block->id + rows, w->offset, rows);
	/* Pairs with the acquire in load_slot. */
	atomic_store_explicit(&w->page->slot[number % GRANULE_PAGE_SLOTS], slot,
			      memory_order_release);
}

/* A row that lies in one granule. */
static void add_row(struct granule_writer *w, uintptr_t granule, uint8_t first,
		    uint8_t last, uint16_t id)
{
	if (w->rows == 0 || w->granule != granule) {
		publish(w);
		w->granule = granule;
		w->first = first;
	}
	w->last = last;
	if (w->rows > 0 && w->id[w->rows - 1] == id)
		return;
	w->offset[w->rows] = first;
	w->id[w->rows] = id;
	w->rows++;
}

void granule_row(struct granule_writer *w, uintptr_t start, uintptr_t end,
		 uint16_t id)
{
	if (start < w->start)
		start = w->start;
	if (end > w->end)
		end = w->end;
	while (start < end) {
		uintptr_t granule = start & ~(uintptr_t)(GRANULE_BYTES - 1);
		uintptr_t last = granule + (GRANULE_BYTES - 1);

		if (last > end - 1)
			last = end - 1;
		add_row(w, granule, (uint8_t)(start - granule),
			(uint8_t)(last - granule), id);
		start = last + 1;
	}
}

void granule_end(struct granule_writer *w)
{
	publish(w);
}
