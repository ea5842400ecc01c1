/*
 * hardware_stack.c: see hardware_stack.h.
 *
 * A context depends on the return addresses alone. Frames equal to the last
 * capture's, counted from the outermost, therefore have the same contexts; only
 * those further in are looked up in the tree. Comparing costs less than 0.3 ns
 * a frame: there are no slots to follow, just two arrays of words.
 *
 * Some entries are no return addresses: a signal's token (ARCH_SHADOW_DATA),
 * and the token by which an inactive hardware shadow stack can be entered again
 * (its own address; removed while the stack is in use). If a capture finds one,
 * it falls back to a walk: the interrupted pc is in the signal frame on the
 * ordinary stack.
 *
 * I1  copy, hash and context are valid for `count` frames, outermost first, and
 *     every context among them is a node.
 * I2  [lo, end) was readable. It still is: the kernel unmaps a thread's own
 *     hardware shadow stack after the thread's end.
 */
#include "unwind/hardware_stack.h"

#include "unwind/base/assertion.h"
#include "unwind/base/context.h"
#include "unwind/base/memory.h"

#define HARDWARE_PAGE 4096u
#define HARDWARE_OWN_MAX 16u	/* our own entries, inward of the hook's */
#define HARDWARE_FIRST 64u
#define HARDWARE_FRAMES_MAX (1u << 20)	/* as for walks */
#define HARDWARE_BYTES_MAX (HARDWARE_FRAMES_MAX * sizeof(uint64_t))
#define HARDWARE_FRAME_BYTES (2 * sizeof(uint64_t) + sizeof(uint32_t))

void hardware_forget(struct hardware_stack *h)
{
	h->count = 0;
}

void hardware_reset(struct hardware_stack *h)
{
	h->lo = h->floor = 0;
	h->end = NULL;
	h->fresh = 0;
	hardware_forget(h);
}

struct hardware_stack *hardware_new(void)
{
	return unwind_alloc(sizeof(struct hardware_stack));
}

size_t hardware_bytes(const struct hardware_stack *h)
{
	return sizeof(*h) + h->capacity * HARDWARE_FRAME_BYTES;
}

static uintptr_t page_of(const uint64_t *entry)
{
	return (uintptr_t)entry & ~(uintptr_t)(HARDWARE_PAGE - 1);
}

const uint64_t *hardware_end(struct hardware_stack *h, const uint64_t *top)
{
	uintptr_t at = (uintptr_t)top, end = (uintptr_t)h->end;

	if (at >= end || at < h->floor || at % sizeof(*top) ||
	    end - at > HARDWARE_BYTES_MAX)
		return NULL;
	while (at < h->lo) {
		if (!unwind_readable(h->lo - HARDWARE_PAGE)) {
			h->floor = h->lo;
			return NULL;
		}
		h->lo -= HARDWARE_PAGE;
	}
	DEBUG_ASSERT(h->lo <= at && h->lo % HARDWARE_PAGE == 0);	/* I2 */
	return h->end;
}

/* Reads an entry while the end is not known. */
static bool read_entry(const uint64_t *entry, uintptr_t *proven,
		       uint64_t *value)
{
	if (page_of(entry) != *proven) {
		if (!unwind_readable((uintptr_t)entry))
			return false;
		*proven = page_of(entry);
	}
	*value = *entry;
	return true;
}

void hardware_learn(struct hardware_stack *h, const uint64_t *top,
		    uintptr_t ra, uint32_t context)
{
	const uint64_t *entry = top;
	uintptr_t proven = 0;
	uint64_t value;
	unsigned own;

	if (!top || (uintptr_t)top % sizeof(*top) || hardware_end(h, top))
		return;
	for (own = 0; own < HARDWARE_OWN_MAX; own++, entry++) {
		if (!read_entry(entry, &proven, &value))
			return;
		if (value == ra)
			break;
	}
	if (own == HARDWARE_OWN_MAX || context < GT_STOP_COUNT)
		return;
	for (; context >= GT_STOP_COUNT; entry++) {
		const struct gl_node *node = context_node(context);

		/* as in context_trail_step */
		if (!read_entry(entry, &proven, &value) ||
		    value != node->address || node->parent >= context)
			return;
		context = node->parent;
	}
	if (context != GT_STOP_BOTTOM)
		return;
	hardware_reset(h);
	h->lo = page_of(top);
	h->end = entry;
	DEBUG_ASSERT(h->lo < (uintptr_t)h->end);
	DEBUG_ASSERT(hardware_is_valid(h));
}

static void copy_words(uint64_t *to, const uint64_t *from, uint32_t n)
{
	while (n-- > 0)
		*to++ = *from++;
}

/* Makes room for n frames. The new arrays are one allocation; old ones are
 * never freed, but together they are smaller than the new ones. */
static bool make_room(struct hardware_stack *h, uint32_t n)
{
	uint32_t capacity = h->capacity ? h->capacity : HARDWARE_FIRST, i;
	uint64_t *copy, *hash;
	uint32_t *context;

	DEBUG_ASSERT(h->count <= h->capacity);	/* I1 */
	if (n <= h->capacity)
		return true;
	while (capacity < n)
		capacity *= 2;
	copy = unwind_alloc(capacity * HARDWARE_FRAME_BYTES);
	if (!copy)
		return false;
	ASSERT(capacity >= n && !(capacity & (capacity - 1)));
	hash = copy + capacity;
	context = (uint32_t *)(hash + capacity);
	copy_words(copy + capacity - h->count,
		   h->copy + h->capacity - h->count, h->count);
	copy_words(hash, h->hash, h->count);
	for (i = 0; i < h->count; i++)
		context[i] = h->context[i];
	h->copy = copy;
	h->hash = hash;
	h->context = context;
	h->capacity = capacity;
	DEBUG_ASSERT(hardware_bytes(h) >= n * HARDWARE_FRAME_BYTES);
	return true;
}

