/*
 * firefox_shared.c: writes the tables of firefox_tables.h: each is an object of
 * arrays of equal length, one array a column.
 */
#include "cli/export/firefox/firefox_tables.h"
#include "cli/model/core/images.h"

#include <stdio.h>
#include <string.h>

#define RESOURCE_LIBRARY 1	/* as opposed to add-ons, hosts, … */
#define GUID_SIZE 16

void firefox_breakpad_id(char id[FIREFOX_BREAKPAD_ID],
			 const uint8_t *build_id, size_t size)
{
	/* the first three fields of a GUID are in native byte order, which is
	 * little-endian on all supported machines */
	static const uint8_t order[GUID_SIZE] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9,
						  10, 11, 12, 13, 14, 15 };

	for (size_t i = 0; i < GUID_SIZE; i++)
		sprintf(id + 2 * i, "%02X",
			order[i] < size ? build_id[order[i]] : 0u);
	strcpy(id + 2 * GUID_SIZE, "0");
}

static void write_lib(struct json *json, const struct image *image,
		      const char *arch)
{
	char code_id[2 * GL_BUILD_ID_MAX + 1] = "", id[FIREFOX_BREAKPAD_ID];

	for (size_t i = 0; i < image->build_id_size; i++)
		sprintf(code_id + 2 * i, "%02x", image->build_id[i]);
	firefox_breakpad_id(id, image->build_id, image->build_id_size);
	json_object(json, NULL);
	json_string(json, "arch", arch ? arch : "");
	json_string(json, "name", image->name);
	json_string(json, "path", image->path);
	json_string(json, "debugName", image->name);
	json_string(json, "debugPath", image->path);
	json_string(json, "breakpadId", id);
	json_string(json, "codeId", image->build_id_size ? code_id : NULL);
	json_end_object(json);
}

void firefox_write_libs(struct firefox_tables *tables, struct json *json)
{
	const struct model *model = tables->frames->model;

	json_array(json, "libs");
	for (size_t i = 0; i < tables->libs.pair_count; i++)
		write_lib(json, model_image(model, tables->libs.pairs[i].first),
			  model_fact(model, GT_INFO, "arch"));
	json_end_array(json);
}

/* ---- tables ---- */

#define NOT_KNOWN UINT64_MAX		/* JSON null */
#define NONE (UINT64_MAX - 1)		/* -1, in columns that require it */
#define FALSE (UINT64_MAX - 2)

/* A column: its name, and the value in each row. */
struct column {
	const char *name;
	uint64_t (*value)(const struct firefox_tables *tables, size_t row);
};

static void write_table(const struct firefox_tables *tables,
			struct json *json, const char *name, size_t rows,
			const struct column *columns, size_t count)
{
	json_object(json, name);
	for (size_t c = 0; c < count; c++) {
		json_array(json, columns[c].name);
		for (size_t i = 0; i < rows; i++) {
			uint64_t value = columns[c].value(tables, i);

			if (value == NOT_KNOWN)
				json_string(json, NULL, NULL);
			else if (value == NONE)
				json_int(json, NULL, -1);
			else if (value == FALSE)
				json_bool(json, NULL, false);
			else
				json_uint(json, NULL, value);
		}
		json_end_array(json);
	}
	json_uint(json, "length", rows);
	json_end_object(json);
}

#define TABLE(name, rows, columns)					\
	write_table(tables, json, name, rows, columns,			\
		    sizeof(columns) / sizeof((columns)[0]))
#define COLUMN(name, expression)					\
	static uint64_t name(const struct firefox_tables *tables, size_t i) \
	{								\
		(void)tables, (void)i;					\
		return expression;					\
	}

static uint64_t or_else(uint32_t value, uint32_t none, uint64_t instead)
{
	return value == none ? instead : value;
}

static const struct pair *home_of(const struct firefox_tables *tables,
				  size_t func)
{
	return &tables->homes.pairs[tables->funcs.pairs[func].second];
}

COLUMN(zero, 0)
COLUMN(not_known, NOT_KNOWN)
COLUMN(no, FALSE)
COLUMN(stack_frame, tables->stacks.pairs[i].second)
COLUMN(stack_prefix, or_else(tables->stacks.pairs[i].first, FIREFOX_NONE,
			     NOT_KNOWN))
COLUMN(frame_address, tables->list[i].address == FIREFOX_NO_ADDRESS ? NONE :
	tables->list[i].address)
COLUMN(frame_depth, tables->list[i].depth)
COLUMN(frame_category, tables->list[i].category)
COLUMN(frame_func, tables->list[i].func)
COLUMN(frame_line, or_else(tables->list[i].line, 0, NOT_KNOWN))
COLUMN(frame_column, or_else(tables->list[i].column, 0, NOT_KNOWN))
COLUMN(func_name, tables->funcs.pairs[i].first)
/* resources are libraries, with the same numbers */
COLUMN(func_resource, or_else(home_of(tables, i)->first, FIREFOX_NONE, NONE))
COLUMN(func_source, or_else(home_of(tables, i)->second, FIREFOX_NONE,
			    NOT_KNOWN))
COLUMN(resource_lib, i)
COLUMN(resource_name, tables->libs.pairs[i].second)
COLUMN(resource_type, RESOURCE_LIBRARY)
COLUMN(source_filename, tables->sources.pairs[i].first)
COLUMN(one, 1)

static const struct column stack_columns[] = {
	{ "frame", stack_frame }, { "prefix", stack_prefix },
};

static const struct column frame_columns[] = {
	{ "address", frame_address }, { "inlineDepth", frame_depth },
	{ "category", frame_category }, { "subcategory", zero },
	{ "func", frame_func }, { "nativeSymbol", not_known },
	{ "innerWindowID", not_known }, { "line", frame_line },
	{ "column", frame_column },
};

static const struct column func_columns[] = {
	{ "name", func_name }, { "isJS", no }, { "relevantForJS", no },
	{ "resource", func_resource }, { "source", func_source },
	{ "lineNumber", not_known }, { "columnNumber", not_known },
};

static const struct column resource_columns[] = {
	{ "lib", resource_lib }, { "name", resource_name },
	{ "host", not_known }, { "type", resource_type },
};

/* The start addresses of functions are not looked up: the table is empty. */
static const struct column symbol_columns[] = {
	{ "libIndex", zero }, { "address", zero }, { "name", zero },
	{ "functionSize", not_known },
};

static const struct column source_columns[] = {
	{ "id", not_known }, { "filename", source_filename },
	{ "startLine", one }, { "startColumn", one },
	{ "sourceMapURL", not_known },
};

void firefox_write_shared(struct firefox_tables *tables, struct json *json)
{
	json_object(json, "shared");
	TABLE("stackTable", tables->stacks.pair_count, stack_columns);
	TABLE("frameTable", tables->frame_count, frame_columns);
	TABLE("funcTable", tables->funcs.pair_count, func_columns);
	TABLE("resourceTable", tables->libs.pair_count, resource_columns);
	TABLE("nativeSymbols", (size_t)0, symbol_columns);
	TABLE("sources", tables->sources.pair_count, source_columns);
	json_array(json, "stringArray");
	for (size_t i = 0; i < tables->texts.count; i++)
		json_string(json, NULL, tables->texts.list[i]);
	json_end_array(json);
	json_end_object(json);
}
