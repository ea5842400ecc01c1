/*
 * guard_sweep.c: see guard_sweep.h.
 *
 * Only present pages are checked: a page that was never written has no blocks,
 * and reading it would make the kernel allocate one. The kernel's page map says
 * which are present. Under an emulator the page map has the emulator's
 * addresses, in its host's byte order. There mincore is used, which does not
 * know swapped pages and refuses the emulator's own memory.
 *
 * Blocks are aligned to GUARD_ALIGN. So one word of each GUARD_ALIGN bytes is
 * compared with the start of a header, and one with that of a twin. A block is
 * identified by its header, or by its twin if the header is damaged.
 *
 * Other threads may unmap memory at any time, and free blocks. So memory is
 * copied first, some pages at a time, by unwind_copy, which cannot fault; parts
 * of a block outside of the copy are copied per block. Copies may be of
 * different moments, so damage in a copy is verified in newer copies:
 *
 *	count of moves ─▶ header ─▶ zones ─▶ the same count ─▶ damage
 *	                    └─ not live: it was freed meanwhile
 *
 * I1: damage of a block is reported only after two successive looks found it,
 * with the counter unchanged between the begin and the end of each. I2: one
 * such look could be wrong: a thread read `watched` before the sweep started,
 * and changes the block now. That happens at most once per block, as the next
 * thread that gets the block increments the counter.
 */
#include "preload/guard/guard_sweep.h"

#include "preload/base/sys.h"
#include "preload/guard/guard.h"
#include "unwind/base/memory.h"

#define SWEEP_PAGE 4096u
#define SWEEP_ENTRIES 512u	/* page map entries read at a time */
#define SWEEP_PRESENT (UINT64_C(1) << 63)
#define SWEEP_SWAPPED (UINT64_C(1) << 62)
/* Most address space of a mapping: more than any heap maps at once, less than
 * some programs reserve (reading their page map would take minutes). */
#define SWEEP_MAPPING_MAX (UINT64_C(256) << 30)
#define SWEEP_COPY (64u << 10)	/* bytes at a time: fits into caches */
#define SWEEP_LOOKS 64		/* limit for a block that keeps changing */

/* Mapped for a sweep: stacks may be small, in particular those of handlers. */
struct sweep_room {
	uint64_t bytes;		/* of this struct */
	struct gl_range part[GUARD_SWEEP_PART];
	uint64_t entries[SWEEP_ENTRIES];
	_Alignas(SWEEP_PAGE) uint8_t copy[SWEEP_COPY];
	uint8_t block[];	/* shape->front and shape->zone bytes */
};

enum sweep_state {
	SWEEP_NONE,		/* not a live block, or unreadable */
	SWEEP_SOUND,
	SWEEP_HARMED
};

struct sweep_block {
	struct guard_found found;
	struct guard_harm front, rear;
};

bool guard_sweep_open(struct guard_sweep *sweep)
{
	uint64_t bytes = sizeof(struct sweep_room) + sweep->shape->front +
			 sweep->shape->zone;

	sweep->room = NULL;
	sweep->from = sweep->to = 0;
	sweep->pages = (int)sys_open("/proc/thread-self/pagemap",
				     O_RDONLY | O_CLOEXEC, 0);
	if (sweep->pages >= 0)
		sweep->room = sys_map_pages(bytes);
	if (sweep->room)
		sweep->room->bytes = bytes;
	else
		guard_sweep_close(sweep);
	return sweep->room;
}

void guard_sweep_close(struct guard_sweep *sweep)
{
	if (sweep->room)
		sys_munmap(sweep->room, sweep->room->bytes);
	if (sweep->pages >= 0)
		sys_close(sweep->pages);
	sweep->room = NULL;
	sweep->pages = -1;
}

struct gl_range *guard_sweep_part(struct guard_sweep *sweep)
{
	return sweep->room->part;
}

/* `readable` of a complete copy. */
static bool sweep_copied(uintptr_t address)
{
	(void)address;
	return true;
}

