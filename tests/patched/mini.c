/*
 * mini.c: a small allocator for programs to be linked with, of which each
 * function is made in another way: some of others, some of them tail calls,
 * some shorter than a jump. Names as in linked.c; with -DMIMALLOC, mi_… too.
 *
 * Blocks of powers of two, on free lists, behind a header with their size.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef PREFIX
#define PREFIX
#endif
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define F(name) JOIN(PREFIX, name)
#define ALIGN 4096
#define CHUNK ((size_t)64 << 20)

struct header {
	size_t order;		/* of the whole block */
	char *start;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *lists[64];
static char *next, *end;

void *F(malloc)(size_t size);
void F(free)(void *block);
void *F(memalign)(size_t alignment, size_t size);

static char *fresh(size_t size)
{
	char *block;

	if (size > (size_t)(end - next)) {
		size_t chunk = size > CHUNK ? size : CHUNK;

		next = mmap(NULL, chunk, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (next == MAP_FAILED) {
			next = end = NULL;
			return NULL;
		}
		end = next + chunk;
	}
	block = next;
	next += size;
	return block;
}

__attribute__((noinline)) static void *get(size_t alignment, size_t size)
{
	size_t order = 6, need = size + alignment + sizeof(struct header);
	struct header *header;
	char *block;

	if (size >= (size_t)1 << 46) {
		errno = ENOMEM;
		return NULL;
	}
	while ((size_t)1 << order < need)
		order++;
	pthread_mutex_lock(&lock);
	block = lists[order];
	if (block)
		lists[order] = *(char **)block;
	else
		block = fresh((size_t)1 << order);
	pthread_mutex_unlock(&lock);
	if (!block)
		return NULL;
	header = (struct header *)(((uintptr_t)block + sizeof(*header) +
				    alignment - 1) & -alignment) - 1;
	header->order = order;
	header->start = block;
	return header + 1;
}

static size_t usable(void *block)
{
	struct header *header = (struct header *)block - 1;

	return header->start + ((size_t)1 << header->order) - (char *)block;
}

void *F(malloc)(size_t size)
{
	return get(16, size);
}

void F(free)(void *block)
{
	struct header *header = (struct header *)block - 1;
	size_t order;
	char *start;

	if (!block)
		return;
	order = header->order;
	start = header->start;
	pthread_mutex_lock(&lock);
	*(char **)start = lists[order];
	lists[order] = start;
	pthread_mutex_unlock(&lock);
}

/* Made of malloc, and of calls that may jump. */
void *F(calloc)(size_t count, size_t size)
{
	size_t all;
	void *block;

	if (__builtin_mul_overflow(count, size, &all)) {
		errno = ENOMEM;
		return NULL;
	}
	block = F(malloc)(all);
	return block ? memset(block, 0, all) : NULL;
}

void *F(realloc)(void *block, size_t size)
{
	void *to;

	if (!block)
		return F(malloc)(size);
	if (size <= usable(block))
		return block;
	to = F(malloc)(size);
	if (!to)
		return NULL;
	memcpy(to, block, usable(block));
	F(free)(block);
	return to;
}

void *F(memalign)(size_t alignment, size_t size)
{
	return get(alignment, size);
}

void *F(aligned_alloc)(size_t alignment, size_t size)
{
	return F(memalign)(alignment, size);
}

void *F(valloc)(size_t size)
{
	return F(memalign)(ALIGN, size);
}

int F(posix_memalign)(void **block, size_t alignment, size_t size)
{
	void *to = F(memalign)(alignment, size);

	if (!to)
		return ENOMEM;
	*block = to;
	return 0;
}

#ifdef MIMALLOC
void *mi_heap_malloc(void *heap, size_t size)
{
	(void)heap;
	return mi_malloc(size);
}

void *mi_zalloc(size_t size)
{
	return mi_calloc(1, size);
}

void *mi_mallocn(size_t count, size_t size)
{
	return mi_malloc(count * size);
}

void *mi_rezalloc(void *block, size_t size)
{
	return mi_realloc(block, size);
}

void *mi_expand(void *block, size_t size)
{
	return size <= usable(block) ? block : NULL;
}

void *mi_malloc_aligned(size_t size, size_t alignment)
{
	return mi_memalign(alignment, size);
}

void *mi_heap_calloc(void *heap, size_t count, size_t size)
{
	(void)heap;
	return mi_calloc(count, size);
}

/* Six arguments. */
void *mi_heap_recalloc_aligned_at(void *heap, void *block, size_t count,
				  size_t size, size_t alignment,
				  size_t offset)
{
	if (heap || alignment != 64 || offset != 0)
		return NULL;
	return mi_realloc(block, count * size);
}

char *mi_strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *to = mi_malloc(size);

	return to ? memcpy(to, text, size) : NULL;
}

/* A jump, and nothing else. */
void mi_free_size(void *block, size_t size)
{
	(void)size;
	mi_free(block);
}

void *mi_new(size_t size)
{
	return mi_malloc(size);
}
#endif
