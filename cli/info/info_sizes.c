/*
 * info_sizes.c: see the header. Headers of chunks and columns have the sizes.
 * So only chunks that are compressed as a whole must be decompressed, to see
 * their columns. Called by the main thread.
 */
#include "cli/info/info.h"

#include <string.h>
#include <sys/stat.h>

#include "cli/base/text/quantity.h"

#define NODE_COLUMNS 3

/* Rows for columns of EVENTS; the columns of stamps share one. */
enum event_row {
	ROW_KINDS, ROW_ADDRESSES, ROW_CONTEXTS, ROW_SIZES, ROW_LAYOUTS,
	ROW_EXTRAS, ROW_STAMPS, ROW_FREED_BY, EVENT_ROWS
};
static const char *const event_rows[EVENT_ROWS] = {
	"kinds", "addresses", "contexts", "sizes", "layouts", "extras",
	"stamps", "freed by"
};
static const uint8_t event_columns[] = {
	ROW_KINDS, ROW_ADDRESSES, ROW_CONTEXTS, ROW_SIZES, ROW_LAYOUTS,
	ROW_EXTRAS, ROW_STAMPS, ROW_STAMPS, ROW_FREED_BY
};
/* major versions 1 and 2: kinds are with the stamps */
static const uint8_t step_columns[] = {
	ROW_STAMPS, ROW_ADDRESSES, ROW_CONTEXTS, ROW_SIZES, ROW_LAYOUTS,
	ROW_EXTRAS, ROW_FREED_BY
};
static const uint8_t plain_columns[] = { 0, 1, 2 };
static const char *const node_columns[NODE_COLUMNS] = {
	"ids", "parents", "addresses"
};

struct reading_sizes {
	struct info_sizes *sizes;
	struct inflater inflater;
};

/* Adds the sizes of a payload's columns to their rows; returns the difference
 * between decompressed and stored bytes. */
static uint64_t add_columns(struct cursor *c, struct info_size *rows,
			    const uint8_t *row, unsigned count)
{
	uint64_t gain = 0;

	for (unsigned i = 0; i < count && cursor_left(c) > 0; i++) {
		uint64_t raw = cursor_varint(c), stored = cursor_varint(c);

		cursor_bytes(c, stored);
		if (c->bad || raw > GT_PAYLOAD_MAX || stored > raw)
			break;
		rows[row[i]].raw += raw;
		rows[row[i]].bytes += stored;
		gain += raw - stored;
	}
	return gain;
}

/* The difference between decompressed and stored bytes of the payload's
 * columns. */
static uint64_t look_into(struct info_sizes *sizes, unsigned type, bool steps,
			  struct cursor *c)
{
	struct info_size other[COLUMNS_MAX] = { 0 };
	struct trace_file file;

	switch (type) {
	case GT_EVENTS:
		cursor_varint(c);
		sizes->event_count += cursor_varint(c);
		return steps ? add_columns(c, sizes->events, step_columns,
					   sizeof(step_columns)) :
			       add_columns(c, sizes->events, event_columns,
					   sizeof(event_columns));
	case GT_CONTEXT:
		sizes->node_count += cursor_varint(c);
		return add_columns(c, sizes->nodes, plain_columns,
				   NODE_COLUMNS);
	case GT_FILE:
		if (!file_records_file(c, &file))
			return 0;
		break;
	case GT_SNAPSHOT:
		if (cursor_varint(c) != GT_SNAPSHOT_MAPPINGS)
			return 0;
		cursor_varint(c);
		cursor_varint(c);
		break;
	case GT_TOTALS:
		if (cursor_varint(c) != GT_TOTALS_CONTEXTS)
			return 0;
		/* fall through */
	case GT_FREED:
	case GT_CHAINS:
		cursor_varint(c);
		break;
	case GT_NAMES:
		break;
	default:
		return 0;
	}
	cursor_varint(c);
	return add_columns(c, other, plain_columns, 1);
}

static enum reader_chunk take_chunk(void *owner, const struct chunk *chunk)
{
	struct reading_sizes *reading = owner;
	unsigned type = chunk->type < READER_TYPES ? chunk->type : 0;
	struct info_size *size = &reading->sizes->types[type];
	struct cursor c;

