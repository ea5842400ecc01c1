/*
 * repack_names.c: see the header. Bytes around a name are copied unchanged: a
 * later recorder may have added more values than we know.
 *
 * Called by the main thread.
 */
#include "cli/trace/write/repack_names.h"

#include <assert.h>
#include <string.h>

#include "unwind/base/assertion.h"

void repack_names_change(struct repack *repack, enum repack_name what,
			 const char **name, size_t *size)
{
	const struct repack_change *change = repack->change;

	if (change->name == NULL || *size == 0)
		return;
	buffer_clear(&repack->changed);
	change->name(change->owner, what, *name, *size, &repack->changed);
	*name = repack->changed.data ? repack->changed.data : "";
	*size = repack->changed.size;
	assert(what != REPACK_THREAD || *size < GT_THREAD_NAME_MAX);
}

void repack_names_build_id(const struct repack *repack, uint8_t *changed,
			   const uint8_t *build_id, size_t size)
{
	const struct repack_change *change = repack->change;

	if (size == 0)
		return;
	assert(size <= GL_BUILD_ID_MAX);
	memcpy(changed, build_id, size);
	if (change->build_id != NULL)
		change->build_id(change->owner, changed, size);
}

/* The bytes that the cursor has passed since `begin`. */
static void copy(struct buffer *out, const uint8_t *begin,
		 const struct cursor *c)
{
	buffer_add(out, (const char *)begin, (size_t)(c->next - begin));
}

static void copy_rest(struct buffer *out, const struct cursor *c)
{
	buffer_add(out, (const char *)c->next, cursor_left(c));
}

/* The framing of columns around repack->column, the only one. */
static void put_column(struct repack *repack, uint64_t count)
{
	compose_varint(&repack->payload, count);
	compose_column(&repack->payload, &repack->column, repack->out->level);
}

static bool open_column(struct repack *repack, struct cursor *c)
{
	if (columns_open(&repack->columns, c, 1, &repack->inflater) == 0)
		return true;
	c->bad = true;
	return false;
}

/* ---- MAPS ---- */

/* One record; `last` is the original path of the NEW record before. */
static bool map_record(struct repack *repack, struct cursor *c)
{
	const struct repack_change *change = repack->change;
	struct buffer *out = &repack->payload;
	const uint8_t *begin = c->next;
	uint64_t what = cursor_varint(c), is, device, inode;
	const char *path;
	size_t size;

	cursor_varint(c);
	cursor_varint(c);
	if (what != GT_MAPS_NEW) {
		copy(out, begin, c);
		return !c->bad;
	}
	is = cursor_varint(c);
	cursor_varint(c);
	device = cursor_varint(c);
	copy(out, begin, c);
	inode = cursor_varint(c);
	if (change->inode != NULL && inode != 0)
		inode = change->inode(change->owner, device, inode);
	compose_varint(out, inode);
	if (is & GT_MAPS_AGAIN)
		return !c->bad;
	size = cursor_varint(c);
	path = (const char *)cursor_bytes(c, size);
	if (c->bad || size > GT_PATH_MAX)
		return false;
	repack_names_change(repack, REPACK_PATH, &path, &size);
	compose_varint(out, size);
	buffer_add(out, path, size);
	return true;
}

bool repack_names_maps(struct repack *repack, struct cursor *c)
{
	const uint8_t *begin = c->next;
	struct trace_maps head;
	bool good = map_records_head(c, &head);

	copy(&repack->payload, begin, c);
	while (good && cursor_left(c) > 0)
		good = map_record(repack, c);
	return good;
}

/* ---- NAMES ---- */

/* A line "START SIZE NAME\n" without its newline. */
static void code_line(struct repack *repack, const char *line, size_t size)
{
	const char *name = memchr(line, ' ', size);
	size_t before, name_size;

	if (name != NULL)
		name = memchr(name + 1, ' ',
			      size - (size_t)(name + 1 - line));
	before = name != NULL ? (size_t)(name + 1 - line) : 0;
	name_size = size - before;
	name = line + before;
	DEBUG_ASSERT(before <= size);
	buffer_add(&repack->column, line, before);
	repack_names_change(repack, REPACK_CODE, &name, &name_size);
	buffer_add(&repack->column, name, name_size);
}

bool repack_names_code(struct repack *repack, struct cursor *c)
{
	const char *text, *newline;
	size_t left;

	if (!open_column(repack, c))
		return false;
	text = (const char *)repack->columns.column[0].next;
	left = cursor_left(&repack->columns.column[0]);
	buffer_clear(&repack->column);
	if (repack->change->name == NULL)
		buffer_add(&repack->column, text, left);
	else
		for (; left > 0; left -= (size_t)(newline + 1 - text),
				 text = newline + 1) {
			newline = memchr(text, '\n', left);
			if (newline == NULL)
				newline = text + left - 1;
			code_line(repack, text, (size_t)(newline - text));
			buffer_add(&repack->column, "\n", 1);
		}
	put_column(repack, repack->columns.count);
	copy_rest(&repack->payload, c);
	return true;
}

