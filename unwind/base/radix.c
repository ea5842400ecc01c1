/*
 * radix.c: two levels, filled on demand.
 *
 *	root[]   one pointer for 4 GiB of addresses, NULL while untouched
 *	leaf[]   one number for 64 KiB
 *
 * A process touches one page of the root for the program, one for its
 * libraries, and one page of a leaf for 128 MiB of code; the remainder is only
 * address space. A binary search of the executable ranges takes 15 ns with 5
 * images, 50 with 300, as its branches are unpredictable; this takes 2 ns.
 *
 * Thread context: any thread, also signal handlers.
 *
 * I1  A leaf that the root leads to stays there.
 */
#include <stdatomic.h>
#include <stddef.h>

#include "arch.h"
#include "unwind/base/assertion.h"
#include "unwind/base/memory.h"
#include "unwind/base/radix.h"

enum {
	PAGE_SHIFT = 16,
	LEAF_BITS = 16,
	LEAF_SLOTS = 1 << LEAF_BITS,
	ROOT_SHIFT = PAGE_SHIFT + LEAF_BITS
};
#define ROOT_SLOTS ((size_t)((uint64_t)ARCH_ADDRESS_MAX >> ROOT_SHIFT) + 1)

struct radix_leaf {
	_Atomic uint16_t number[LEAF_SLOTS];
};

static _Atomic(struct radix_leaf *) *root;

void radix_init(void)
{
	root = unwind_alloc(ROOT_SLOTS * sizeof(*root));
}

static _Atomic(struct radix_leaf *) *root_slot(uintptr_t address)
{
	if (!root || address > ARCH_ADDRESS_MAX)
		return NULL;
	return &root[(uint64_t)address >> ROOT_SHIFT];
}

uint16_t radix_find(uintptr_t address)
{
	_Atomic(struct radix_leaf *) *slot = root_slot(address);
	/* Pairs with the exchange in make_leaf: it is all zero. */
	struct radix_leaf *leaf =
		slot ? atomic_load_explicit(slot, memory_order_acquire) : NULL;

	/* Pairs with the release in radix_store. */
	return leaf ? atomic_load_explicit(
			      &leaf->number[address >> PAGE_SHIFT &
					    (LEAF_SLOTS - 1)],
			      memory_order_acquire) : 0;
}

/* If two threads make one at once, one stays unused for ever. */
static struct radix_leaf *make_leaf(_Atomic(struct radix_leaf *) *slot)
{
	struct radix_leaf *leaf = unwind_alloc(sizeof(*leaf)), *other = NULL;

	if (!leaf)
		return NULL;
	return atomic_compare_exchange_strong_explicit(
		       slot, &other, leaf, memory_order_acq_rel,
		       memory_order_acquire) ? leaf : other;
}

void radix_store(uintptr_t address, uint16_t number)
{
	_Atomic(struct radix_leaf *) *slot = root_slot(address);
	struct radix_leaf *leaf;

	DEBUG_ASSERT(number != 0);
	if (!slot)
		return;
	/* As in radix_find. */
	leaf = atomic_load_explicit(slot, memory_order_acquire);
	if (!leaf)
		leaf = make_leaf(slot);
	/* Pairs with the acquire in radix_find. */
	if (leaf)
		atomic_store_explicit(&leaf->number[address >> PAGE_SHIFT &
						    (LEAF_SLOTS - 1)],
				      number, memory_order_release);
}

#ifdef GNOMON_DEBUG_ASSERTS
/* Checks one page of each leaf: most leaves use only that. */
#define VALID_SLOTS 2048

bool radix_is_valid(uint16_t most)
{
	size_t i, k;

	for (i = 0; root && i < ROOT_SLOTS; i++) {
		struct radix_leaf *leaf = atomic_load_explicit(
			&root[i], memory_order_acquire);

		for (k = 0; leaf && k < VALID_SLOTS; k++)
			if (atomic_load_explicit(&leaf->number[k],
						 memory_order_acquire) > most)
				return false;
	}
	return true;
}
#endif
