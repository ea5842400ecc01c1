/*
 * guard_block.c: see guard_block.h.
 *
 * CHECK. A hash of the block's address, its size, and the start of its memory,
 * with a secret of this process: bytes that a program copies, or leaves in
 * freed memory, are no valid header. The context is not in it, as it is stored
 * later. Its bytes are unlikely to be written by mistake: 0x80 to 0xbf, so no
 * text, no small number, no -1. The last byte, which precedes the block's first
 * byte, is always GUARD_FILL. 42 bits of the hash are left; it is compared only
 * if the magic is right.
 */
#include "preload/guard/guard_block.h"

#include <stdatomic.h>
#include <string.h>

#include "unwind/base/memory.h"

#define GUARD_PAGE 4096u

typedef uint64_t guard_word __attribute__((aligned(1), may_alias));

static struct guard_header *guard_header(uintptr_t block)
{
	return (struct guard_header *)(block - sizeof(struct guard_header));
}

static struct guard_twin *guard_twin(const struct guard_shape *shape,
				     uintptr_t block)
{
	return (struct guard_twin *)(block - shape->front);
}

/* The address at which the block is read. */
static uintptr_t guard_seen(const struct guard_shape *shape, uintptr_t block)
{
	return block + (uintptr_t)shape->copy;
}

/* The finalizer of MurmurHash3 over a sum of odd multiples. */
static uint64_t guard_check(const struct guard_shape *shape, uintptr_t block,
			    uint64_t size, uint32_t place)
{
	uint64_t x = shape->secret ^ block * UINT64_C(0x9e3779b97f4a7c15);

	x += size * UINT64_C(0xbf58476d1ce4e5b9) ^
	     (place & GUARD_PLACE_MAX) * UINT64_C(0x94d049bb133111eb);
	x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
	x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	x ^= x >> 33;
	return (x & UINT64_C(0x003f3f3f3f3f3f3f)) |
	       UINT64_C(0x0080808080808080) | (uint64_t)GUARD_FILL << 56;
}

struct guard_shape guard_shape(uint32_t zone, uint64_t secret)
{
	DEBUG_ASSERT(zone <= GUARD_ZONE_MAX);
	return (struct guard_shape){
		.zone = zone,
		.front = (uint32_t)base_round_up(
			sizeof(struct guard_twin) + zone +
				sizeof(struct guard_header), GUARD_ALIGN),
		.secret = secret,
		.readable = unwind_readable,
	};
}

uint64_t guard_bytes(const struct guard_shape *shape, uint64_t size,
		     uint64_t alignment)
{
	uint64_t all = shape->front + (uint64_t)shape->zone;

	DEBUG_ASSERT(!(alignment & (alignment - 1)));
	if (alignment > GUARD_ALIGN)
		all += alignment - GUARD_ALIGN;
	if (alignment > INT64_MAX / 2 || size > INT64_MAX - all)
		return 0;
	return size + all;
}

uintptr_t guard_place(const struct guard_shape *shape, uintptr_t memory,
		      uint64_t alignment)
{
	return base_round_up(memory + shape->front, alignment);
}

static void guard_fill(uintptr_t from, uintptr_t to)
{
	memset((void *)from, GUARD_FILL, to - from);
}

void guard_make(const struct guard_shape *shape, uintptr_t memory,
		uintptr_t block, uint64_t size, uint32_t context,
		uint8_t forks)
{
	struct guard_header *header = guard_header(block);
	struct guard_twin *twin = guard_twin(shape, block);

	DEBUG_ASSERT(block % GUARD_ALIGN == 0 &&
		     block - memory >= shape->front);
	DEBUG_ASSERT((block - memory) / GUARD_ALIGN <= GUARD_PLACE_MAX);
	*header = (struct guard_header){
		.magic = GUARD_FREED,
		.size = size,
		.context = context,
		.place = (uint32_t)((block - memory) / GUARD_ALIGN) |
			 (uint32_t)forks << 24,
		.magic_end = GUARD_MAGIC_END,
	};
	header->check = guard_check(shape, block, size, header->place);
	atomic_signal_fence(memory_order_seq_cst);
	*twin = (struct guard_twin){ GUARD_TWIN, size, context, header->place,
				     ~header->check };
	guard_fill((uintptr_t)(twin + 1), (uintptr_t)header);
	guard_fill(block + size, block + size + shape->zone);
	atomic_signal_fence(memory_order_seq_cst);
	header->magic = GUARD_MAGIC;	/* I2 */
}

/* Whether [at, block) can be read; the block's own page always can. */
static bool guard_readable(const struct guard_shape *shape, uintptr_t at,
			   uintptr_t block)
{
	uintptr_t page = block & -(uintptr_t)GUARD_PAGE;

	for (; at < page; at = (at | (GUARD_PAGE - 1)) + 1)
		if (!shape->readable(at & ~(uintptr_t)7))
			return false;
	return true;
}

/* guard_find by the header alone. */
static enum guard_state guard_by_header(const struct guard_shape *shape,
					uintptr_t block,
					struct guard_found *found)
{
	const struct guard_header *header =
		guard_header(guard_seen(shape, block));
	bool live = header->magic == GUARD_MAGIC;

	if ((!live && header->magic != GUARD_FREED) ||
	    header->magic_end != GUARD_MAGIC_END)
		return GUARD_FOREIGN;
	if (header->check !=
	    guard_check(shape, block, header->size, header->place))
		return GUARD_FOREIGN;
	*found = (struct guard_found){ header->size, header->context,
				       header->place, true };
	return live ? GUARD_LIVE : GUARD_ENDED;
}