/*
 * Gets a copy of [at, at + n): the existing one, or a new one at `room` (always
 * if `anew`). *copy: as in struct guard_shape.
 */
static bool sweep_see(const struct guard_sweep *sweep, uintptr_t at,
		      uint64_t n, uint8_t *room, bool anew, intptr_t *copy)
{
	DEBUG_ASSERT(sweep->to - sweep->from <= SWEEP_COPY);
	if (!anew && at >= sweep->from && at + n <= sweep->to) {
		*copy = (intptr_t)((uintptr_t)sweep->room->copy - sweep->from);
		return true;
	}
	*copy = (intptr_t)((uintptr_t)room - at);
	return unwind_copy(room, at, n) == n;
}

static bool sweep_find(const struct guard_sweep *sweep,
		       struct guard_shape *shape, uintptr_t block, bool header,
		       bool anew, struct guard_found *found)
{
	return block >= shape->front &&
	       sweep_see(sweep, block - shape->front, shape->front,
			 sweep->room->block, anew, &shape->copy) &&
	       guard_find(shape, block, found) == GUARD_LIVE &&
	       found->header == header;
}

/* One look. Anew: the header is copied before the zones, as a block is complete
 * once its header says that it is live. */
static enum sweep_state sweep_scan(const struct guard_sweep *sweep,
				   uintptr_t block, bool header, bool anew,
				   struct sweep_block *seen)
{
	struct guard_shape shape = *sweep->shape;
	uint8_t *room = sweep->room->block;
	uintptr_t end;

	shape.readable = sweep_copied;
	if (!sweep_find(sweep, &shape, block, header, anew, &seen->found) ||
	    (anew && !sweep_see(sweep, block - shape.front, shape.front, room,
				true, &shape.copy)))
		return SWEEP_NONE;
	seen->front = guard_check_front(&shape, block, &seen->found);
	seen->rear = (struct guard_harm){ 0, 0 };
	end = block + seen->found.size;
	if (sweep_see(sweep, end, shape.zone, room + shape.front, anew,
		      &shape.copy))
		seen->rear = guard_check_rear(&shape, block, seen->found.size);
	return seen->front.bytes || seen->rear.bytes ? SWEEP_HARMED :
						       SWEEP_SOUND;
}

static uint32_t sweep_moved(const struct guard_sweep *sweep, uintptr_t block)
{
	/* pairs with guard_moves, which precedes the change of the block */
	return sweep->moves ?
		       atomic_load_explicit(guard_moves_of(sweep->moves, block),
					    memory_order_seq_cst) : 0;
}

/* Whether the damage is confirmed (I1, I2). */
static bool sweep_is_harmed(struct guard_sweep *sweep, uintptr_t block,
			    bool header, struct sweep_block *seen)
{
	unsigned looks, sure = 0;

	for (looks = 0; looks < SWEEP_LOOKS && sure < 2; looks++) {
		uint32_t before = sweep_moved(sweep, block);

		if (sweep_scan(sweep, block, header, true, seen) !=
		    SWEEP_HARMED)
			return false;
		sure = sweep_moved(sweep, block) == before ? sure + 1 : 0;
	}
	if (sure < 2)
		sweep->skipped += seen->found.size;
	return sure == 2;
}

static void sweep_block(struct guard_sweep *sweep, uintptr_t block,
			bool header)
{
	struct sweep_block seen;
	enum sweep_state state = sweep_scan(sweep, block, header, false,
					    &seen);

	if (state == SWEEP_NONE)
		return;
	sweep->blocks++;
	if (state == SWEEP_SOUND ||
	    !sweep_is_harmed(sweep, block, header, &seen))
		return;
	if (seen.front.bytes)
		sweep->report(sweep->owner, block, &seen.found, seen.front);
	if (seen.rear.bytes)
		sweep->report(sweep->owner, block, &seen.found, seen.rear);
}