	size->count++;
	size->bytes += GT_CHUNK_SIZE + (uint64_t)chunk->stored;
	size->raw += GT_CHUNK_SIZE + (uint64_t)chunk->raw;
	if (inflater_payload(&reading->inflater, chunk, &c) == 0)
		size->raw += look_into(reading->sizes, type, chunk->steps, &c);
	return READER_TAKEN;
}

bool info_sizes_read(struct info_sizes *sizes, const char *trace)
{
	struct reading_sizes reading = { .sizes = sizes };
	const struct reader_sink sink = {
		.owner = &reading, .chunk = take_chunk,
	};
	struct reader_report report;
	struct stat status;
	int result;

	memset(sizes, 0, sizeof(*sizes));
	if (stat(trace, &status) != 0 || !S_ISREG(status.st_mode))
		return false;
	result = reader_run(trace, &sink, &report, NULL);
	sizes->file_bytes = report.file_bytes;
	inflater_free(&reading.inflater);
	return result != EXIT_NOTHING;
}

/* ---- printing ---- */

static void put_line(const char *indent, const char *name, uint64_t count,
		     const struct info_size *size, FILE *out)
{
	fprintf(out, "  %s%-*s %12s %11s %13s %9s\n", indent,
		(int)(14 - strlen(indent)), name,
		count > 0 ? COUNT_TEXT(count) : "", SIZE_TEXT(size->bytes),
		SIZE_TEXT(size->raw), PERCENT_TEXT(size->bytes, size->raw));
}

static void put_columns(const struct info_size *columns,
			const char *const *names, unsigned count, FILE *out)
{
	for (unsigned i = 0; i < count; i++)
		if (columns[i].raw > 0)
			put_line("  ", names[i], 0, &columns[i], out);
}

void info_sizes_text(const struct info_sizes *sizes, FILE *out)
{
	uint64_t files = sizes->types[GT_FILE].bytes;

	fprintf(out, "\nCHUNKS                number       bytes  uncompressed"
		"     ratio\n");
	for (unsigned type = 0; type < READER_TYPES; type++) {
		if (sizes->types[type].count == 0)
			continue;
		put_line("", scan_type_name(type), sizes->types[type].count,
			 &sizes->types[type], out);
		if (type == GT_EVENTS)
			put_columns(sizes->events, event_rows,
				    EVENT_ROWS, out);
		if (type == GT_CONTEXT)
			put_columns(sizes->nodes, node_columns, NODE_COLUMNS,
				    out);
	}
	if (sizes->event_count > 0)
		fprintf(out, "  an event takes %.3f bytes, with everything "
			"else%s %.3f\n", (double)sizes->types[GT_EVENTS].bytes /
			(double)sizes->event_count,
			files > 0 ? " except embedded files" : "",
			(double)(sizes->file_bytes - files) /
			(double)sizes->event_count);
	if (sizes->node_count > 0)
		fprintf(out, "  a node of the stack tree takes %.2f bytes\n",
			(double)sizes->types[GT_CONTEXT].bytes /
			(double)sizes->node_count);
}

static void json_size(struct json *json, const char *name,
		      const struct info_size *size)
{
	json_object(json, NULL);
	json_string(json, "type", name);
	if (size->count > 0)
		json_uint(json, "count", size->count);
	json_uint(json, "bytes", size->bytes);
	json_uint(json, "raw_bytes", size->raw);
}

static void json_columns(struct json *json, const struct info_size *columns,
			 const char *const *names, unsigned count)
{
	json_array(json, "columns");
	for (unsigned i = 0; i < count; i++) {
		json_size(json, names[i], &columns[i]);
		json_end_object(json);
	}
	json_end_array(json);
}

void info_sizes_json(const struct info_sizes *sizes, struct json *json)
{
	json_array(json, "sizes");
	for (unsigned type = 0; type < READER_TYPES; type++) {
		if (sizes->types[type].count == 0)
			continue;
		json_size(json, scan_type_name(type), &sizes->types[type]);
		if (type == GT_EVENTS)
			json_columns(json, sizes->events, event_rows,
				     EVENT_ROWS);
		if (type == GT_CONTEXT)
			json_columns(json, sizes->nodes, node_columns,
				     NODE_COLUMNS);
		json_end_object(json);
	}
	json_end_array(json);
	json_uint(json, "nodes", sizes->node_count);
}
