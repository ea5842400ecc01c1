// LINK: libbump.c
/*
 * libown_new.c: an allocator with its own operators new and delete, whose
 * memory its malloc does not know. Nothing is ever freed.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

/* C++'s letter for the type of a size: unsigned long, or unsigned int. */
#if __SIZEOF_SIZE_T__ == 8
#define SIZE "m"
#else
#define SIZE "j"
#endif
#define QUIET "RKSt9nothrow_t"
#define ALIGNED "St11align_val_t"

#define POOL_SIZE ((size_t)1 << 29)

static void *take(size_t size, size_t alignment)
{
	static uint8_t *pool;
	static size_t used;

	if (!pool)
		pool = mmap(NULL, POOL_SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	used = (used + alignment - 1) & ~(alignment - 1);
	if (pool == MAP_FAILED || size > POOL_SIZE - used)
		return NULL;
	used += size + 1;	/* no two are at the same place */
	return pool + used - size - 1;
}

#define NEW(function, name, alignment, ...)           \
	void *function(__VA_ARGS__) __asm__(name);    \
	void *function(__VA_ARGS__)                   \
	{                                             \
		return take(size, alignment);         \
	}
#define DELETE(function, name)                        \
	void function(void *block) __asm__(name);     \
	void function(void *block)                    \
	{                                             \
		(void)block;                          \
	}

NEW(new_one, "_Znw" SIZE, 16, size_t size)
NEW(new_many, "_Zna" SIZE, 16, size_t size)
NEW(new_one_quiet, "_Znw" SIZE QUIET, 16, size_t size)
NEW(new_many_quiet, "_Zna" SIZE QUIET, 16, size_t size)
NEW(new_aligned, "_Znw" SIZE ALIGNED, to, size_t size, size_t to)
NEW(new_many_aligned, "_Zna" SIZE ALIGNED, to, size_t size, size_t to)
NEW(new_aligned_quiet, "_Znw" SIZE ALIGNED QUIET, to, size_t size, size_t to)
NEW(new_many_aligned_quiet, "_Zna" SIZE ALIGNED QUIET, to, size_t size,
    size_t to)
DELETE(delete_one, "_ZdlPv")
DELETE(delete_many, "_ZdaPv")
DELETE(delete_sized, "_ZdlPv" SIZE)
DELETE(delete_many_sized, "_ZdaPv" SIZE)
DELETE(delete_quiet, "_ZdlPv" QUIET)
DELETE(delete_many_quiet, "_ZdaPv" QUIET)
DELETE(delete_aligned, "_ZdlPv" ALIGNED)
DELETE(delete_many_aligned, "_ZdaPv" ALIGNED)
DELETE(delete_sized_aligned, "_ZdlPv" SIZE ALIGNED)
DELETE(delete_many_sized_aligned, "_ZdaPv" SIZE ALIGNED)
DELETE(delete_aligned_quiet, "_ZdlPv" ALIGNED QUIET)
DELETE(delete_many_aligned_quiet, "_ZdaPv" ALIGNED QUIET)
