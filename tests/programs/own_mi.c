/*
 * own_mi.c: mimalloc's own functions, where there are any: the allocator is
 * preloaded, or linked (own_mi_linked.c). Prints what they answer.
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
extern void *mi_zalloc_aligned_at(size_t size, size_t alignment,
				  size_t offset) WEAK;
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
}

/* Whose blocks live on, and whose end with it. */
static void tgt_heaps(void)
{
	mi_heap_t *kept = mi_heap_new(), *lost = mi_heap_new();
	void *block[50];

	for (int i = 0; i < 50; i++)
		block[i] = shown(mi_heap_malloc(kept, 100 + i), 100 + i);
	shown(mi_heap_calloc(kept, 10, 10), 100);
	mi_heap_delete(kept);
	for (int i = 0; i < 50; i++) {
		mi_free(block[i]);
		ended(100 + i);
	}
	for (int i = 0; i < 500; i++) {
		shown(mi_heap_malloc(lost, 1 + 10 * i), 1 + 10 * i);
		ended(1 + 10 * i);
	}
	mi_free(shown(mi_heap_strdup(lost, "abc"), 4));
	block[0] = shown(mi_heap_alloc_new_n(lost, 3, 7), 21);
	block[0] = shown(mi_heap_realloc(lost, block[0], 70000), 70000);
	ended(4);
	ended(21);
	ended(70000);
	mi_heap_destroy(lost);
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
	}
	tgt_strings();
	path();
	tgt_heaps();
	tgt_print("good size", mi_good_size(1000));
	tgt_print("version", mi_version());
	mi_stats_print_out(put, NULL);
	tgt_report();
	return 0;
}
