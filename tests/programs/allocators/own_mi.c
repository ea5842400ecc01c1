/*
 * own_mi.c: mimalloc's own functions, if present: the allocator is preloaded,
 * or linked (own_mi_linked.c). Prints their results.
 */
#include <stdbool.h>

#include "tgt.h"

#define WEAK __attribute__((weak))

extern void *mi_malloc(size_t size) WEAK;
extern void *mi_zalloc(size_t size) WEAK;
extern void *mi_malloc_small(size_t size) WEAK;
extern void *mi_zalloc_small(size_t size) WEAK;
extern void *mi_calloc(size_t count, size_t size) WEAK;
extern void *mi_mallocn(size_t count, size_t size) WEAK;
extern void *mi_realloc(void *block, size_t size) WEAK;
extern void *mi_reallocf(void *block, size_t size) WEAK;
extern void *mi_reallocn(void *block, size_t count, size_t size) WEAK;
extern void *mi_rezalloc(void *block, size_t size) WEAK;
extern void *mi_recalloc(void *block, size_t count, size_t size) WEAK;
extern void *mi_expand(void *block, size_t size) WEAK;
extern void *mi_malloc_aligned(size_t size, size_t alignment) WEAK;
extern void *mi_realloc_aligned(void *block, size_t size,
				size_t alignment) WEAK;
extern void *mi_memalign(size_t alignment, size_t size) WEAK;
extern void *mi_pvalloc(size_t size) WEAK;
extern int mi_posix_memalign(void **block, size_t alignment,
			     size_t size) WEAK;
extern int mi_reallocarr(void *where, size_t count, size_t size) WEAK;
extern char *mi_strdup(const char *s) WEAK;
extern char *mi_strndup(const char *s, size_t n) WEAK;
extern char *mi_realpath(const char *path, char *to) WEAK;
extern int mi_dupenv_s(char **block, size_t *length, const char *name) WEAK;
extern void *mi_new(size_t size) WEAK;
extern void *mi_new_n(size_t count, size_t size) WEAK;
extern void *mi_new_aligned_nothrow(size_t size, size_t alignment) WEAK;
extern void *mi_new_aligned(size_t size, size_t alignment) WEAK;
extern void *mi_new_nothrow(size_t size) WEAK;
extern void *mi_new_realloc(void *block, size_t size) WEAK;
extern void *mi_new_reallocn(void *block, size_t count, size_t size) WEAK;
extern void *mi_aligned_alloc(size_t alignment, size_t size) WEAK;
extern void *mi_valloc(size_t size) WEAK;
extern void *mi__expand(void *block, size_t size) WEAK;
extern void *mi_reallocarray(void *block, size_t count, size_t size) WEAK;
extern void *mi_aligned_recalloc(void *block, size_t count, size_t size,
				 size_t alignment) WEAK;
extern void *mi_aligned_offset_recalloc(void *block, size_t count,
					size_t size, size_t alignment,
					size_t offset) WEAK;
extern unsigned char *mi_mbsdup(const unsigned char *s) WEAK;
extern unsigned short *mi_wcsdup(const unsigned short *s) WEAK;
extern void mi_free_aligned(void *block, size_t alignment) WEAK;
extern void mi_free(void *block) WEAK;
extern void mi_cfree(void *block) WEAK;
extern void mi_free_size(void *block, size_t size) WEAK;
extern void mi_free_size_aligned(void *block, size_t size,
				 size_t alignment) WEAK;
extern size_t mi_usable_size(const void *block) WEAK;
extern size_t mi_good_size(size_t size) WEAK;

typedef struct mi_heap_s mi_heap_t;

extern mi_heap_t *mi_heap_new(void) WEAK;
extern void mi_heap_delete(mi_heap_t *heap) WEAK;
extern void mi_heap_destroy(mi_heap_t *heap) WEAK;
extern void *mi_heap_malloc(mi_heap_t *heap, size_t size) WEAK;
extern void *mi_heap_calloc(mi_heap_t *heap, size_t count, size_t size) WEAK;
extern void *mi_heap_realloc(mi_heap_t *heap, void *block, size_t size) WEAK;
extern void *mi_heap_alloc_new_n(mi_heap_t *heap, size_t count,
				 size_t size) WEAK;