enum guard_state guard_find(const struct guard_shape *shape, uintptr_t block,
			    struct guard_found *found)
{
	const struct guard_twin *twin =
		guard_twin(shape, guard_seen(shape, block));
	enum guard_state state;

	if (block % GUARD_ALIGN || block < shape->front ||
	    !guard_readable(shape, (uintptr_t)guard_header(block), block))
		return GUARD_FOREIGN;
	state = guard_by_header(shape, block, found);
	if (state != GUARD_FOREIGN)
		return state;
	if (!guard_readable(shape, block - shape->front, block) ||
	    twin->magic != GUARD_TWIN ||
	    twin->check !=
		    ~guard_check(shape, block, twin->size, twin->place))
		return GUARD_FOREIGN;
	*found = (struct guard_found){ twin->size, twin->context, twin->place,
				       false };
	return GUARD_LIVE;
}

/* Adds the bytes that differ of the n bytes at `at`; expected NULL:
 * GUARD_FILL. */
static BASE_SLOW void guard_count(struct guard_harm *harm, uintptr_t block,
				  uintptr_t at, const void *expected,
				  uint64_t n)
{
	const uint8_t *seen = (const uint8_t *)at, *wanted = expected;
	uint64_t i;

	for (i = 0; i < n; i++) {
		if (seen[i] == (wanted ? wanted[i] : GUARD_FILL))
			continue;
		if (!harm->bytes++)
			harm->offset = (int64_t)(at + i - block);
	}
}

/* The same, compares words first. */
static void guard_compare(struct guard_harm *harm, uintptr_t block,
			  uintptr_t at, const void *expected, uint64_t n)
{
	const guard_word *seen = (const guard_word *)at, *wanted = expected;
	uint64_t i;

	for (i = 0; i < n / sizeof(*seen); i++)
		if (unlikely(seen[i] != wanted[i]))
			guard_count(harm, block, (uintptr_t)&seen[i],
				    &wanted[i], sizeof(*seen));
}

static void guard_compare_fill(struct guard_harm *harm, uintptr_t block,
			       uintptr_t at, uintptr_t end)
{
	const uint64_t fill = UINT64_C(0x0101010101010101) * GUARD_FILL;

	DEBUG_ASSERT(at <= end);
	for (; end - at >= sizeof(fill); at += sizeof(fill))
		if (unlikely(*(const guard_word *)at != fill))
			guard_count(harm, block, at, NULL, sizeof(fill));
	if (at != end)
		guard_count(harm, block, at, NULL, end - at);
}

/* The header as guard_make wrote it. */
static struct guard_header guard_made(const struct guard_shape *shape,
				      uintptr_t block,
				      const struct guard_found *found,
				      uint64_t magic)
{
	return (struct guard_header){
		.magic = magic,
		.size = found->size,
		.context = found->context,
		.place = found->place,
		.magic_end = GUARD_MAGIC_END,
		.check = guard_check(shape, block, found->size, found->place),
	};
}

struct guard_harm guard_check_front(const struct guard_shape *shape,
				    uintptr_t block,
				    const struct guard_found *found)
{
	uintptr_t seen = guard_seen(shape, block);
	const struct guard_header *header = guard_header(seen);
	const struct guard_twin *twin = guard_twin(shape, seen);
	struct guard_header wanted = guard_made(shape, block, found,
						GUARD_MAGIC);
	const struct guard_twin other = { GUARD_TWIN, found->size,
					  found->context, found->place,
					  ~wanted.check };
	struct guard_harm harm = { 0, 0 };

	guard_compare(&harm, seen, (uintptr_t)twin, &other, sizeof(other));
	guard_compare_fill(&harm, seen, (uintptr_t)(twin + 1),
			   (uintptr_t)header);
	guard_compare(&harm, seen, (uintptr_t)header, &wanted,
		      sizeof(wanted));
	return harm;
}

struct guard_harm guard_check_rear(const struct guard_shape *shape,
				   uintptr_t block, uint64_t size)
{
	uintptr_t seen = guard_seen(shape, block);
	struct guard_harm harm = { 0, 0 };

	guard_compare_fill(&harm, seen, seen + size,
			   seen + size + shape->zone);
	return harm;
}

void guard_name(const struct guard_shape *shape, uintptr_t block,
		uint32_t context, uint8_t forks)
{
	struct guard_header *header = guard_header(block);
	struct guard_twin *twin = guard_twin(shape, block);

	header->magic = GUARD_FREED;	/* I2: it is made anew */
	atomic_signal_fence(memory_order_seq_cst);
	header->context = twin->context = context;
	header->place = twin->place = (header->place & GUARD_PLACE_MAX) |
				      (uint32_t)forks << 24;
	atomic_signal_fence(memory_order_seq_cst);
	header->magic = GUARD_MAGIC;
}

void guard_unmake(const struct guard_shape *shape, uintptr_t block,
		  const struct guard_found *found)
{
	struct guard_header *header = guard_header(block);

	if (likely(found->header))
		header->magic = GUARD_FREED;	/* I2 */
	else
		*header = guard_made(shape, block, found, GUARD_FREED);
	atomic_signal_fence(memory_order_seq_cst);
	*guard_twin(shape, block) = (struct guard_twin){ 0 };
}