static uint64_t four_differ(const uint64_t *a, const uint64_t *b)
{
	return (a[-1] ^ b[-1]) | (a[-2] ^ b[-2]) | (a[-3] ^ b[-3]) |
	       (a[-4] ^ b[-4]);
}

/* How many of the outermost frames equal the last capture's. */
static uint32_t count_unchanged(const struct hardware_stack *h,
				const uint64_t *end, uint32_t n)
{
	const uint64_t *own = h->copy + h->capacity;
	uint32_t max = n < h->count ? n : h->count, k = 0;

	while (max - k >= 4 && !four_differ(end - k, own - k))
		k += 4;
	while (k < max && end[-1 - (long)k] == own[-1 - (long)k])
		k++;
	DEBUG_ASSERT(k <= max);
	return k;
}

/* Whether a call can have pushed the value. */
static bool is_return(uint64_t value, const uint64_t *top, const uint64_t *end)
{
	if (value == 0 || value > ARCH_ADDRESS_MAX)
		return false;	/* also ARCH_SHADOW_DATA */
	/* a token points just behind itself, with low bits set */
	return value < (uintptr_t)top ||
	       value > ((uintptr_t)end | (sizeof(*end) - 1));
}

/* The context of frames from..n - 1, without remembering them. */
static uint32_t context_only(const uint64_t *end, uint32_t from, uint32_t n,
			     uint64_t hash, uint32_t parent)
{
	DEBUG_ASSERT(from <= n && parent < context_count());
	for (; from < n; from++) {
		uintptr_t address = end[-1 - (long)from];

		hash = context_hash(hash, address);
		parent = context_child(parent, address, hash, true);
	}
	return parent;
}

/* Remembers frames from..n - 1, for which there is room. */
static uint32_t remember(struct hardware_stack *h, const uint64_t *end,
			 uint32_t from, uint32_t n)
{
	const struct context_table *table = context_newest();
	uint32_t parent = from ? h->context[from - 1] : GT_STOP_BOTTOM, i;
	uint64_t hash = from ? h->hash[from - 1] :
			       context_hash_root(GT_STOP_BOTTOM);
	uint64_t *copy = h->copy + h->capacity;

	DEBUG_ASSERT(from <= h->count && from < n && n <= h->capacity);
	DEBUG_ASSERT(!from || parent >= GT_STOP_COUNT);	/* I1 */
	for (i = from; i < n; i++) {
		copy[-1 - (long)i] = end[-1 - (long)i];
		hash = context_hash(hash, end[-1 - (long)i]);
		context_prefetch(table, hash);
		h->hash[i] = hash;
	}
	h->count = from;
	for (i = from; i < n; i++) {
		parent = context_child(parent, end[-1 - (long)i], h->hash[i],
				       true);
		h->context[i] = parent;
		/* I1: a frame without a node is not remembered */
		if (parent >= GT_STOP_COUNT && h->count == i)
			h->count++;
	}
	DEBUG_ASSERT(h->count <= n);
	/* rarely, as it checks each frame */
	DEBUG_ASSERT(h->count % 16 || hardware_is_valid(h));
	return parent;
}

#ifdef GNOMON_DEBUG_ASSERTS
bool hardware_is_valid(const struct hardware_stack *h)
{
	uint32_t i;

	if (h->count > h->capacity || (h->end && h->lo > (uintptr_t)h->end) ||
	    h->lo % HARDWARE_PAGE || (h->floor && h->floor != h->lo))
		return false;
	for (i = 0; i < h->count; i++)
		if (h->context[i] < GT_STOP_COUNT ||
		    context_node(h->context[i])->address !=
			    h->copy[h->capacity - 1 - i] ||
		    (i && context_node(h->context[i])->parent !=
				  h->context[i - 1]))
			return false;	/* I1 */
	return true;
}
#endif

uint32_t hardware_capture(struct hardware_stack *h, const uint64_t *top,
			  const uint64_t *end, uintptr_t ra, bool *ok)
{
	uint32_t n, from, i;
	unsigned own = 0;

	*ok = false;
	while (top < end && *top != ra && own++ < HARDWARE_OWN_MAX)
		top++;
	if (top >= end || *top != ra || (size_t)(end - top) > HARDWARE_FRAMES_MAX)
		return 0;
	n = (uint32_t)(end - top);
	from = count_unchanged(h, end, n);
	DEBUG_ASSERT(from <= n && from <= h->count);
	for (i = from; i < n; i++)
		if (!is_return(end[-1 - (long)i], top, end))
			return 0;
	*ok = true;
	h->fresh = n - from;
	if (!make_room(h, n))
		return context_only(end, from, n,
				    from ? h->hash[from - 1] :
					   context_hash_root(GT_STOP_BOTTOM),
				    from ? h->context[from - 1] :
					   GT_STOP_BOTTOM);
	if (from == n)	/* frames further in may come back */
		return h->context[n - 1];
	return remember(h, end, from, n);
}