extern char *mi_heap_strdup(mi_heap_t *heap, const char *s) WEAK;
extern void *mi_heap_alloc_new(mi_heap_t *heap, size_t size) WEAK;
extern void *mi_heap_zalloc(mi_heap_t *heap, size_t size) WEAK;
extern void *mi_heap_mallocn(mi_heap_t *heap, size_t count,
			     size_t size) WEAK;
extern void *mi_heap_malloc_small(mi_heap_t *heap, size_t size) WEAK;
extern void *mi_heap_reallocn(mi_heap_t *heap, void *block, size_t count,
			      size_t size) WEAK;
extern void *mi_heap_reallocf(mi_heap_t *heap, void *block,
			      size_t size) WEAK;
extern void *mi_heap_rezalloc(mi_heap_t *heap, void *block,
			      size_t size) WEAK;
extern void *mi_heap_recalloc(mi_heap_t *heap, void *block, size_t count,
			      size_t size) WEAK;
extern char *mi_heap_strndup(mi_heap_t *heap, const char *s, size_t n) WEAK;
extern char *mi_heap_realpath(mi_heap_t *heap, const char *path,
			      char *to) WEAK;

/* Aligned at an offset, both without and with a heap. */
#define ALIGNED(name, ...)                                      \
	extern void *mi_##name##_aligned(__VA_ARGS__,           \
					 size_t alignment) WEAK; \
	extern void *mi_##name##_aligned_at(__VA_ARGS__,        \
					    size_t alignment,   \
					    size_t offset) WEAK

ALIGNED(zalloc, size_t size);
ALIGNED(calloc, size_t count, size_t size);
ALIGNED(rezalloc, void *block, size_t size);
ALIGNED(recalloc, void *block, size_t count, size_t size);
ALIGNED(heap_malloc, mi_heap_t *heap, size_t size);
ALIGNED(heap_zalloc, mi_heap_t *heap, size_t size);
ALIGNED(heap_calloc, mi_heap_t *heap, size_t count, size_t size);
ALIGNED(heap_realloc, mi_heap_t *heap, void *block, size_t size);
ALIGNED(heap_rezalloc, mi_heap_t *heap, void *block, size_t size);
ALIGNED(heap_recalloc, mi_heap_t *heap, void *block, size_t count,
	size_t size);
extern void *mi_malloc_aligned_at(size_t size, size_t alignment,
				  size_t offset) WEAK;
extern void *mi_realloc_aligned_at(void *block, size_t size,
				   size_t alignment, size_t offset) WEAK;
extern int mi_version(void) WEAK;
extern void mi_stats_print_out(void (*out)(const char *, void *),
			       void *argument) WEAK;

/* free, unless that is another allocator's. */
static void (*end)(void *) = free;

static void ended(size_t size)
{
	TGT_ADD(tgt_counts.frees, 1);
	TGT_ADD(tgt_counts.freed_bytes, size);
}

static void *shown(void *p, size_t size)
{
	tgt_made(p, size);
	tgt_print("usable", mi_usable_size(p));
	return p;
}

static void tgt_blocks(size_t size)
{
	void *p = NULL;

	mi_free(shown(mi_malloc(size), size));
	end(shown(mi_zalloc(size), size));
	mi_cfree(shown(mi_calloc(4, size), 4 * size));
	mi_free_size(shown(mi_mallocn(4, size), 4 * size), 4 * size);
	mi_free_size_aligned(shown(mi_malloc_aligned(size, 64), size), size,
			     64);
	mi_free(shown(mi_zalloc_aligned_at(size, 256, 0), size));
	mi_free(shown(mi_memalign(128, size), size));
	mi_posix_memalign(&p, 32, size);
	mi_free(shown(p, size));
	mi_free(shown(mi_pvalloc(size), size));
	mi_free(shown(mi_new(size), size));
	mi_free(shown(mi_new_n(2, size), 2 * size));
	mi_free(shown(mi_new_aligned_nothrow(size, 64), size));
	if (size < 1000) {
		mi_free(shown(mi_malloc_small(size), size));
		mi_free(shown(mi_zalloc_small(size), size));
		ended(size);
		ended(size);
	}
	for (int i = 0; i < 9; i++)
		ended(size);
	ended(4 * size);
	ended(4 * size);
	ended(2 * size);
	mi_free(NULL);
	mi_cfree(NULL);
}

