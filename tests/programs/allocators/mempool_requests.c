/*
 * mempool_requests.c: blocks inside of malloc's blocks, at the same addresses:
 * heaps, and pools announced by Valgrind's macros. Counts its operations by
 * heap.
 */
// FLAGS: -lgnomon-stub -Wl,-rpath,$ORIGIN/..
#include "tgt.h"

#include <gnomon/valgrind_pools.h>
#include <pthread.h>

#define BLOCKS 400
#define SLOT 256
#define THREADS 4

struct counts {
	uint64_t allocations, frees, total_bytes, live_bytes;
};
static struct counts arena, pool, like;

static void made(struct counts *c, size_t size)
{
	TGT_ADD(c->allocations, 1);
	TGT_ADD(c->total_bytes, size);
	TGT_ADD(c->live_bytes, size);
}

static void gone(struct counts *c, size_t size)
{
	TGT_ADD(c->frees, 1);
	TGT_ADD(c->live_bytes, -size);
}

static size_t size_of(int i)
{
	return 1 + i * 7 % SLOT;
}

/* Each block lies at i * SLOT of a block of malloc; the first begins it. */
static void fill_arena(uint32_t heap, char *super)
{
	int i;

	for (i = 0; i < BLOCKS; i++) {
		gnomon_alloc(heap, super + i * SLOT, size_of(i));
		made(&arena, size_of(i));
	}
	for (i = 0; i < BLOCKS; i += 2) {
		gnomon_free(heap, super + i * SLOT);
		gone(&arena, size_of(i));
	}
	for (i = 1; i < BLOCKS; i += 4) {
		/* in place, and to where one was freed */
		gnomon_realloc(heap, super + i * SLOT, super + i * SLOT, 9);
		gnomon_realloc(heap, super + i * SLOT,
			       super + (i - 1) * SLOT, 10);
		gone(&arena, size_of(i));
		made(&arena, 9);
		gone(&arena, 9);
		made(&arena, 10);
	}
}

/* One of two of the same, trimmed and moved; the other destroyed. */
static void use_pools(char *super)
{
	static char owner[3];
	int i;

	VALGRIND_CREATE_MEMPOOL(&owner[0], 0, 0);
	VALGRIND_CREATE_MEMPOOL(&owner[1], 0, 0);
	for (i = 0; i < BLOCKS; i++) {
		VALGRIND_MEMPOOL_ALLOC(&owner[i & 1], super + i * SLOT,
				       size_of(i));
		made(&pool, size_of(i));
	}
	for (i = 0; i < BLOCKS; i += 8) {
		VALGRIND_MEMPOOL_FREE(&owner[0], super + i * SLOT);
		gone(&pool, size_of(i));
	}
	for (i = 1; i < BLOCKS; i += 8) {
		VALGRIND_MEMPOOL_CHANGE(&owner[1], super + i * SLOT,
					super + i * SLOT + 1, 17);
		gone(&pool, size_of(i));
		made(&pool, 17);
	}
	VALGRIND_DESTROY_MEMPOOL(&owner[1]);
	for (i = 1; i < BLOCKS; i += 2)
		gone(&pool, i % 8 == 1 ? 17 : size_of(i));
	VALGRIND_MOVE_MEMPOOL(&owner[0], &owner[2]);
	VALGRIND_MEMPOOL_TRIM(&owner[2], super, BLOCKS / 2 * SLOT);
	for (i = BLOCKS / 2; i < BLOCKS; i += 2)
		if (i % 8)
			gone(&pool, size_of(i));
	if (gnomon_loaded() && (!VALGRIND_MEMPOOL_EXISTS(&owner[2]) ||
				VALGRIND_MEMPOOL_EXISTS(&owner[0]) ||
				VALGRIND_MEMPOOL_EXISTS(&owner[1])))
		tgt_write("pools are confused\n");
}

/* Blocks that lie partly outside are trimmed as well. */
static void trim_pool(char *super)
{
	static char owner;
	const size_t size[] = { 0, SLOT, SLOT + 1 };
	int i;

	VALGRIND_CREATE_MEMPOOL(&owner, 0, 0);
	for (i = 0; i < 3; i++) {
		VALGRIND_MEMPOOL_ALLOC(&owner, super + i * SLOT, size[i]);
		made(&pool, size[i]);
	}
	VALGRIND_MEMPOOL_TRIM(&owner, super, 3 * SLOT);
	gone(&pool, size[2]);
	VALGRIND_MEMPOOL_TRIM(&owner, super + 1, SIZE_MAX);
	gone(&pool, size[0]);
}

/* A block that is moved to where another one is replaces that one. */
static void change_over(char *super)
{
	static char owner;
	int i;

	VALGRIND_CREATE_MEMPOOL(&owner, 0, 0);
	for (i = 0; i < 3; i++) {
		VALGRIND_MEMPOOL_ALLOC(&owner, super + i * SLOT, 20 + i);
		made(&pool, 20 + i);
	}
	VALGRIND_MEMPOOL_CHANGE(&owner, super, super + SLOT, 30);
	gone(&pool, 20);
	gone(&pool, 21);
	made(&pool, 30);
	VALGRIND_MEMPOOL_CHANGE(&owner, super + SLOT, super + SLOT, 31);
	gone(&pool, 30);
	made(&pool, 31);
	VALGRIND_DESTROY_MEMPOOL(&owner);
	gone(&pool, 31);
	gone(&pool, 22);
}

static void use_macros(char *super)
{
	VALGRIND_MALLOCLIKE_BLOCK(super, 100, 0, 0);
	made(&like, 100);
	VALGRIND_RESIZEINPLACE_BLOCK(super, 100, 50, 0);
	gone(&like, 100);
	made(&like, 50);
	VALGRIND_FREELIKE_BLOCK(super, 0);
	gone(&like, 50);
}

static void *churn(void *own)
{
	char *super = malloc(16 * SLOT);
	int i;

	for (i = 0; i < 20000; i++) {
		const void *mine = i % 3 ? own : super;

		gnomon_pool_alloc(mine, super + i % 16 * SLOT, 33);
		made(&pool, 33);
		gnomon_pool_free(mine, super + i % 16 * SLOT);
		gone(&pool, 33);
	}
	free(super);
	return NULL;
}

static void print(const char *name, const char *what, uint64_t value)
{
	char key[64];

	strcpy(key, name);
	strcat(key, what);
	tgt_print(key, value);
}

static void report(const char *name, const struct counts *c)
{
	print(name, "_allocations", c->allocations);
	print(name, "_frees", c->frees);
	print(name, "_total_bytes", c->total_bytes);
	print(name, "_live_bytes", c->live_bytes);
}

int main(void)
{
	char *super = malloc((BLOCKS + 8) * SLOT);
	pthread_t thread[THREADS];
	static char owner[THREADS];
	int i;

	tgt_sink = super;
	fill_arena(gnomon_heap_create("arena"), super);
	use_pools(super);
	trim_pool(super + BLOCKS * SLOT);
	change_over(super + (BLOCKS + 4) * SLOT);
	use_macros(super);
	for (i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, churn, &owner[i]);
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	report("arena", &arena);
	report("mempool", &pool);
	report("malloclike", &like);
	return 0;
}
