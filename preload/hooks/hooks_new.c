/*
 * hooks_new.c: operator new and delete of an allocator's own.
 *
 * Those of the C++ runtimes come back to malloc and free, and a program's own
 * to whatever it likes: they are never met here, nor by a word changed. But
 * libtcmalloc, libjemalloc and libmimalloc bring operators that do not. So
 * these names appear only where the program would have reached a definition in
 * the image that also provides malloc.
 *
 * An allocator's own C++ code may use them as any other code does, and the
 * program may own the result (a vector filled by MallocExtension): so they are
 * recorded whoever calls them.
 */
#include "preload/hooks/hooks_wrap.h"

/* Written as the arguments of WRAP_*: size, alignment, std::nothrow. */
#define NEW(name)                                                     \
	WRAP_THROW(name, true, (size_t size), size, 0, 0, size)       \
	GUARD_NEW(name, (size_t size), (size), size, 1)
#define NEW_NOTHROW(name)                                             \
	WRAP_THROW(name, true, (size_t size, const void *tag), size,  \
		   tag, 0, size)                                      \
	GUARD_NEW(name, (size_t size, const void *tag), (size, tag),  \
		  size, 1)
#define NEW_ALIGNED(name)                                             \
	WRAP_THROW(name, true, (size_t size, size_t alignment), size, \
		   alignment, 0, size)                                \
	GUARD_NEW(name, (size_t size, size_t alignment),              \
		  (size, alignment), size, alignment)
#define NEW_ALIGNED_NOTHROW(name)                                     \
	WRAP_THROW(name, true,                                        \
		   (size_t size, size_t alignment, const void *tag),  \
		   size, alignment, tag, size)                        \
	GUARD_NEW(name,                                               \
		  (size_t size, size_t alignment, const void *tag),   \
		  (size, alignment, tag), size, alignment)
#define DELETE(name) \
	WRAP_FREE_OF(name, true, (void *block), (block), block)
#define DELETE_TWO(name)                                              \
	WRAP_FREE_OF(name, true, (void *block, uintptr_t a), (block, a), \
		     block)
#define DELETE_THREE(name)                                            \
	WRAP_FREE_OF(name, true, (void *block, uintptr_t a, uintptr_t b), \
		     (block, a, b), block)

NEW(_Znwm)
NEW(_Znam)
NEW_NOTHROW(_ZnwmRKSt9nothrow_t)
NEW_NOTHROW(_ZnamRKSt9nothrow_t)
NEW_ALIGNED(_ZnwmSt11align_val_t)
NEW_ALIGNED(_ZnamSt11align_val_t)
NEW_ALIGNED_NOTHROW(_ZnwmSt11align_val_tRKSt9nothrow_t)
NEW_ALIGNED_NOTHROW(_ZnamSt11align_val_tRKSt9nothrow_t)
DELETE(_ZdlPv)
DELETE(_ZdaPv)
DELETE_TWO(_ZdlPvm)
DELETE_TWO(_ZdaPvm)
DELETE_TWO(_ZdlPvRKSt9nothrow_t)
DELETE_TWO(_ZdaPvRKSt9nothrow_t)
DELETE_TWO(_ZdlPvSt11align_val_t)
DELETE_TWO(_ZdaPvSt11align_val_t)
DELETE_THREE(_ZdlPvmSt11align_val_t)
DELETE_THREE(_ZdaPvmSt11align_val_t)
DELETE_THREE(_ZdlPvSt11align_val_tRKSt9nothrow_t)
DELETE_THREE(_ZdaPvSt11align_val_tRKSt9nothrow_t)

static const struct appear hooks_new_rows[] = {
	WRAP_ROW(_Znwm),
	WRAP_ROW(_Znam),
	WRAP_ROW(_ZnwmRKSt9nothrow_t),
	WRAP_ROW(_ZnamRKSt9nothrow_t),
	WRAP_ROW(_ZnwmSt11align_val_t),
	WRAP_ROW(_ZnamSt11align_val_t),
	WRAP_ROW(_ZnwmSt11align_val_tRKSt9nothrow_t),
	WRAP_ROW(_ZnamSt11align_val_tRKSt9nothrow_t),
	WRAP_ROW(_ZdlPv),
	WRAP_ROW(_ZdaPv),
	WRAP_ROW(_ZdlPvm),
	WRAP_ROW(_ZdaPvm),
	WRAP_ROW(_ZdlPvRKSt9nothrow_t),
	WRAP_ROW(_ZdaPvRKSt9nothrow_t),
	WRAP_ROW(_ZdlPvSt11align_val_t),
	WRAP_ROW(_ZdaPvSt11align_val_t),
	WRAP_ROW(_ZdlPvmSt11align_val_t),
	WRAP_ROW(_ZdaPvmSt11align_val_t),
	WRAP_ROW(_ZdlPvSt11align_val_tRKSt9nothrow_t),
	WRAP_ROW(_ZdaPvSt11align_val_tRKSt9nothrow_t),
};

const struct wrap_table hooks_new = {
	.rows = hooks_new_rows,
	.count = WRAP_COUNT(hooks_new_rows),
	.where = WRAP_WITH_MALLOC,
	.key = "_Znwm",
};
