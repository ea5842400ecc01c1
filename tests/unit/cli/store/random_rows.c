/*
 * random_rows.c: see random_rows.h.
 */
#include "tests/unit/cli/store/random_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/base/hash.h"
#include "cli/trace/format/trace_format.h"

const struct store_key random_key = {
	.trace_id = 0x123456789abcdef0, .prefix_bytes = 4711, .options = 3,
	.maker = 7, .trace_version = 301,
};

uint64_t random_next(uint64_t *seed)
{
	return hash_fixed(*seed += UINT64_C(0x9e3779b97f4a7c15));
}

uint64_t random_below(uint64_t *seed, uint64_t most)
{
	return random_next(seed) % most;
}

/* ---- a program ---- */

static uint64_t size_of(uint64_t *seed)
{
	switch (random_below(seed, 8)) {
	case 0:
		return random_below(seed, 1 << 20);
	case 1:
		return 0;
	case 2:
		return random_below(seed, 200) == 0 ? random_next(seed) >> 3 :
						      4096;
	default:
		return 16u << random_below(seed, 5);
	}
}

static struct store_row new_row(uint64_t *seed, uint64_t stamp)
{
	uint64_t node = random_below(seed, 60);

	return (struct store_row){
		.begin = stamp,
		.address = 0x555500000000 + 16 * random_below(seed, 1 << 20),
		.size = size_of(seed),
		.between = random_below(seed, 3) ? random_below(seed, 4) :
						   random_below(seed, 1000),
		.thread = (uint32_t)random_below(seed, 5),
		.node = (uint32_t)(node * node),
		.chain = random_below(seed, 20) ? 0 :
			(uint32_t)random_below(seed, 300) + 1,
		.place = (uint32_t)random_below(seed, 3),
		.layout = random_below(seed, 4) ? GT_LAYOUT_KNOWN :
			random_below(seed, 2) ? 0 :
			(GT_LAYOUT_KNOWN | GT_LAYOUT_MMAPPED),
		.flags = random_below(seed, 50) ? 0 :
			(uint8_t)random_below(seed, STORE_FLAGS_END),
	};
}

static void end_row(uint64_t *seed, struct store_row *row, uint64_t stamp,
		    uint64_t edge)
{
	uint64_t how = random_below(seed, 30);

	row->end = stamp;
	row->end_edge = edge;
	row->how = how == 0 ? STORE_LOST : how < 4 ? STORE_MOVED : STORE_FREED;
	row->end_thread = random_below(seed, 3) ? row->thread :
		random_below(seed, 9) ? (uint32_t)random_below(seed, 5) :
					STORE_NONE;
	row->end_node = random_below(seed, 4) ?
		(uint32_t)random_below(seed, 900) : STORE_NONE;
}

/* The next stamp: often the same, now and then a bit too early. */
static uint64_t next_stamp(uint64_t *seed, uint64_t *now)
{
	*now += random_below(seed, 4) ? random_below(seed, 3) :
					random_below(seed, 40);
	return random_below(seed, 100) ? *now : *now - random_below(seed, 9);
}

struct random_rows random_rows_make(uint64_t seed, size_t allocs)
{
	struct store_row *live = calloc(allocs + 1, sizeof(*live));
	struct random_rows rows = {
		.list = calloc(allocs + 1, sizeof(*live)),
	};
	uint64_t edge = 0, now = 1000000;
	size_t live_count = 0;

	for (size_t born = 0; born < allocs;) {
		/* grows and shrinks in turn */
		bool grows = random_below(&seed, 100) <
			     (born * 5 / allocs % 2 ? 47 : 56);

		if (grows || live_count == 0) {
			live[live_count] = new_row(&seed,
						   next_stamp(&seed, &now));
			live[live_count++].alloc_edge = edge++;
			born++;
			continue;
		}
		/* mostly one of the last */
		size_t at = live_count - 1 -
			random_below(&seed, random_below(&seed, 5) ?
				     (live_count + 7) / 8 : live_count);

		end_row(&seed, &live[at], next_stamp(&seed, &now), edge++);
		rows.list[rows.count++] = live[at];
		live[at] = live[--live_count];
	}
	for (size_t i = 0; i < live_count; i++)
		rows.list[rows.count++] = live[i];
	rows.live = live_count;
	rows.end = now + 5;
	free(live);
	return rows;
}

void random_rows_free(struct random_rows *rows)
{
	free(rows->list);
}

/* ---- a store ---- */

int random_file(void)
{
	int fd = memfd_create("store", MFD_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

int random_rows_write(const struct random_rows *rows, unsigned packers)
{
	int fd = random_file();
	struct store_writer *writer = store_writer_new(fd, packers);

	for (size_t i = 0; i < rows->count; i++)
		store_writer_add(writer, &rows->list[i]);
	store_writer_fact(writer, "unpaired", 1);
	store_writer_fact(writer, "last", rows->end);
	store_writer_fact(writer, "unpaired", 17);
	store_writer_blob(writer, "state", "something", 9);
	assert_int_equal(store_writer_rows(writer), rows->count);
	assert_int_equal(store_writer_finish(writer, &random_key), 0);
	store_writer_free(writer);
	return fd;
}

struct store *random_store(int fd, struct notes *notes)
{
	struct store *store;

	assert_int_equal(store_open(dup(fd), "rows.idx", notes, &store),
			 STORE_GOOD);
	assert_non_null(store);
	return store;
}

struct store *random_rows_store(const struct random_rows *rows)
{
	int fd = random_rows_write(rows, 1);
	struct store *store = random_store(fd, NULL);

	close(fd);
	return store;
}

/* ---- what it has to say ---- */

static uint64_t lifetime_of(const struct store_row *row, uint64_t now)
{
	uint64_t end = row->how == STORE_LIVE ? now : row->end;

	return end > row->begin ? end - row->begin : 0;
}

uint64_t random_value(const struct random_rows *rows, size_t row,
		      enum store_column column, uint64_t now)
{
	const struct store_row *r = &rows->list[row];
	bool live = r->how == STORE_LIVE;
	const uint64_t values[STORE_COLUMNS] = {
		[STORE_BEGIN] = r->begin,
		[STORE_END] = live ? STORE_NEVER : r->end,
		[STORE_ALLOC_EDGE] = r->alloc_edge,
		[STORE_END_EDGE] = live ? STORE_NEVER : r->end_edge,
		[STORE_HOW] = r->how,
		[STORE_ADDRESS] = r->address,
		[STORE_SIZE] = r->size,
		[STORE_LAYOUT] = r->layout,
		[STORE_THREAD] = r->thread,
		[STORE_NODE] = r->node,
		[STORE_END_THREAD] = live ? STORE_NONE : r->end_thread,
		[STORE_END_NODE] = live ? STORE_NONE : r->end_node,
		[STORE_CHAIN] = r->chain,
		[STORE_PLACE] = r->place,
		[STORE_BETWEEN] = r->between,
		[STORE_FLAGS] = r->flags,
		[STORE_LIFETIME] = lifetime_of(r, now),
		[STORE_USABLE] = r->layout & GT_LAYOUT_KNOWN ?
			gt_layout_usable(r->size, r->layout) : 0,
		[STORE_ROW] = row,
	};

	return values[column];
}
