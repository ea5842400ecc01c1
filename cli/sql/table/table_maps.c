/*
 * table_maps.c: the tables `maps`, the mappings and their origins, and
 * `map_usage`, the resident memory of each mapping at snapshots.
 */
#include "cli/model/maps/maps.h"
#include "cli/model/stats/footprint.h"
#include "cli/sql/sql_tables.h"

static void put_path(const char *path, sqlite3_context *to)
{
	sql_text(to, path != NULL && path[0] != 0 ? path : NULL);
}

/* ---- maps ---- */

enum { MAP = 1, ADDRESS, SIZE, LEFT, BEGIN, END, PATH, ORIGIN, CONTEXT,
       READABLE, WRITABLE, EXECUTABLE, SHARED };

static const struct sql_column map_own[] = {
	{ "map", SQL_INTEGER, .help = "number of the mapping" },
	{ "address", SQL_INTEGER, .help = "address when mapped" },
	{ "size", SQL_INTEGER, .help = "bytes of address space when mapped" },
	{ "bytes", SQL_INTEGER, .help = "bytes still mapped at the end" },
	{ "begin_ns", SQL_INTEGER, .help = "time when mapped or first seen" },
	{ "end_ns", SQL_INTEGER, .help = "time when completely unmapped; NULL: "
	  "still mapped" },
	{ "path", SQL_TEXT, .help = "path of the file; NULL: no file, or "
				    "unknown" },
	{ "origin", SQL_TEXT, .help = "origin: the program, malloc, the "
	  "loader, ..." },
	{ "context", SQL_INTEGER, .help = "call stack that mapped it; NULL: "
	  "unknown" },
	{ "readable", SQL_INTEGER, .help = "1: readable when mapped" },
	{ "writable", SQL_INTEGER, .help = "1: writable when mapped" },
	{ "executable", SQL_INTEGER, .help = "1: executable when mapped" },
	{ "shared", SQL_INTEGER, .help = "1: shared mapping" },
};

static const struct sql_column *maps_columns(unsigned *count)
{
	*count = sizeof(map_own) / sizeof(map_own[0]);
	return map_own;
}

static bool maps_begin(struct sql_cursor *cursor, struct buffer *why)
{
	(void)why;
	cursor->row = 0;
	cursor->end = model_maps(sql_trace_maps(cursor->trace))->count;
	return true;
}

static void maps_value(struct sql_cursor *cursor, unsigned column,
		       sqlite3_context *to)
{
	const struct model *model = cursor->trace->maps;
	const struct mapping *map = &model_maps(model)->list[cursor->row];

	switch (column) {
	case MAP:
		sql_number(to, cursor->row);
		break;
	case ADDRESS:
		sql_number(to, map->start);
		break;
	case SIZE:
		sql_number(to, map->size);
		break;
	case LEFT:
		sql_number(to, map->bytes);
		break;
	case BEGIN:
		sql_number(to, model_since_start_ns(model, map->mapped));
		break;
	case END:
		if (map->unmapped != 0)
			sql_number(to, model_since_start_ns(model,
							    map->unmapped));
		break;
	case PATH:
		put_path(map->path, to);
		break;
	case ORIGIN:
		sql_text(to, map_origin_names[map->origin]);
		break;
	case CONTEXT:
		if (map->node != MAPS_NO_NODE)
			sql_number(to, sql_id(cursor->trace, map->node));
		break;
	case READABLE:
		sql_number(to, (map->is & GT_MAPS_READ) != 0);
		break;
	case WRITABLE:
		sql_number(to, (map->is & GT_MAPS_WRITE) != 0);
		break;
	case EXECUTABLE:
		sql_number(to, (map->is & GT_MAPS_EXECUTE) != 0);
		break;
	case SHARED:
		sql_number(to, (map->is & GT_MAPS_SHARED) != 0);
		break;
	}
}

const struct sql_table sql_table_maps = {
	.name = "maps",
	.help = "mappings and their origins: address space, not memory in use",
	.columns = maps_columns,
	.begin = maps_begin,
	.value = maps_value,
	.rows = 1000,
};

/* ---- map_usage ---- */

enum { SNAPSHOT = 1, USAGE_ADDRESS, USAGE_SIZE, USAGE_PATH, VALUES };

static const struct sql_column usage_own[] = {
	{ "snapshot", SQL_INTEGER, .help = "snapshots.snapshot" },
	{ "address", SQL_INTEGER, .help = "address of the mapping" },
	{ "size", SQL_INTEGER, .help = "bytes of address space" },
	{ "path", SQL_TEXT, .help = "path of the file; NULL: none" },
	{ "rss_bytes", SQL_INTEGER, .help = "resident bytes" },
	{ "pss_bytes", SQL_INTEGER, .help = "proportional share of resident "
					    "bytes" },
	{ "shared_clean_bytes", SQL_INTEGER, .help = "see /proc/PID/smaps" },
	{ "shared_dirty_bytes", SQL_INTEGER, .help = "see /proc/PID/smaps" },
	{ "private_clean_bytes", SQL_INTEGER, .help = "see /proc/PID/smaps" },
	{ "private_dirty_bytes", SQL_INTEGER, .help = "see /proc/PID/smaps" },
	{ "anonymous_bytes", SQL_INTEGER, .help = "see /proc/PID/smaps" },
	{ "huge_bytes", SQL_INTEGER, .help = "bytes in huge pages" },
	{ "swap_bytes", SQL_INTEGER, .help = "bytes in swap" },
};

static const struct sql_column *usage_columns(unsigned *count)
{
	*count = sizeof(usage_own) / sizeof(usage_own[0]);
	return usage_own;
}

static bool usage_begin(struct sql_cursor *cursor, struct buffer *why)
{
	(void)why;
	cursor->row = 0;
	cursor->end = model_footprint(cursor->trace->outline)->mapping_count;
	return true;
}

/* Mappings of a snapshot are contiguous. */
static size_t snapshot_of(const struct footprint *footprint, uint64_t mapping)
{
	size_t i = 0;

	while (i + 1 < footprint->snapshot_count &&
	       footprint->snapshots[i].first + footprint->snapshots[i].count <=
		       mapping)
		i++;
	return i;
}

static void usage_value(struct sql_cursor *cursor, unsigned column,
			sqlite3_context *to)
{
	const struct footprint *footprint =
		model_footprint(cursor->trace->outline);
	const struct footprint_mapping *map =
		&footprint->mappings[cursor->row];

	switch (column) {
	case SNAPSHOT:
		sql_number(to, snapshot_of(footprint, cursor->row) + 1);
		break;
	case USAGE_ADDRESS:
		sql_number(to, map->start);
		break;
	case USAGE_SIZE:
		sql_number(to, map->size);
		break;
	case USAGE_PATH:
		put_path(map->path, to);
		break;
	default:
		/* the kernel's values are in KiB */
		sql_number(to, 1024 *
			   map->value[GT_MAPPING_RSS + column - VALUES]);
	}
}

const struct sql_table sql_table_map_usage = {
	.name = "map_usage",
	.help = "resident memory of each mapping at each snapshot",
	.columns = usage_columns,
	.begin = usage_begin,
	.value = usage_value,
	.rows = 1000,
};
