/*
 * granule.c: stores rows of two or three bytes, reached through an index of
 * granules.
 *
 *	table.page[]    one pointer for 64 KiB of code, NULL while untouched
 *	page.slot[]     for each 256 bytes of code:
 *	                0                  nothing is stored
 *	                id << 2 | 1        one rule for the whole granule
 *	                distance << 2 | n  else its newest block, from the page
 *	block           | first | last | wide, rows-1 | older | offsets | ids |
 *
 * A block holds the rules of one FDE's part of one granule, [first, last], as
 * rows (offset, rule id). FDEs are interpreted one by one when first requested,
 * so a granule that several share has a chain of blocks, newest first. A new
 * block is complete before its slot refers to it; nothing is ever changed or
 * removed after that.
 *
 * Memory is the aim: this must take less than the tables it is made from. Half
 * of all granules lie within one rule and need no block. A block has the
 * distance (4 bytes) to an older block only if there is one, which the
 * reference to the block says (n: 2, else 0). Its first row needs no offset.
 * Its ids take one byte each if all are small, as ids of common rules, which
 * occur first, mostly are. Nothing is aligned. So a row takes 2 or 3 bytes, a
 * block 2 or 6, a granule 4.
 *
 * The alternative, one block for all FDEs of a granule, is a tenth smaller. But
 * then an FDE's first use must interpret its neighbours too, and a cold lookup
 * takes three times as many instructions.
 *
 * Blocks lie in arenas of ARENA_BYTES. A block too far away for a reference is
 * left out.
 *
 * Readers: any thread, also signal handlers. Writers: the owner of the lock.
 *
 * I1  A block that a slot or a link leads to is complete and constant.
 * I2  A block's rows begin at first; offsets rise.
 * I3  Links lead from newer to older blocks, so every chain ends.
 * I4  Where blocks of one granule overlap they agree: in the valid range of an
 *     FDE (cfi.h) one rule holds, whichever pc was requested.
 */
#include <string.h>

#include "unwind/base/assertion.h"
#include "unwind/base/memory.h"
#include "unwind/rules/granule.h"

enum {
	ARENA_BYTES = 8192,
	PAGE_ALIGN = 4,
	/* Low bits of a reference: a rule id; a block with an older one. */
	NAME_ID = 1,
	NAME_CHAINED = 2,
	NAME_SHIFT = 2,
	DISTANCE_MAX = 1 << (31 - NAME_SHIFT),
	/* In a block: the number of rows, and a flag for wide ids. */
	ROWS_MAX = GRANULE_ROWS_MAX,
	ROWS_MASK = ROWS_MAX - 1,
	WIDE = ROWS_MAX,
	NARROW_ID_MAX = 255
};
_Static_assert((ROWS_MASK | WIDE) == 255, "both in one byte");

struct granule_page {
	_Atomic uint32_t slot[GRANULE_PAGE_SLOTS];
};