static void tgt_aligned(size_t size)
{
	mi_free_aligned(shown(mi_new_aligned(size, 64), size), 64);
	mi_free(shown(mi_new_nothrow(size), size));
	mi_free(shown(mi_aligned_alloc(64, size), size));
	mi_free(shown(mi_valloc(size), size));
	mi_free(shown(mi_malloc_aligned_at(size, 64, 0), size));
	mi_free(shown(mi_zalloc_aligned(size, 64), size));
	for (int i = 0; i < 6; i++)
		ended(size);
	mi_free(shown(mi_calloc_aligned(2, size, 64), 2 * size));
	mi_free(shown(mi_calloc_aligned_at(2, size, 64, 0), 2 * size));
	ended(2 * size);
	ended(2 * size);
}

/* Each block is larger than the one before it. */
static void *became(void *p, size_t *n, size_t size)
{
	if (*n)
		ended(*n * size);
	return shown(p, ++*n * size);
}

static void tgt_more_chains(size_t size)
{
	size_t n = 0;
	void *p = became(mi_new_realloc(NULL, size), &n, size);

	p = became(mi_new_reallocn(p, 2, size), &n, size);
	p = became(mi_reallocarray(p, 3, size), &n, size);
	p = became(mi_aligned_recalloc(p, 4, size, 64), &n, size);
	p = became(mi_aligned_offset_recalloc(p, 5, size, 64, 0), &n, size);
	p = became(mi_realloc_aligned_at(p, 6 * size, 64, 0), &n, size);
	p = became(mi_rezalloc_aligned(p, 7 * size, 64), &n, size);
	p = became(mi_rezalloc_aligned_at(p, 8 * size, 64, 0), &n, size);
	p = became(mi_recalloc_aligned(p, 9, size, 64), &n, size);
	p = became(mi_recalloc_aligned_at(p, 10, size, 64, 0), &n, size);
	tgt_print("cannot grow", mi__expand(p, 1000 * size) == NULL);
	tgt_print("stays", mi__expand(p, 10 * size - 1) == p);
	tgt_made(p, 10 * size - 1);
	ended(10 * size);
	mi_free(p);
	ended(10 * size - 1);
}

static void tgt_heap_chain(mi_heap_t *heap, size_t size)
{
	size_t n = 0;
	void *p = became(mi_heap_realloc_aligned(heap, NULL, size, 64), &n,
			 size);

	p = became(mi_heap_realloc_aligned_at(heap, p, 2 * size, 64, 0), &n,
		   size);
	p = became(mi_heap_rezalloc_aligned(heap, p, 3 * size, 64), &n, size);
	p = became(mi_heap_rezalloc_aligned_at(heap, p, 4 * size, 64, 0), &n,
		   size);
	p = became(mi_heap_recalloc_aligned(heap, p, 5, size, 64), &n, size);
	p = became(mi_heap_recalloc_aligned_at(heap, p, 6, size, 64, 0), &n,
		   size);
	p = became(mi_heap_reallocn(heap, p, 7, size), &n, size);
	p = became(mi_heap_reallocf(heap, p, 8 * size), &n, size);
	p = became(mi_heap_rezalloc(heap, p, 9 * size), &n, size);
	p = became(mi_heap_recalloc(heap, p, 10, size), &n, size);
	mi_free(p);
	ended(10 * size);
}

static void tgt_heap_blocks(size_t size)
{
	mi_heap_t *heap = mi_heap_new();

	mi_free(shown(mi_heap_alloc_new(heap, size), size));
	mi_free(shown(mi_heap_zalloc(heap, size), size));
	mi_free(shown(mi_heap_malloc_small(heap, 100), 100));
	mi_free(shown(mi_heap_malloc_aligned(heap, size, 64), size));
	mi_free(shown(mi_heap_malloc_aligned_at(heap, size, 64, 0), size));
	mi_free(shown(mi_heap_zalloc_aligned(heap, size, 64), size));
	mi_free(shown(mi_heap_zalloc_aligned_at(heap, size, 64, 0), size));
	ended(100);
	for (int i = 0; i < 6; i++)
		ended(size);
	mi_free(shown(mi_heap_mallocn(heap, 2, size), 2 * size));
	mi_free(shown(mi_heap_calloc_aligned(heap, 2, size, 64), 2 * size));
	mi_free(shown(mi_heap_calloc_aligned_at(heap, 2, size, 64, 0),
		      2 * size));
	for (int i = 0; i < 3; i++)
		ended(2 * size);
	tgt_heap_chain(heap, size);
	mi_heap_delete(heap);
}

