/*
 * store_chunk_reader.c: see store_chunk_reader.h.
 */
#include "cli/store/store_chunk_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/trace/format/trace_format.h"
#include "unwind/base/assertion.h"

#define NO_BLOCK SIZE_MAX

struct store_chunk_reader *store_chunk_reader_new(struct store *store,
						  uint64_t now)
{
	struct store_chunk_reader *reading = grow_zeroed(1, sizeof(*reading));

	reading->store = store;
	reading->now = now;
	return reading;
}

void store_chunk_reader_free(struct store_chunk_reader *reading)
{
	if (reading == NULL)
		return;
	for (unsigned i = 0; i < STORE_STORED; i++) {
		free(reading->columns[i].words);
		store_column_free(&reading->columns[i].view);
	}
	free(reading);
}

void store_chunk_reader_go(struct store_chunk_reader *reading,
			   const struct store_chunk *chunk)
{
	reading->chunk = chunk;
	for (unsigned i = 0; i < STORE_STORED; i++) {
		reading->columns[i].loaded = false;
		reading->columns[i].block = NO_BLOCK;
	}
	for (unsigned i = 0; i < STORE_COLUMNS; i++)
		reading->value_block[i] = NO_BLOCK;
}

/* ---- stored columns ---- */

/* The offset of the column's words in the file. */
static uint64_t offset_of(const struct store_chunk *chunk,
			  enum store_column column)
{
	uint64_t offset = chunk->offset;

	for (unsigned i = 0; i < column; i++)
		offset += chunk->parts[i].size;
	return offset;
}

int store_chunk_reader_load(struct store_chunk_reader *reading,
			    enum store_column column)
{
	struct store_chunk_reader_column *to = &reading->columns[column];
	const struct store_part *part = &reading->chunk->parts[column];
	size_t words = part->size / sizeof(uint64_t);
	uint64_t offset;
	int error;

	DEBUG_ASSERT(column < STORE_STORED);
	if (to->loaded)
		return 0;
	offset = offset_of(reading->chunk, column);
	if (words > to->capacity) {
		free(to->words);
		to->words = grow_alloc(part->size);
		to->capacity = words;
	}
	error = words == 0 ? 0 :
		store_read(reading->store, offset, to->words, part->size,
			   part->checksum);
	if (error != 0)
		return error;
	if (!store_column_begin(&to->view, to->words, words,
				part->bounds.min, reading->chunk->rows))
		return store_note_damage(reading->store, offset);
	to->loaded = true;
	return 0;
}

const uint64_t *store_chunk_reader_codes(struct store_chunk_reader *reading,
					 enum store_column column, size_t block)
{
	struct store_chunk_reader_column *from = &reading->columns[column];

	DEBUG_ASSERT(from->loaded);
	if (from->block == block)
		return from->codes;
	if (!store_column_codes(&from->view, block, from->codes)) {
		store_note_damage(reading->store,
				  offset_of(reading->chunk, column));
		return NULL;
	}
	from->block = block;
	return from->codes;
}

/* ---- values ---- */

static const uint64_t *load_codes(struct store_chunk_reader *reading,
				  enum store_column column, size_t block,
				  int *error)
{
	const uint64_t *codes;

	*error = store_chunk_reader_load(reading, column);
	if (*error != 0)
		return NULL;
	codes = store_chunk_reader_codes(reading, column, block);
	if (codes == NULL)
		*error = -EBADMSG;
	return codes;
}

/* The stored numbers; if there is a dictionary, decoded into `room`. */
static const uint64_t *load_numbers(struct store_chunk_reader *reading,
				    enum store_column column, size_t block,
				    uint64_t *room, int *error)
{
	const uint64_t *codes = load_codes(reading, column, block, error);

	if (codes == NULL || reading->columns[column].view.distinct == 0)
		return codes;
	store_column_decode(&reading->columns[column].view, codes, room,
			    STORE_BLOCK);
	return room;
}

/* Values of a column that is not stored as differences. */
static const uint64_t *stored_values(struct store_chunk_reader *reading,
				     enum store_column column, size_t block,
				     int *error)
{
	const uint64_t *values;

	*error = 0;
	if (reading->value_block[column] == block)
		return reading->values[column];
	values = load_numbers(reading, column, block, reading->values[column],
			      error);
	if (values == reading->values[column])
		reading->value_block[column] = block;
	return values;
}

/* The column to which another one is stored as differences. */
static enum store_column end_of(enum store_column column)
{
	return column == STORE_BEGIN ? STORE_END : STORE_END_EDGE;
}

/* From the stored differences, without a branch. */
static void find_lifetimes(const struct store_chunk_reader *reading,
			   const uint64_t *from, size_t count, uint64_t *to)
{
	uint64_t now = reading->now;

	if (reading->chunk->live)
		for (size_t i = 0; i < count; i++)
			to[i] = (now - from[i]) &
				(0 - (uint64_t)(from[i] <= now));
	else
		for (size_t i = 0; i < count; i++)
			to[i] = from[i] & ((from[i] >> 63) - 1);
}

