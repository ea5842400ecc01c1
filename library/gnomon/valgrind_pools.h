/*
 * gnomon/valgrind_pools.h: Valgrind's memory pool macros, implemented by
 * gnomon's API. C and C++.
 *
 * Include it in place of <valgrind/valgrind.h> and <valgrind/memcheck.h>, or
 * after them: the macros below are then gnomon's, all other requests still
 * Valgrind's.
 *
 * Pools and superblocks that hold them are heaps (gnomon/gnomon.h) with the
 * name GNOMON_VALGRIND_POOL; define it before the include to replace "mempool".
 * Blocks of VALGRIND_MALLOCLIKE_BLOCK are in a heap "malloclike". The red zone
 * and is_zeroed arguments are ignored.
 */
#ifndef GNOMON_VALGRIND_POOLS_H
#define GNOMON_VALGRIND_POOLS_H

#include <gnomon/gnomon.h>

#ifndef GNOMON_VALGRIND_POOL
#define GNOMON_VALGRIND_POOL "mempool"
#endif

/* The heap of VALGRIND_MALLOCLIKE_BLOCK. */
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
