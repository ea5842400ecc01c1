/*
 * table_objects.c: the table `images`: mapped programs and libraries.
 */
#include "cli/base/text/buffer.h"
#include "cli/model/core/images.h"
#include "cli/sql/sql_tables.h"

enum { IMAGE = 1, PATH, NAME, BUILD_ID, BIAS, SEGMENTS, STAYED };

static const struct sql_column own[] = {
	{ "image", SQL_INTEGER, .help = "number in the order of mapping, from "
	  "1" },
	{ "path", SQL_TEXT, .help = "path of the file; NULL: unknown" },
	{ "library", SQL_TEXT, .help = "file name" },
	{ "build_id", SQL_TEXT, .help = "build-id in hexadecimal; NULL: none" },
	{ "bias", SQL_INTEGER, .help = "address in the process minus address "
	  "in the file" },
	{ "segments", SQL_INTEGER, .help = "number of mapped segments" },
	{ "stayed", SQL_INTEGER, .help = "1: still mapped at the end" },
};

static const struct sql_column *images_columns(unsigned *count)
{
	*count = sizeof(own) / sizeof(own[0]);
	return own;
}

static bool images_begin(struct sql_cursor *cursor, struct buffer *why)
{
	(void)why;
	cursor->row = 0;
	cursor->end = model_images(cursor->trace->outline)->count;
	return true;
}

static void put_build_id(const struct image *image, sqlite3_context *to)
{
	LOCAL_BUFFER text = { 0 };

	for (size_t i = 0; i < image->build_id_size; i++)
		buffer_printf(&text, "%02x", image->build_id[i]);
	sql_text(to, text.data);
}

static void put_path(const char *path, sqlite3_context *to)
{
	sql_text(to, path != NULL && path[0] != 0 ? path : NULL);
}

static void images_value(struct sql_cursor *cursor, unsigned column,
			 sqlite3_context *to)
{
	const struct image *image =
		&model_images(cursor->trace->outline)->list[cursor->row];

	switch (column) {
	case IMAGE:
		sql_number(to, cursor->row + 1);
		break;
	case PATH:
		put_path(image->path, to);
		break;
	case NAME:
		put_path(image->name, to);
		break;
	case BUILD_ID:
		put_build_id(image, to);
		break;
	case BIAS:
		sql_number(to, image->bias);
		break;
	case SEGMENTS:
		sql_number(to, image->segment_count);
		break;
	case STAYED:
		sql_number(to, image->end_node == UINT32_MAX);
		break;
	}
}

const struct sql_table sql_table_images = {
	.name = "images",
	.help = "mapped programs and libraries",
	.columns = images_columns,
	.begin = images_begin,
	.value = images_value,
	.rows = 100,
};