/* Searches the copy. */
static void sweep_copy(struct guard_sweep *sweep)
{
	/* the word of each GUARD_ALIGN bytes in which a header begins */
	const uintptr_t odd = GUARD_ALIGN -
			      sizeof(struct guard_header) % GUARD_ALIGN;
	const uint8_t *copy = sweep->room->copy;
	uintptr_t at;

	for (at = sweep->from; at < sweep->to; at += GUARD_ALIGN) {
		const uint8_t *here = copy + (at - sweep->from);

		if (unlikely(*(const uint64_t *)(here + odd) == GUARD_MAGIC))
			sweep_block(sweep,
				    at + odd + sizeof(struct guard_header),
				    true);
		if (unlikely(*(const uint64_t *)here == GUARD_TWIN))
			sweep_block(sweep, at + sweep->shape->front, false);
	}
}

/* Skips pages that cannot be read (any more). */
static void sweep_range(struct guard_sweep *sweep, uintptr_t start,
			uintptr_t end)
{
	while (start < end) {
		uint64_t n = base_min(end - start, SWEEP_COPY);
		uint64_t got = unwind_copy(sweep->room->copy, start, n);

		got -= got % SWEEP_PAGE;
		DEBUG_ASSERT(got <= n && got % SWEEP_PAGE == 0);
		sweep->from = start;
		sweep->to = start + got;
		sweep_copy(sweep);
		start += got < n ? got + SWEEP_PAGE : n;
		if (sweep->steps)
			atomic_fetch_add_explicit(sweep->steps, 1,
						  memory_order_relaxed);
	}
	sweep->from = sweep->to = 0;
}

/* Sweeps the present pages of `count` pages, in runs. */
static void sweep_pages(struct guard_sweep *sweep, uintptr_t start, long count)
{
	const uint64_t *entries = sweep->room->entries;
	long first, i = 0;

	DEBUG_ASSERT(count <= (long)SWEEP_ENTRIES);
	while (i < count) {
		first = i;
		while (i < count &&
		       entries[i] & (SWEEP_PRESENT | SWEEP_SWAPPED))
			i++;
		sweep_range(sweep, start + (uintptr_t)first * SWEEP_PAGE,
			    start + (uintptr_t)i * SWEEP_PAGE);
		i += i == first;
	}
}

/* Queries which of `count` pages from `start` on are present; returns for how
 * many. */
static long sweep_read_pages(const struct guard_sweep *sweep, uintptr_t start,
			     uint64_t count)
{
	struct sweep_room *room = sweep->room;
	uint64_t i;
	long got;

	DEBUG_ASSERT(count <= SWEEP_ENTRIES);
	if (likely(!unwind_emulated)) {
		got = arch_pread(sweep->pages, room->entries,
				 count * sizeof(*room->entries),
				 (uint64_t)start / SWEEP_PAGE *
					 sizeof(*room->entries));
		return sys_failed(got) ? 0 :
					 got / (long)sizeof(*room->entries);
	}
	/* a byte per page, in the buffer of the later copy */
	got = arch_syscall3(__NR_mincore, (long)start,
			    (long)(count * SWEEP_PAGE), (long)room->copy);
	for (i = 0; i < count; i++)
		room->entries[i] = !sys_failed(got) && room->copy[i] & 1 ?
					   SWEEP_PRESENT : 0;
	return (long)count;
}

void guard_sweep_scan(void *opened, struct gl_range range)
{
	struct guard_sweep *sweep = opened;
	uintptr_t start = range.start, end = range.end;
	uint64_t size = end - start;
	long got;

	if (size > SWEEP_MAPPING_MAX) {
		sweep->skipped += size;
		return;
	}
	while (start < end) {
		uint64_t count = base_min(SWEEP_ENTRIES,
					  (end - start) / SWEEP_PAGE);

		got = sweep_read_pages(sweep, start, count);
		if (!got) {
			sweep->skipped += end - start;
			return;
		}
		sweep_pages(sweep, start, got);
		start += (uintptr_t)got * SWEEP_PAGE;
	}
}