struct granule_block {
	uint8_t first, last;
	uint8_t rows;		/* less one; WIDE */
	/* The reference to the older block, if there is one; the offsets of all
	 * rows but the first; the ids of all rows. */
	uint8_t rest[];
};
_Static_assert(sizeof(struct granule_block) == 3, "head of a block");
_Static_assert(sizeof(struct granule_page) < ARENA_BYTES &&
	       8 + 3 * ROWS_MAX < ARENA_BYTES,
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

static void *take(size_t size, size_t align)
{
	size_t past = (uintptr_t)arena & (align - 1);
	void *piece;

	ASSERT(size <= ARENA_BYTES && arena_left <= ARENA_BYTES);
	past = past ? align - past : 0;
	if (size + past > arena_left) {
		uint8_t *fresh = unwind_alloc(ARENA_BYTES);

		if (!fresh)
			return NULL;
		arena = fresh;
		arena_left = ARENA_BYTES;
		past = 0;
		count_bytes(ARENA_BYTES);
	}
	ASSERT(size + past <= arena_left && !(align & (align - 1)));
	piece = arena + past;
	arena += size + past;
	arena_left -= size + past;
	return piece;
}

void granule_table_init(struct granule_table *table, uintptr_t start,
			uintptr_t end)
{
	*table = (struct granule_table){
		.start = start & ~(uintptr_t)(GRANULE_BYTES - 1),
	};
	if (end <= start || end > UINTPTR_MAX - GRANULE_BYTES)
		return;
	table->granules = (end - 1 - table->start) / GRANULE_BYTES + 1;
	table->pages = (table->granules - 1) / GRANULE_PAGE_SLOTS + 1;
	if (table->pages <= GRANULE_PAGES_MAX)
		table->page = unwind_alloc(table->pages * sizeof(table->page[0]));
	if (!table->page)
		table->granules = table->pages = 0;
	else
		count_bytes(table->pages * sizeof(table->page[0]));
	ASSERT(table->start % GRANULE_BYTES == 0 &&
	       table->pages <= GRANULE_PAGES_MAX &&
	       table->granules <= table->pages * GRANULE_PAGE_SLOTS);
}

/* The last row at or before the offset: a binary search with conditional moves,
 * as its branches would be unpredictable. */
static uint16_t find_row(const struct granule_block *block,
			 const uint8_t *offsets, uint8_t offset)
{
	unsigned int count = (block->rows & ROWS_MASK) + 1u, low = 0;
	const uint8_t *ids = offsets + count - 1;
	uint16_t id;

	while (count > 1) {
		unsigned int half = count / 2;

		low += offsets[low + half - 1] <= offset ? half : 0;
		count -= half;
	}
	DEBUG_ASSERT(low <= (block->rows & ROWS_MASK));
	DEBUG_ASSERT(!low || offsets[low - 1] <= offset);	/* I2 */
	if (!(block->rows & WIDE))
		return ids[low];
	__builtin_memcpy(&id, ids + low * sizeof(id), sizeof(id));
	return id;
}

/* Pairs with the release in publish: the slot's block is complete. */
static uint32_t load_slot(struct granule_page *page, size_t granule)
{
	return atomic_load_explicit(
		&page->slot[granule % GRANULE_PAGE_SLOTS],
		memory_order_acquire);
}

static struct granule_page *load_page(const struct granule_table *table,
				      size_t number)
{
	DEBUG_ASSERT(number < table->pages);
	/* Pairs with the release in granule_begin. */
	return atomic_load_explicit(&table->page[number],
				    memory_order_acquire);
}

/* Searches a chain of blocks; `from`: the address that the reference is
 * relative to. */
static bool find_in_blocks(const void *from, uint32_t name, uint8_t offset,
			   uint16_t *id)
{
	const struct granule_block *block;

	for (;; from = block) {
		const uint8_t *rows;
		bool chained = name & NAME_CHAINED;

		block = (const void *)((const uint8_t *)from +
				       ((int32_t)name >> NAME_SHIFT));
		rows = block->rest + (chained ? sizeof(name) : 0);
		/* I1 */
		DEBUG_ASSERT(block != from && block->first <= block->last);
		if (offset >= block->first && offset <= block->last) {
			*id = find_row(block, rows, offset);
			return true;
		}
		if (!chained)
			return false;
		__builtin_memcpy(&name, block->rest, sizeof(name));
	}
}

bool granule_find(const struct granule_table *table, uintptr_t pc,
		  uint16_t *id)
{
	size_t granule = (pc - table->start) / GRANULE_BYTES;
	struct granule_page *page;
	uint32_t slot;

	if (pc < table->start || granule >= table->granules)
		return false;
	page = load_page(table, granule / GRANULE_PAGE_SLOTS);
	if (!page)
		return false;
	slot = load_slot(page, granule);
	if (slot & NAME_ID) {
		*id = (uint16_t)(slot >> NAME_SHIFT);
		return true;
	}
	return slot && find_in_blocks(page, slot,
				      (uint8_t)(pc % GRANULE_BYTES), id);
}

/* The size of a page; the table's last one may have fewer slots. */
static size_t page_bytes(const struct granule_table *table, size_t number)
{
	size_t slots = table->granules - number * GRANULE_PAGE_SLOTS;

	if (slots > GRANULE_PAGE_SLOTS)
		slots = GRANULE_PAGE_SLOTS;
	return slots * sizeof(((struct granule_page *)0)->slot[0]);
}

bool granule_begin(struct granule_writer *w, const struct granule_table *table,
		   uintptr_t pc, uintptr_t start, uintptr_t end)
{
	size_t granule = (pc - table->start) / GRANULE_BYTES;
	size_t number = granule / GRANULE_PAGE_SLOTS;
	uintptr_t page_start = table->start + number * GRANULE_PAGE_BYTES;
	uintptr_t table_end = table->start + table->granules * GRANULE_BYTES;

	if (pc < table->start || granule >= table->granules)
		return false;
	w->page = load_page(table, number);
	if (!w->page) {
		w->page = take(page_bytes(table, number), PAGE_ALIGN);
		if (!w->page)
			return false;
		/* Pairs with the acquire in load_page; it is all zero. */
		atomic_store_explicit(&table->page[number], w->page,
				      memory_order_release);
	}
	if (table_end - page_start > GRANULE_PAGE_BYTES)
		table_end = page_start + GRANULE_PAGE_BYTES;
	w->table = table;
	w->start = start > page_start ? start : page_start;
	w->end = end < table_end ? end : table_end;
	w->rows = 0;
	DEBUG_ASSERT(w->start <= w->end &&
		     w->end - w->start <= GRANULE_PAGE_BYTES);
	return true;
}

/* A reference without its low bits, which the caller adds; 0: too far. */
static uint32_t name_block(const void *from, const void *to)
{
	int64_t distance = (intptr_t)to - (intptr_t)from;

	DEBUG_ASSERT(distance != 0);
	if (distance >= DISTANCE_MAX || distance < -DISTANCE_MAX)
		return 0;
	return (uint32_t)distance << NAME_SHIFT;
}

/* Bytes of each id of the collected rows. */
static size_t id_bytes(const struct granule_writer *w)
{
	unsigned int i;

	DEBUG_ASSERT(w->rows <= ROWS_MAX);
	for (i = 0; i < w->rows; i++)
		if (w->id[i] > NARROW_ID_MAX)
			return sizeof(w->id[0]);
	return 1;
}

/* Stores offsets and ids of the collected rows. */
static void put_rows(const struct granule_writer *w, uint8_t *to, bool wide)
{
	unsigned int i;

	DEBUG_ASSERT(w->rows > 0 && w->rows <= ROWS_MAX);
	memcpy(to, w->offset + 1, w->rows - 1);
	to += w->rows - 1;
	if (wide)
		memcpy(to, w->id, w->rows * sizeof(w->id[0]));
	else
		for (i = 0; i < w->rows; i++)
			to[i] = (uint8_t)w->id[i];
}

/* Makes a block of the collected rows in front of older ones; its reference, or
 * 0. */
static uint32_t make_block(struct granule_writer *w, uint32_t old)
{
	size_t link = old ? sizeof(old) : 0, wide = id_bytes(w);
	struct granule_block *block;
	uint32_t name, older_name;

	DEBUG_ASSERT(!(old & NAME_ID));
	block = take(sizeof(*block) + link + w->rows - 1 + w->rows * wide, 1);
	if (!block)
		return 0;
	name = name_block(w->page, block);
	if (name == 0)
		return 0;
	DEBUG_ASSERT(!(name & (NAME_ID | NAME_CHAINED)));
	if (old) {
		older_name = name_block(block,
					(const uint8_t *)w->page +
						((int32_t)old >> NAME_SHIFT));
		if (older_name == 0)
			return 0;
		older_name |= old & NAME_CHAINED;
		memcpy(block->rest, &older_name, link);
		name |= NAME_CHAINED;
	}
	block->first = w->first;
	block->last = w->last;
	block->rows = (uint8_t)((w->rows - 1) | (wide > 1 ? WIDE : 0));
	put_rows(w, block->rest + link, wide > 1);
	return name;
}

#ifdef GNOMON_DEBUG_ASSERTS
bool granule_writer_is_valid(const struct granule_writer *w)
{
	unsigned int i;

	if (w->rows > ROWS_MAX || w->first > w->last || w->granule < w->table->start ||
	    w->granule % GRANULE_BYTES || w->granule >= w->end)
		return false;
	for (i = 1; i < w->rows; i++)
		if (w->offset[i] <= w->offset[i - 1] || w->offset[i] > w->last)
			return false;
	return true;
}
#endif

/* Publishes the collected rows. */
static void publish(struct granule_writer *w)
{
	size_t number = (w->granule - w->table->start) / GRANULE_BYTES;
	uint32_t old, name;

	if (w->rows == 0)
		return;
	DEBUG_ASSERT(granule_writer_is_valid(w));
	DEBUG_ASSERT(number < w->table->granules);
	old = load_slot(w->page, number);
	if (old & NAME_ID) {
		w->rows = 0;
		return;		/* the granule is stored already (I4) */
	}
	if (w->rows == 1 && w->first == 0 && w->last == GRANULE_BYTES - 1)
		name = (uint32_t)w->id[0] << NAME_SHIFT | NAME_ID;
	else
		name = make_block(w, old);
	w->rows = 0;
	/* Pairs with the acquire in load_slot. */
	if (name)
		atomic_store_explicit(
			&w->page->slot[number % GRANULE_PAGE_SLOTS], name,
			memory_order_release);
}

/* Adds a row that lies in one granule. */
static void add_row(struct granule_writer *w, uintptr_t granule, uint8_t first,
		    uint8_t last, uint16_t id)
{
	bool same = w->rows > 0 && w->granule == granule;

	DEBUG_ASSERT(first <= last && (!same || first == w->last + 1));
	if (same && w->id[w->rows - 1] == id) {
		w->last = last;
		return;
	}
	if (!same || w->rows == ROWS_MAX) {
		publish(w);
		w->granule = granule;
		w->first = first;
	}
	DEBUG_ASSERT(w->rows < ROWS_MAX);
	w->last = last;
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
