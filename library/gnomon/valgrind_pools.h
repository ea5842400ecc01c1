/*
 * gnomon/valgrind_pools.h: the client requests by which a program tells Valgrind of
 * its pools, so that they tell gnomon. C and C++.
 *
 * To be included in place of <valgrind/valgrind.h> and <valgrind/memcheck.h>,
 * or after them: then what is below is gnomon's, and all other requests are
 * Valgrind's still.
 *
 * Pools and superblocks that hold them are heaps (gnomon/gnomon.h): of the name
 * GNOMON_VALGRIND_POOL, "mempool" if that is not defined before. What a program
 * says is like malloc's (VALGRIND_MALLOCLIKE_BLOCK) is in a heap "malloclike".
 * Red zones and what is zeroed are Valgrind's business.
 */
#ifndef GNOMON_VALGRIND_POOLS_H
#define GNOMON_VALGRIND_POOLS_H

#include <gnomon/gnomon.h>

#ifndef GNOMON_VALGRIND_POOL
#define GNOMON_VALGRIND_POOL "mempool"
#endif

/* What a program that speaks of blocks as of malloc's means by them. */
static inline uint32_t gnomon_valgrind_malloclike(void)
{
	static uint32_t heap;
	uint32_t known = __atomic_load_n(&heap, __ATOMIC_RELAXED);

	if (!known && gnomon_loaded()) {
		known = gnomon_heap_create("malloclike");
		__atomic_store_n(&heap, known, __ATOMIC_RELAXED);
	}
	return known;
}

#undef VALGRIND_CREATE_MEMPOOL
#undef VALGRIND_CREATE_MEMPOOL_EXT
#undef VALGRIND_DESTROY_MEMPOOL
#undef VALGRIND_MEMPOOL_ALLOC
#undef VALGRIND_MEMPOOL_FREE
#undef VALGRIND_MEMPOOL_TRIM
#undef VALGRIND_MOVE_MEMPOOL
#undef VALGRIND_MEMPOOL_CHANGE
#undef VALGRIND_MEMPOOL_EXISTS
#undef VALGRIND_MALLOCLIKE_BLOCK
#undef VALGRIND_RESIZEINPLACE_BLOCK
#undef VALGRIND_FREELIKE_BLOCK

#define GNOMON_VALGRIND_AT(address) ((const void *)(uintptr_t)(address))

#define VALGRIND_CREATE_MEMPOOL(pool, rzB, is_zeroed)                  \
	((void)(rzB), (void)(is_zeroed),                               \
	 (void)gnomon_pool_create(GNOMON_VALGRIND_AT(pool),            \
				  GNOMON_VALGRIND_POOL))
#define VALGRIND_CREATE_MEMPOOL_EXT(pool, rzB, is_zeroed, flags)       \
	((void)(flags), VALGRIND_CREATE_MEMPOOL(pool, rzB, is_zeroed))
#define VALGRIND_DESTROY_MEMPOOL(pool)                                 \
	((void)gnomon_pool_destroy(GNOMON_VALGRIND_AT(pool)))
#define VALGRIND_MEMPOOL_ALLOC(pool, addr, size)                       \
	((void)gnomon_pool_alloc(GNOMON_VALGRIND_AT(pool),             \
				 GNOMON_VALGRIND_AT(addr), (size)))
#define VALGRIND_MEMPOOL_FREE(pool, addr)                              \
	((void)gnomon_pool_free(GNOMON_VALGRIND_AT(pool),              \
				GNOMON_VALGRIND_AT(addr)))
#define VALGRIND_MEMPOOL_TRIM(pool, addr, size)                        \
	((void)gnomon_pool_trim(GNOMON_VALGRIND_AT(pool),              \
				GNOMON_VALGRIND_AT(addr), (size)))
#define VALGRIND_MOVE_MEMPOOL(poolA, poolB)                            \
	((void)gnomon_pool_move(GNOMON_VALGRIND_AT(poolA),             \
				GNOMON_VALGRIND_AT(poolB)))
#define VALGRIND_MEMPOOL_CHANGE(pool, addrA, addrB, size)              \
	((void)gnomon_pool_change(GNOMON_VALGRIND_AT(pool),            \
				  GNOMON_VALGRIND_AT(addrA),           \
				  GNOMON_VALGRIND_AT(addrB), (size)))
#define VALGRIND_MEMPOOL_EXISTS(pool)                                  \
	((unsigned)gnomon_pool_exists(GNOMON_VALGRIND_AT(pool)))

#define VALGRIND_MALLOCLIKE_BLOCK(addr, sizeB, rzB, is_zeroed)         \
	((void)(rzB), (void)(is_zeroed),                               \
	 gnomon_alloc(gnomon_valgrind_malloclike(),                    \
		      GNOMON_VALGRIND_AT(addr), (sizeB)))
#define VALGRIND_RESIZEINPLACE_BLOCK(addr, oldSizeB, newSizeB, rzB)    \
	((void)(oldSizeB), (void)(rzB),                                \
	 gnomon_realloc(gnomon_valgrind_malloclike(),                  \
			GNOMON_VALGRIND_AT(addr),                      \
			GNOMON_VALGRIND_AT(addr), (newSizeB)))
#define VALGRIND_FREELIKE_BLOCK(addr, rzB)                             \
	((void)(rzB), gnomon_free(gnomon_valgrind_malloclike(),        \
				  GNOMON_VALGRIND_AT(addr)))

#endif