static void tgt_chains(size_t size)
{
	void *p = shown(mi_realloc(NULL, size), size);

	p = shown(mi_realloc(p, 2 * size), 2 * size);
	p = shown(mi_reallocf(p, 3 * size), 3 * size);
	p = shown(mi_reallocn(p, 4, size), 4 * size);
	p = shown(mi_rezalloc(p, 5 * size), 5 * size);
	p = shown(mi_recalloc(p, 6, size), 6 * size);
	p = shown(mi_realloc_aligned(p, 7 * size, 64), 7 * size);
	tgt_print("reallocarr", mi_reallocarr(&p, 8, size));
	shown(p, 8 * size);
	tgt_print("refused", mi_realloc(p, (size_t)1 << 62) == NULL);
	tgt_print("cannot grow", mi_expand(p, 1000 * size) == NULL);
	tgt_print("stays", mi_expand(p, 8 * size - 1) == p);
	tgt_made(p, 8 * size - 1);
	mi_free(p);
	ended(8 * size);
	ended(8 * size - 1);
	for (int i = 1; i < 8; i++)
		ended(i * size);
}

static void tgt_strings(void)
{
	char *value = NULL;

	mi_free(shown(mi_strdup("four"), 5));
	mi_free(shown(mi_strndup("four", 2), 3));
	ended(5);
	ended(3);
	mi_free(shown(mi_mbsdup((const unsigned char *)"three"), 6));
	mi_free(shown(mi_wcsdup((const unsigned short[]){ 1, 2, 0 }), 6));
	mi_free(shown(mi_heap_strndup(mi_heap_new(), "four", 3), 4));
	ended(6);
	ended(6);
	ended(4);
	tgt_print("dupenv", mi_dupenv_s(&value, NULL, "OWN_MI"));
	if (value) {
		mi_free(shown(value, strlen(value) + 1));
		ended(strlen("value") + 1);
	}
}

/* Not counted: the C library's realpath takes blocks of its own. */
static void path(void)
{
	char *made = mi_realpath("/", NULL), buffer[5000];

	tgt_print("path", made && strcmp(made, "/") == 0);
	mi_free(made);
	tgt_print("path", mi_realpath("/", buffer) == buffer);
	made = mi_heap_realpath(mi_heap_new(), "/", NULL);
	tgt_print("path", made && strcmp(made, "/") == 0);
	mi_free(made);
}

/* Whose blocks end with it. */
static void tgt_lost_heap(void)
{
	mi_heap_t *lost = mi_heap_new();
	void *block;

	for (int i = 0; i < 500; i++) {
		shown(mi_heap_malloc(lost, 1 + 10 * i), 1 + 10 * i);
		ended(1 + 10 * i);
	}
	mi_free(shown(mi_heap_strdup(lost, "abc"), 4));
	block = shown(mi_heap_alloc_new_n(lost, 3, 7), 21);
	shown(mi_heap_realloc(lost, block, 70000), 70000);
	ended(4);
	ended(21);
	ended(70000);
	mi_heap_destroy(lost);
}

/* Whose blocks live on: until a heap takes over its pages, which mimalloc 3
 * destroys with that heap, so this one comes last. */
static void tgt_kept_heap(void)
{
	mi_heap_t *kept = mi_heap_new();
	void *block[50];

	for (int i = 0; i < 50; i++)
		block[i] = shown(mi_heap_malloc(kept, 100 + i), 100 + i);
	shown(mi_heap_calloc(kept, 10, 10), 100);
	mi_heap_delete(kept);
	for (int i = 0; i < 50; i++) {
		mi_free(block[i]);
		ended(100 + i);
	}
}

static void put(const char *text, void *argument)
{
	(void)argument;
	tgt_write(text);
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		end = mi_free;
	if (!mi_malloc || !mi_heap_destroy || !mi_usable_size ||
	    !mi_stats_print_out) {
		tgt_write("there is no such allocator\n");
		return 3;
	}
	for (size_t size = 1; size < 1000000; size = size * 3 + 1) {
		tgt_blocks(size);
		tgt_chains(size);
		tgt_aligned(size);
		tgt_more_chains(size);
		tgt_heap_blocks(size);
	}
	tgt_strings();
	path();
	tgt_lost_heap();
	tgt_kept_heap();
	tgt_print("good size", mi_good_size(1000));
	tgt_print("version", mi_version());
	mi_stats_print_out(put, NULL);
	tgt_report();
	return 0;
}
