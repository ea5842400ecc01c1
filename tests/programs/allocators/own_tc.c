/*
 * own_tc.c: tcmalloc's own functions, if present: the allocator is preloaded,
 * or linked (own_tc_linked.c). Prints their results.
 */
#include <errno.h>
#include <malloc.h>

#include "tgt.h"

#define WEAK __attribute__((weak))

extern void *tc_malloc(size_t size) WEAK;
extern void *tc_malloc_skip_new_handler(size_t size) WEAK;
extern void *tc_calloc(size_t count, size_t size) WEAK;
extern void *tc_realloc(void *block, size_t size) WEAK;
extern void *tc_memalign(size_t alignment, size_t size) WEAK;
extern int tc_posix_memalign(void **block, size_t alignment,
			     size_t size) WEAK;
extern void *tc_valloc(size_t size) WEAK;
extern void *tc_pvalloc(size_t size) WEAK;
extern void tc_free(void *block) WEAK;
extern void tc_free_sized(void *block, size_t size) WEAK;
extern void tc_cfree(void *block) WEAK;
extern void *tc_new(size_t size) WEAK;
extern void *tc_newarray(size_t size) WEAK;
extern void *tc_new_nothrow(size_t size, const void *tag) WEAK;
extern void *tc_newarray_nothrow(size_t size, const void *tag) WEAK;
extern void *tc_new_aligned(size_t size, size_t alignment) WEAK;
extern void *tc_newarray_aligned(size_t size, size_t alignment) WEAK;
extern void *tc_new_aligned_nothrow(size_t size, size_t alignment,
				    const void *tag) WEAK;
extern void *tc_newarray_aligned_nothrow(size_t size, size_t alignment,
					 const void *tag) WEAK;
extern void tc_delete(void *block) WEAK;
extern void tc_delete_sized(void *block, size_t size) WEAK;
extern void tc_deletearray(void *block) WEAK;
extern void tc_deletearray_sized(void *block, size_t size) WEAK;
extern void tc_delete_nothrow(void *block, const void *tag) WEAK;
extern void tc_deletearray_nothrow(void *block, const void *tag) WEAK;
extern void tc_delete_aligned(void *block, size_t alignment) WEAK;
extern void tc_deletearray_aligned(void *block, size_t alignment) WEAK;
extern void tc_deletearray_sized_aligned(void *block, size_t size,
					 size_t alignment) WEAK;
extern void tc_delete_aligned_nothrow(void *block, size_t alignment,
				      const void *tag) WEAK;
extern void tc_deletearray_aligned_nothrow(void *block, size_t alignment,
					   const void *tag) WEAK;
extern void tc_delete_sized_aligned(void *block, size_t size,
				    size_t alignment) WEAK;
extern size_t tc_malloc_size(void *block) WEAK;
extern size_t tc_nallocx(size_t size, int flags) WEAK;
extern int MallocExtension_GetNumericProperty(const char *name,
					      size_t *value) WEAK;

static void ended(size_t size)
{
	TGT_ADD(tgt_counts.frees, 1);
	TGT_ADD(tgt_counts.freed_bytes, size);
}

static void *shown(void *p, size_t size)
{
	tgt_made(p, size);
	tgt_print("usable", tc_malloc_size(p));
	tgt_print("usable", malloc_usable_size(p));
	return p;
}

static void tgt_blocks(size_t size)
{
	void *p = NULL;

	tc_free(shown(tc_malloc(size), size));
	tc_free_sized(shown(tc_calloc(3, size), 3 * size), 3 * size);
	tc_cfree(shown(tc_memalign(64, size), size));
	free(shown(tc_valloc(size), size));
	free(shown(tc_pvalloc(size), size));
	tc_posix_memalign(&p, 32, size);
	tc_free(shown(p, size));
	p = shown(tc_realloc(NULL, size), size);
	p = shown(tc_realloc(p, 5 * size), 5 * size);
	tgt_print("freed", tc_realloc(p, 0) == NULL);
	tc_free(shown(tc_malloc_skip_new_handler(size), size));
	tc_delete(shown(tc_new(size), size));
	tc_delete_sized(shown(tc_new(size), size), size);
	tc_deletearray(shown(tc_newarray_nothrow(size, &p), size));
	tc_delete_sized_aligned(shown(tc_new_aligned(size, 128), size), size,
				128);
	for (int i = 0; i < 11; i++)
		ended(size);
	ended(3 * size);
	ended(5 * size);
	tc_free(NULL);
	tc_delete(NULL);
}

/* Operators by the names that are not among those above. */
static void tgt_operators(size_t size)
{
	char tag;

	tc_deletearray_sized(shown(tc_newarray(size), size), size);
	tc_delete_nothrow(shown(tc_new_nothrow(size, &tag), size), &tag);
	tc_deletearray_nothrow(shown(tc_newarray(size), size), &tag);
	tc_delete_aligned(shown(tc_new_aligned(size, 64), size), 64);
	tc_deletearray_aligned(shown(tc_newarray_aligned(size, 64), size),
			       64);
	tc_deletearray_sized_aligned(
		shown(tc_newarray_aligned(size, 64), size), size, 64);
	tc_delete_aligned_nothrow(
		shown(tc_new_aligned_nothrow(size, 64, &tag), size), 64, &tag);
	tc_deletearray_aligned_nothrow(
		shown(tc_newarray_aligned_nothrow(size, 64, &tag), size), 64,
		&tag);
	for (int i = 0; i < 8; i++)
		ended(size);
}

static void tgt_refused(void)
{
	void *p = tgt_malloc(100);

	errno = 0;
	tgt_print("refused", tc_malloc((size_t)1 << 60) == NULL);
	tgt_print("errno", errno);
	tgt_print("refused", tc_realloc(p, (size_t)1 << 60) == NULL);
	tc_free(p);
	ended(100);
}

int main(void)
{
	size_t value = 0;

	if (!tc_malloc || !tc_new || !tc_delete_sized_aligned ||
	    !tc_malloc_size || !tc_nallocx) {
		tgt_write("there is no such allocator\n");
		return 3;
	}
	for (size_t size = 1; size < 1000000; size = size * 3 + 1) {
		tgt_blocks(size);
		tgt_operators(size);
	}
	tgt_refused();
	tgt_print("nallocx", tc_nallocx(1000, 0));
	tgt_print("property", MallocExtension_GetNumericProperty(
		"generic.current_allocated_bytes", &value));
	tgt_print("allocated", value);
	tgt_report();
	return 0;
}