/* ---- SNAPSHOT ---- */

/* A row; only the path is changed. */
static bool mapping_row(struct repack *repack, struct cursor *row,
			uint64_t values)
{
	const uint8_t *begin = row->next;
	const char *path;
	uint64_t how;
	size_t size;

	for (uint64_t i = 0; i < values + 3; i++)
		cursor_varint(row);
	copy(&repack->column, begin, row);
	how = cursor_varint(row);
	if (how < 2) {
		compose_varint(&repack->column, how);
		return !row->bad;
	}
	size = how - 2;
	path = (const char *)cursor_bytes(row, size);
	if (row->bad || size > GT_PATH_MAX)
		return false;
	repack_names_change(repack, REPACK_PATH, &path, &size);
	compose_varint(&repack->column, size + 2);
	buffer_add(&repack->column, path, size);
	return true;
}

static bool snapshot_mappings(struct repack *repack, struct cursor *c,
			      const uint8_t *begin)
{
	struct cursor *row;
	uint64_t values;

	cursor_varint(c);
	values = cursor_varint(c);
	copy(&repack->payload, begin, c);
	if (values > GT_PATH_MAX || !open_column(repack, c))
		return false;
	buffer_clear(&repack->column);
	row = &repack->columns.column[0];
	for (uint64_t i = 0; i < repack->columns.count; i++)
		if (!mapping_row(repack, row, values))
			return false;
	put_column(repack, repack->columns.count);
	copy_rest(&repack->payload, c);
	return true;
}

bool repack_names_snapshot(struct repack *repack, struct cursor *c)
{
	const uint8_t *begin = c->next;
	uint64_t what = cursor_varint(c);
	const char *name;
	size_t size;

	if (what == GT_SNAPSHOT_MAPPINGS)
		return snapshot_mappings(repack, c, begin);
	if (what != GT_SNAPSHOT_TAKEN)
		return false;
	for (unsigned i = 0; i < 6; i++)	/* number … mappings */
		cursor_varint(c);
	copy(&repack->payload, begin, c);
	size = cursor_varint(c);
	name = (const char *)cursor_bytes(c, size);
	if (c->bad)
		return false;
	repack_names_change(repack, REPACK_SNAPSHOT, &name, &size);
	compose_varint(&repack->payload, size);
	buffer_add(&repack->payload, name, size);
	copy_rest(&repack->payload, c);
	return true;
}

/* ---- CONTROL, LIVE ---- */

bool repack_names_control(struct repack *repack, struct cursor *c)
{
	struct trace_control control;

	while (control_records_next(c, &control)) {
		repack_names_change(repack, REPACK_SNAPSHOT, &control.name,
				    &control.name_size);
		compose_control(&repack->payload, &control);
	}
	return !c->bad;
}

bool repack_names_live(struct repack *repack, struct cursor *c)
{
	struct live_decoder decoder = { 0 };
	uint64_t count = 0;

	if (!live_decoder_open(&decoder, c, &repack->inflater))
		return false;
	count = decoder.columns.count;
	compose_varint(&repack->payload, count);
	for (unsigned i = 0; i < LIVE_COLUMNS; i++) {
		buffer_clear(&repack->column);
		copy_rest(&repack->column, &decoder.columns.column[i]);
		compose_column(&repack->payload, &repack->column,
			       repack->out->level);
	}
	copy_rest(&repack->payload, c);
	columns_free(&decoder.columns);
	return true;
}

/* ---- FILE, TOTALS ---- */

bool repack_names_file(struct repack *repack, struct cursor *c)
{
	const struct repack_change *change = repack->change;
	uint8_t build_id[GL_BUILD_ID_MAX];
	const uint8_t *bytes;
	struct trace_file file;

	if (!file_records_file(c, &file))
		return false;
	if (change->file != NULL && !change->file(change->owner, &file))
		return true;
	if (!file_records_bytes(c, &file, &repack->columns, &repack->inflater,
				&bytes))
		return false;
	repack_names_change(repack, REPACK_PATH, &file.path, &file.path_size);
	repack_names_build_id(repack, build_id, file.build_id,
			      file.build_id_size);
	file.build_id = build_id;
	compose_file(&repack->payload, &file, bytes, repack->out->level);
	return true;
}

bool repack_names_totals(struct repack *repack, struct cursor *c)
{
	const struct repack_change *change = repack->change;
	const uint8_t *begin = c->next;
	uint64_t what = cursor_varint(c);

	if (change->totals != NULL &&
	    !change->totals(change->owner, cursor_over(begin, (size_t)
						       (c->end - begin))))
		return true;
	if (what == GT_TOTALS_CONTEXTS)
		cursor_varint(c);
	copy(&repack->payload, begin, c);
	if (what == GT_TOTALS_CONTEXTS) {
		if (!open_column(repack, c))
			return false;
		buffer_clear(&repack->column);
		copy_rest(&repack->column, &repack->columns.column[0]);
		put_column(repack, repack->columns.count);
	}
	copy_rest(&repack->payload, c);
	return !c->bad;
}
