/*
 * fuzz_store.c: a store's file, from hostile bytes. The first byte chooses:
 * the bytes are the whole file; or they are columns and directory of a file
 * whose checksums are right, as somebody makes it who knows how. All that can
 * be asked is asked of it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/base/io_full.h"
#include "cli/store/store_readahead.h"
#include "cli/store/store_cursor.h"
#include "cli/store/store_file.h"
#include "cli/store/store_sweep.h"
#include "cli/trace/decode/cursor.h"

#define GROUPS 16
#define STEPS 8
#define CHUNKS_MAX 3
#define INDEX_MAX 2500

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

/* ---- what is asked ---- */

static void take(void *owner, unsigned worker, const struct store_batch *batch)
{
	uint64_t sum = 0;

	(void)owner;
	check(worker < STORE_WORKERS_MAX && batch->count > 0 &&
	      batch->count <= STORE_BATCH);
	for (unsigned i = 0; i < STORE_COLUMNS; i++)
		for (size_t j = 0; j < batch->count; j++)
			sum += batch->column[i][j];
	*(volatile uint64_t *)&sum = sum;
}

static void ask_sums(struct store *store, const struct store_scan *scan)
{
	static const uint64_t begins[STEPS] = { 0, 5, 10, 1000, 1 << 20 };
	const struct store_grouping nodes = {
		.groups = GROUPS, .column = STORE_NODE,
	};
	const struct store_group_options options = {
		.sums = STORE_SUM_FREES | STORE_SUM_LIVE | STORE_SUM_LIFETIME |
			STORE_SUM_FIRST_LAST | STORE_SUM_ALIVE,
	};
	struct store_axis axis = {
		.begins = begins, .steps = 5, .maxima = true,
	};
	struct store_sums sums[GROUPS];
	struct store_peak whole, peaks[GROUPS];
	struct store_step steps[(GROUPS + 1) * STEPS];

	store_group(store, scan, &nodes, &options, sums);
	store_peaks(store, scan, &nodes, NULL, &whole, peaks);
	store_timeline(store, scan, &nodes, NULL, &axis, steps);
}

static void ask_ahead(struct store *store, const struct store_scan *scan)
{
	struct store_readahead *ahead =
		store_readahead_new(store, scan, STORE_BIT(STORE_USABLE), 2);
	const struct store_batch *batch;

	while (store_readahead_next(ahead, &batch) > 0)
		check(batch->count <= INDEX_MAX);
	store_readahead_free(ahead);
}

static void ask_rows(struct store *store, const struct store_scan *scan)
{
	struct store_cursor *cursor = store_cursor_new(store, scan,
						       STORE_BIT(STORE_BEGIN));
	uint64_t rows[STEPS], values[STEPS], count;
	uint64_t *const columns[STORE_COLUMNS] = { [STORE_USABLE] = values };
	const struct store_batch *batch;

	store_cursor_skip(cursor, 3);
	while (store_cursor_next(cursor, &batch) > 0)
		check(batch->count <= STORE_BATCH);
	store_cursor_seek(cursor, store_rows(store) / 2);
	store_cursor_next(cursor, &batch);
	store_cursor_free(cursor);
	ask_ahead(store, scan);
	if (store_order(store, scan, STORE_LIFETIME, true, 1, STEPS, rows,
			&count) == 0)
		store_fetch(store, rows, count, 7, columns);
}

static void ask(struct store *store)
{
	static const uint64_t set[2] = { 0x5555, 3 };
	static const uint64_t stamps[2] = { 12, 100 };
	const struct store_range range = { 3, 1 << 30 };
	const struct store_term terms[] = {
		{ .column = STORE_SIZE, .ranges = &range, .range_count = 1 },
		{ .column = STORE_THREAD, .not = true, .set = set,
		  .set_size = 128 },
		{ .column = STORE_LIFETIME, .ranges = &range,
		  .range_count = 1 },
	};
	struct store_scan scan = { .terms = terms, .now = 1 << 20 };
	uint64_t a, b;
	size_t size;

	for (scan.term_count = 0; scan.term_count <= 3; scan.term_count++) {
		store_scan_each(store, &scan, STORE_BIT(STORE_COLUMNS) - 1,
				take, NULL);
		store_scan_count(store, &scan, &a, &b);
		ask_sums(store, &scan);
	}
	scan.term_count = 1;
	scan.alive[0] = (struct store_moments){ stamps, 2 };
	scan.alive[1] = (struct store_moments){ stamps, 1 };
	store_scan_estimate(store, &scan);
	ask_sums(store, &scan);
	ask_rows(store, &scan);
	store_bounds(store, STORE_LIFETIME, &a, &b);
	store_fact(store, "a", &a);
	free(store_blob(store, "b", &size));
}

