/*
 * store_rows.c: see store_rows.h. Lifetimes are counted in allocations, and
 * have two modes: most blocks live shortly, some for any part of the run, a
 * tenth for ever. Blocks wait for their ends in a wheel of two levels:
 *
 *	near    a slot for each of the next NEAR allocations
 *	far     a slot for each NEAR of them; it is emptied into `near` at the
 *	        first of them
 */
#include "store_rows.h"

#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/base/hash.h"
#include "cli/trace/format/trace_format.h"

#define NEAR 65536
#define FAR 65536	/* NEAR * FAR allocations are the longest life */
#define NOBODY 0
#define HEAP UINT64_C(0x555555560000)

struct lives {
	struct store_row row;
	uint64_t ends_at;	/* at that allocation */
	uint32_t next;		/* in the slot, or of the free ones */
};

struct maker {
	uint64_t seed;
	struct lives *list;	/* [0] is nobody */
	size_t count, capacity;
	uint32_t unused;
	uint32_t near[NEAR], far[FAR];
	uint64_t allocations[STORE_ROWS_THREADS];
	uint64_t stamp, edge, allocated;
	uint32_t thread, burst;
	uint32_t chain;
};

static uint64_t next(struct maker *maker)
{
	return hash_fixed(maker->seed += UINT64_C(0x9e3779b97f4a7c15));
}

static uint64_t tick(struct maker *maker)
{
	return maker->stamp += 20 + next(maker) % 100;
}

/* Log-uniform: each power of two below `most` is as likely as any other. */
static uint64_t any_length(struct maker *maker, uint64_t most)
{
	unsigned bits = 64 - (unsigned)__builtin_clzll(most);
	uint64_t random = next(maker);

	return 1 + (random >> 8) % (UINT64_C(1) << (random % bits + 1));
}

/* 0: it is never freed. */
static uint64_t lifetime(struct maker *maker, uint64_t all)
{
	uint64_t random = next(maker) % 100;

	return random < 10 ? 0 : random < 80 ? any_length(maker, 64) :
					       any_length(maker, all / 2);
}

/* Small numbers are far more likely. */
static uint32_t some_node(struct maker *maker)
{
	double x = (double)(next(maker) >> 11) / 0x1p53;

	return (uint32_t)(x * x * x * STORE_ROWS_NODES);
}

/* Most of a context's blocks are of one size. */
static uint64_t some_size(struct maker *maker, uint32_t node)
{
	uint64_t random = next(maker);
	uint64_t of_node = hash_fixed(node);

	if (random % 10 < 7)
		return 8 + (of_node >> 8) % (UINT64_C(16) << of_node % 9);
	return 1 + (random >> 8) % (UINT64_C(32) << random % 11);
}

static uint32_t new_number(struct maker *maker)
{
	uint32_t number = maker->unused;

	if (number != NOBODY) {
		maker->unused = maker->list[number].next;
		return number;
	}
	GROW(maker->list, maker->count, maker->capacity);
	return (uint32_t)maker->count++;
}

static void wait_for_end(struct maker *maker, uint32_t number)
{
	struct lives *block = &maker->list[number];
	uint32_t *slot = block->ends_at / NEAR == maker->allocated / NEAR ?
		&maker->near[block->ends_at % NEAR] :
		&maker->far[block->ends_at / NEAR % FAR];

	block->next = *slot;
	*slot = number;
}

static void bear(struct maker *maker, uint64_t all)
{
	uint32_t number = new_number(maker), node = some_node(maker);
	struct lives *block = &maker->list[number];
	uint64_t length = lifetime(maker, all);

	if (maker->burst-- == 0) {
		maker->burst = next(maker) % 200;
		maker->thread = next(maker) % STORE_ROWS_THREADS;
	}
	*block = (struct lives){
		.row = {
			.begin = tick(maker), .alloc_edge = maker->edge++,
			.address = HEAP + (uint64_t)number * 96,
			.size = some_size(maker, node),
			.thread = maker->thread, .node = node,
			.between = maker->allocations[maker->thread]++,
			.layout = GT_LAYOUT_KNOWN,
		},
		.ends_at = maker->allocated + length,
	};
	if (length > 0)
		wait_for_end(maker, number);
}

static void end(struct maker *maker, struct store_writer *writer,
		uint32_t number)
{
	struct lives *block = &maker->list[number];
	struct store_row *row = &block->row;
	bool foreign = next(maker) % 20 == 0;

	row->how = next(maker) % 30 == 0 ? STORE_MOVED : STORE_FREED;
	row->end = tick(maker);
	row->end_edge = maker->edge++;
	row->end_thread = foreign ? next(maker) % STORE_ROWS_THREADS :
				    row->thread;
	row->end_node = (uint32_t)(hash_fixed(row->node) % STORE_ROWS_NODES);
	row->between = maker->allocations[row->thread] - row->between - 1;
	if (row->how == STORE_MOVED) {
		row->chain = ++maker->chain;
		row->place = 1;
	}
	store_writer_add(writer, row);
	block->row.how = STORE_LOST;	/* not live: it is free */
	block->next = maker->unused;
	maker->unused = number;
}

/* Ends the blocks that end before the next allocation. */
static void end_some(struct maker *maker, struct store_writer *writer)
{
	uint32_t number, following;

	if (maker->allocated % NEAR == 0) {
		number = maker->far[maker->allocated / NEAR % FAR];
		maker->far[maker->allocated / NEAR % FAR] = NOBODY;
		for (; number != NOBODY; number = following) {
			following = maker->list[number].next;
			wait_for_end(maker, number);
		}
	}
	number = maker->near[maker->allocated % NEAR];
	maker->near[maker->allocated % NEAR] = NOBODY;
	for (; number != NOBODY; number = following) {
		following = maker->list[number].next;
		end(maker, writer, number);
	}
}

struct store_rows_made store_rows_make(struct store_writer *writer,
				       uint64_t rows, uint64_t seed)
{
	struct maker *maker = grow_zeroed(1, sizeof(*maker));
	struct store_rows_made made = { .rows = rows };

	maker->seed = seed;
	maker->stamp = UINT64_C(1) << 40;
	GROW(maker->list, maker->count, maker->capacity);
	maker->list[maker->count++].row.how = STORE_LOST;
	while (maker->allocated < rows) {
		end_some(maker, writer);
		bear(maker, rows);
		maker->allocated++;
	}
	for (size_t i = 0; i < maker->count; i++) {
		if (maker->list[i].row.how != STORE_LIVE)
			continue;
		store_writer_add(writer, &maker->list[i].row);
		made.live++;
	}
	made.end = maker->stamp;
	free(maker->list);
	free(maker);
	return made;
}