static int make_lifetimes(struct store_chunk_reader *reading, size_t block,
			  uint64_t *to)
{
	int error;
	const uint64_t *from = load_numbers(reading, STORE_BEGIN, block,
					    reading->differences, &error);

	if (from != NULL)
		find_lifetimes(reading, from, STORE_BLOCK, to);
	return error;
}

static int make_usable(struct store_chunk_reader *reading, size_t block,
		       uint64_t *to)
{
	int error;
	const uint64_t *sizes =
		store_chunk_reader_values(reading, STORE_SIZE, block, &error);
	const uint64_t *layouts = sizes == NULL ? NULL :
		store_chunk_reader_values(reading, STORE_LAYOUT, block, &error);

	for (size_t i = 0; i < STORE_BLOCK && layouts != NULL; i++)
		to[i] = layouts[i] & GT_LAYOUT_KNOWN ?
			gt_layout_usable(sizes[i], (unsigned)layouts[i]) : 0;
	return error;
}

static int make_begins(struct store_chunk_reader *reading,
		       enum store_column column, size_t block, uint64_t *to)
{
	int error;
	const uint64_t *differences = load_numbers(reading, column, block,
					reading->differences, &error);
	const uint64_t *ends = differences == NULL ? NULL :
		stored_values(reading, end_of(column), block, &error);

	for (size_t i = 0; i < STORE_BLOCK && ends != NULL; i++)
		to[i] = ends[i] - differences[i];
	return error;
}

static int make_rows(const struct store_chunk_reader *reading, size_t block,
		     uint64_t *to)
{
	uint64_t first = reading->chunk->first_row + block * STORE_BLOCK;

	for (size_t i = 0; i < STORE_BLOCK; i++)
		to[i] = first + i;
	return 0;
}

static int make_values(struct store_chunk_reader *reading,
		       enum store_column column, size_t block, uint64_t *to)
{
	switch (column) {
	case STORE_LIFETIME:
		return make_lifetimes(reading, block, to);
	case STORE_USABLE:
		return make_usable(reading, block, to);
	case STORE_ROW:
		return make_rows(reading, block, to);
	default:
		return make_begins(reading, column, block, to);
	}
}

const uint64_t *store_chunk_reader_values(struct store_chunk_reader *reading,
					  enum store_column column,
					  size_t block, int *error)
{
	uint64_t *values = reading->values[column];

	DEBUG_ASSERT(column < STORE_COLUMNS);
	DEBUG_ASSERT(block * STORE_BLOCK < reading->chunk->rows);
	*error = 0;
	if (column < STORE_STORED &&
	    !store_is_difference(column, reading->chunk->live))
		return stored_values(reading, column, block, error);
	if (reading->value_block[column] == block)
		return values;
	*error = make_values(reading, column, block, values);
	if (*error != 0)
		return NULL;
	reading->value_block[column] = block;
	return values;
}

/* ---- values of some rows ---- */

static int pick_stored(struct store_chunk_reader *reading,
		       enum store_column column, size_t block,
		       const uint16_t *rows, size_t count, uint64_t *values)
{
	int error;
	const uint64_t *codes = load_codes(reading, column, block, &error);

	if (codes != NULL)
		store_column_pick(&reading->columns[column].view, codes, rows,
				  count, values);
	return error;
}

/* Subtracts only these rows. */
static int pick_begins(struct store_chunk_reader *reading,
		       enum store_column column, size_t block,
		       const uint16_t *rows, size_t count, uint64_t *values)
{
	uint64_t *differences = reading->differences;
	int error = pick_stored(reading, end_of(column), block, rows, count,
				values);

	if (error == 0)
		error = pick_stored(reading, column, block, rows, count,
				    differences);
	for (size_t i = 0; i < count && error == 0; i++)
		values[i] -= differences[i];
	return error;
}

int store_chunk_reader_pick(struct store_chunk_reader *reading,
			    enum store_column column, size_t block,
			    const uint16_t *rows, size_t count,
			    uint64_t *values)
{
	bool made = reading->value_block[column] == block;
	const uint64_t *from;
	int error;

	if (column < STORE_STORED && !made)
		return store_is_difference(column, reading->chunk->live) ?
			pick_begins(reading, column, block, rows, count,
				    values) :
			pick_stored(reading, column, block, rows, count,
				    values);
	if (column == STORE_LIFETIME && !made) {
		error = pick_stored(reading, STORE_BEGIN, block, rows, count,
				    values);
		if (error == 0)
			find_lifetimes(reading, values, count, values);
		return error;
	}
	error = 0;
	from = made ? reading->values[column] :
		store_chunk_reader_values(reading, column, block, &error);
	for (size_t i = 0; i < count && from != NULL; i++)
		values[i] = from[rows[i]];
	return error;
}