static void open_and_ask(int fd)
{
	struct store *store;

	if (store_open(fd, "fuzz", NULL, &store) == STORE_GOOD)
		ask(store);
	store_close(store);
}

/* ---- a file whose checksums are right ---- */

struct forger {
	struct cursor input;
	int fd;
	uint64_t end;		/* of the file */
	struct store_directory directory;
};

static void put(struct forger *f, const void *bytes, size_t size)
{
	check(io_full_write_at(f->fd, bytes, size, f->end) == 0);
	f->end += size;
}

/* One or two bytes say which; mostly small. */
static struct store_range forge_bounds(struct forger *f)
{
	struct store_range bounds = { 0, UINT64_MAX };
	uint8_t how = cursor_u8(&f->input);

	if (how & 1)
		bounds.min = cursor_u8(&f->input);
	if (how & 2)
		bounds.max = bounds.min + cursor_u16(&f->input);
	return bounds;
}

static void forge_part(struct forger *f, struct store_chunk *chunk,
		       enum store_column column)
{
	struct store_part *part = &chunk->parts[column];
	size_t size = cursor_u8(&f->input) * sizeof(uint64_t);
	const uint8_t *bytes;

	if (size > cursor_left(&f->input))
		size = cursor_left(&f->input) & ~(sizeof(uint64_t) - 1);
	bytes = cursor_bytes(&f->input, size);
	part->bounds = forge_bounds(f);
	if (column == STORE_ALLOC_EDGE || column == STORE_END_EDGE)
		part->bounds.max &= 0xffff;
	if (part->bounds.max < part->bounds.min)
		part->bounds.min = part->bounds.max;
	if (size == 0 && !store_has_words(column, chunk->live))
		part->bounds.max = part->bounds.min;
	part->size = (uint32_t)size;
	part->checksum = store_checksum(bytes, size, f->end);
	put(f, bytes, size);
}

static void forge_chunk(struct forger *f, struct store_chunk *chunk, bool live)
{
	*chunk = (struct store_chunk){
		.offset = f->end, .live = live,
		.rows = 1 + cursor_u16(&f->input) % INDEX_MAX,
	};
	for (unsigned i = 0; i < STORE_STORED; i++)
		forge_part(f, chunk, i);
	for (unsigned i = 0; i < STORE_DERIVED; i++)
		chunk->derived[i] = forge_bounds(f);
}

static void forge_file(struct forger *f)
{
	struct store_header header = { .directory_offset = f->end };
	LOCAL_BUFFER bytes = { 0 };

	store_directory_put(&bytes, &f->directory);
	header.directory_size = bytes.size;
	header.directory_checksum = store_checksum(bytes.data, bytes.size,
						   f->end);
	put(f, bytes.data, bytes.size);
	header.file_size = f->end;
	header.live_rows = store_directory_rows(&f->directory, true);
	header.rows = header.live_rows +
		store_directory_rows(&f->directory, false);
	buffer_clear(&bytes);
	store_header_put(&bytes, &header);
	check(io_full_write_at(f->fd, bytes.data, bytes.size, 0) == 0);
}

static void forge(int fd, const uint8_t *data, size_t size)
{
	struct store_chunk chunks[CHUNKS_MAX];
	struct forger f = {
		.input = cursor_over(data, size), .fd = fd,
		.end = STORE_HEADER_SIZE,
		.directory = { .chunks = chunks },
	};
	uint8_t live = cursor_u8(&f.input) % (CHUNKS_MAX + 1);

	for (unsigned i = 0; i < CHUNKS_MAX && cursor_left(&f.input) > 0; i++)
		forge_chunk(&f, &chunks[f.directory.chunk_count++],
			    i >= live);
	forge_file(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (size < 1 || fd < 0)
		return fd >= 0 ? close(fd) : 0;
	if (data[0] & 1)
		forge(fd, data + 1, size - 1);
	else
		check(io_full_write_at(fd, data + 1, size - 1, 0) == 0);
	open_and_ask(fd);
	return 0;
}
