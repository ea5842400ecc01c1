/*
 * spans.c: a treap (Seidel and Aragon, 1996): a search tree by address that is
 * a heap by random priorities, so it is balanced for any order of addresses in
 * a trace. All operations use two basic ones: splitting a tree at an address,
 * and joining two trees of which one is below the other.
 *
 * I1: spans do not overlap; start < end. I2: entry 0 of the list is no span; a
 * link to it means none.
 *
 * Called by the reader's thread.
 */
#include "cli/model/maps/spans.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "unwind/base/assertion.h"

static uint32_t next_random(struct spans *spans)
{
	/* xorshift (Marsaglia, 2003); any start but 0 */
	uint32_t x = spans->random ? spans->random : 2463534242u;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return spans->random = x;
}

static uint32_t make(struct spans *spans, uint64_t start, uint64_t end,
		     uint32_t owner, uint32_t flags)
{
	uint32_t i = spans->unused;

	if (i != 0) {
		spans->unused = spans->list[i].left;
	} else {
		if (spans->count == 0) {	/* I2 */
			GROW(spans->list, spans->count, spans->capacity);
			memset(&spans->list[spans->count++], 0,
			       sizeof(*spans->list));
		}
		GROW(spans->list, spans->count, spans->capacity);
		i = (uint32_t)spans->count++;
	}
	DEBUG_ASSERT(i != 0 && i < spans->count && start < end);
	spans->list[i] = (struct span){
		start, end, owner, flags, 0, 0, next_random(spans)
	};
	return i;
}

/* Both trees may be empty; all of `low` is below all of `high`. */
static uint32_t join(struct spans *spans, uint32_t low, uint32_t high)
{
	struct span *list = spans->list;

	if (low == 0 || high == 0)
		return low | high;
	DEBUG_ASSERT(list[low].start < list[high].start);
	if (list[low].priority > list[high].priority) {
		list[low].right = join(spans, list[low].right, high);
		return low;
	}
	list[high].left = join(spans, low, list[high].left);
	return high;
}

/* Splits by span starts: below `address`, and the rest. */
static void part(struct spans *spans, uint32_t tree, uint64_t address,
		 uint32_t *low, uint32_t *high)
{
	struct span *span = &spans->list[tree];

	if (tree == 0) {
		*low = *high = 0;
	} else if (span->start < address) {
		part(spans, span->right, address, &span->right, high);
		*low = tree;
	} else {
		part(spans, span->left, address, low, &span->left);
		*high = tree;
	}
}

struct span *spans_at(const struct spans *spans, uint64_t address)
{
	struct span *found = NULL;
	uint32_t i = spans->root;

	while (i != 0) {
		struct span *span = &spans->list[i];

		if (span->end > address) {
			found = span;
			i = span->left;
		} else {
			i = span->right;
		}
	}
	DEBUG_ASSERT(found == NULL || found->end > address);
	return found;
}

static void insert(struct spans *spans, uint32_t one)
{
	uint32_t low, high;

	part(spans, spans->root, spans->list[one].start, &low, &high);
	spans->root = join(spans, join(spans, low, one), high);
}

void spans_put(struct spans *spans, uint64_t start, uint64_t end,
	       uint32_t owner, uint32_t flags)
{
	assert(start < end && end <= SPANS_END);	/* I1 */
	DEBUG_ASSERT(spans_at(spans, start) == NULL ||
		     spans_at(spans, start)->start >= end);
	insert(spans, make(spans, start, end, owner, flags));
	spans->bytes += end - start;
	DEBUG_ASSERT((spans->count & (spans->count - 1)) ||
		     spans_is_valid(spans));
}

void spans_split(struct spans *spans, uint64_t address)
{
	struct span *span = spans_at(spans, address);
	struct span whole;

	if (span == NULL || span->start >= address)
		return;
	whole = *span;
	DEBUG_ASSERT(address < whole.end);
	span->end = address;
	insert(spans, make(spans, address, whole.end, whole.owner,
			   whole.flags));
}

static void drop(struct spans *spans, uint32_t tree,
		 void (*gone)(void *owner, const struct span *piece),
		 void *owner)
{
	struct span *span = &spans->list[tree];
	uint32_t right;

	if (tree == 0)
		return;
	drop(spans, span->left, gone, owner);
	right = span->right;
	DEBUG_ASSERT(spans->bytes >= span->end - span->start);
	spans->bytes -= span->end - span->start;
	if (gone != NULL)
		gone(owner, span);
	span->left = spans->unused;
	spans->unused = tree;
	drop(spans, right, gone, owner);
}

void spans_cut(struct spans *spans, uint64_t start, uint64_t end,
	       void (*gone)(void *owner, const struct span *piece),
	       void *owner)
{
	uint32_t low, middle, high;

	if (start >= end)
		return;
	spans_split(spans, start);
	spans_split(spans, end);
	part(spans, spans->root, start, &low, &middle);
	part(spans, middle, end, &middle, &high);
	spans->root = join(spans, low, high);
	drop(spans, middle, gone, owner);
	DEBUG_ASSERT(!spans->root == !spans->bytes);
}

struct taken {
	struct span *list;
	size_t count, capacity;
};

static void keep_piece(void *owner, const struct span *piece)
{
	struct taken *taken = owner;

	GROW(taken->list, taken->count, taken->capacity);
	taken->list[taken->count++] = *piece;
}

size_t spans_take(struct spans *spans, uint64_t start, uint64_t end,
		  struct span **pieces)
{
	struct taken taken = { 0 };

	spans_cut(spans, start, end, keep_piece, &taken);
	*pieces = taken.list;
	return taken.count;
}

void spans_free(struct spans *spans)
{
	free(spans->list);
	memset(spans, 0, sizeof(*spans));
}

#ifdef GNOMON_DEBUG_ASSERTS
/* Adds up the spans of the tree; false: some are outside of [low, high). */
static bool tree_is_valid(const struct spans *spans, uint32_t tree,
			  uint64_t low, uint64_t high, uint64_t *bytes)
{
	const struct span *span = &spans->list[tree];

	if (tree == 0)
		return true;
	if (tree >= spans->count || span->start < low || span->end > high ||
	    span->start >= span->end ||
	    (span->left && spans->list[span->left].priority > span->priority) ||
	    (span->right && spans->list[span->right].priority > span->priority))
		return false;
	*bytes += span->end - span->start;
	return tree_is_valid(spans, span->left, low, span->start, bytes) &&
	       tree_is_valid(spans, span->right, span->end, high, bytes);
}

bool spans_is_valid(const struct spans *spans)
{
	uint64_t bytes = 0;

	return spans->count == 0 ? spans->root == 0 :
	       tree_is_valid(spans, spans->root, 0, UINT64_MAX, &bytes) &&
	       bytes == spans->bytes;
}
#endif
