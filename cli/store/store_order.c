/*
 * store_order.c: the first rows in the order of a column (store_cursor.h).
 *
 * Each worker keeps the best rows it has found: up to twice as many as
 * requested; when the list is full, the worse half is dropped. The worst of the
 * remaining rows is the border: rows beyond it are ignored, and chunks without
 * rows before it are not read. Chunks that may have the best rows come first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"
#include "cli/store/store_cursor.h"
#include "cli/store/store_select.h"
#include "unwind/base/assertion.h"

/* `key` ascends in the requested order. */
struct place {
	uint64_t key, row;
};

/* Of one worker. */
struct best {
	_Alignas(64) struct place *list;
	size_t count, capacity;
	struct place border;	/* once there are as many rows as requested */
	bool full;
};

struct order {
	enum store_column column;
	uint64_t toggle;	/* turns a value into a key */
	size_t wanted;
	struct best by_worker[STORE_WORKERS_MAX];
};

static int by_key(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return sort_up(x->key, y->key) ?: sort_up(x->row, y->row);
}

static bool is_beyond(const struct best *best, uint64_t key, uint64_t row)
{
	return best->full && (key > best->border.key ||
			      (key == best->border.key &&
			       row > best->border.row));
}

static void throw_worse_away(struct best *best, size_t wanted)
{
	if (best->count <= wanted)
		return;
	SORT(best->list, best->count, by_key);
	best->count = wanted;
	best->border = best->list[wanted - 1];
	best->full = true;
}

static void make_room(struct best *best, size_t wanted)
{
	if (best->count == 2 * wanted)
		throw_worse_away(best, wanted);
	GROW(best->list, best->count, best->capacity);
}

static void take(void *owner, unsigned worker, const struct store_batch *batch)
{
	struct order *order = owner;
	struct best *best = &order->by_worker[worker];
	const uint64_t *values = batch->column[order->column];
	const uint64_t *rows = batch->column[STORE_ROW];

	for (size_t i = 0; i < batch->count; i++) {
		uint64_t key = values[i] ^ order->toggle;

		if (is_beyond(best, key, rows[i]))
			continue;
		make_room(best, order->wanted);
		best->list[best->count++] = (struct place){ key, rows[i] };
	}
}

/* The least key that a row of the chunk may have. */
static uint64_t best_of(const struct order *order,
			const struct store_chunk *chunk)
{
	struct store_range bounds = store_chunk_bounds(chunk, order->column);

	return order->toggle == 0 ? bounds.min : ~bounds.max;
}

static bool is_wanted(void *owner, unsigned worker,
		      const struct store_chunk *chunk)
{
	struct order *order = owner;

	return !is_beyond(&order->by_worker[worker], best_of(order, chunk),
			  chunk->first_row);
}

/* The order in which to read chunks, to be freed. */
static uint32_t *order_chunks(const struct order *order,
			      const struct store_directory *directory)
{
	size_t count = directory->chunk_count;
	struct place *places = grow_resize(NULL, count, sizeof(*places));
	uint32_t *numbers = grow_resize(NULL, count, sizeof(*numbers));

	for (size_t i = 0; i < count; i++)
		places[i] = (struct place){
			best_of(order, &directory->chunks[i]), i,
		};
	SORT(places, count, by_key);
	for (size_t i = 0; i < count; i++)
		numbers[i] = (uint32_t)places[i].row;
	free(places);
	return numbers;
}

/* The requested rows, from all workers' lists. */
static void join(struct order *order, uint64_t offset, uint64_t limit,
		 uint64_t *rows, uint64_t *count)
{
	struct best all = { 0 };

	for (unsigned worker = 0; worker < STORE_WORKERS_MAX; worker++) {
		struct best *best = &order->by_worker[worker];

		for (size_t i = 0; i < best->count; i++) {
			GROW(all.list, all.count, all.capacity);
			all.list[all.count++] = best->list[i];
		}
		free(best->list);
	}
	SORT(all.list, all.count, by_key);
	*count = 0;
	while (*count < limit && offset + *count < all.count) {
		rows[*count] = all.list[offset + *count].row;
		(*count)++;
	}
	free(all.list);
}

int store_order(struct store *store, const struct store_scan *scan,
		enum store_column column, bool descending, uint64_t offset,
		uint64_t limit, uint64_t *rows, uint64_t *count)
{
	struct order order = {
		.column = column, .toggle = descending ? UINT64_MAX : 0,
		.wanted = offset + limit,
	};
	struct store_scan_order chunks = { .wanted = is_wanted };
	uint32_t *numbers;
	int error;

	*count = 0;
	if (offset > STORE_ORDER_MAX || limit > STORE_ORDER_MAX - offset)
		return -E2BIG;
	if (limit == 0)
		return 0;
	numbers = order_chunks(&order, &store->directory);
	chunks.order = numbers;
	error = store_scan_ordered(store, scan, STORE_BIT(column) |
				   STORE_BIT(STORE_ROW), &chunks, take,
				   &order);
	join(&order, offset, limit, rows, count);
	free(numbers);
	return error;
}
