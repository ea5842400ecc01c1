/*
 * table_maps.c: the tables `maps`, what was mapped by whom, and `map_usage`, how
 * much of each mapping was in memory when a snapshot was taken.
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
	{ "map", SQL_INTEGER, .help = "a number" },
	{ "address", SQL_INTEGER, .help = "where it was made" },
	{ "size", SQL_INTEGER, .help = "in bytes of addresses, as it was "
	  "made" },
	{ "bytes", SQL_INTEGER, .help = "what is left of it at the end" },
	{ "begin_ns", SQL_INTEGER, .help = "when it was made, or first "
	  "seen" },
	{ "end_ns", SQL_INTEGER, .help = "when the last of it went; NULL: it "
	  "is there" },
	{ "path", SQL_TEXT, .help = "NULL: of no file, or not known" },
	{ "origin", SQL_TEXT, .help = "who made it: the program, malloc, the "
	  "loader, ..." },
	{ "context", SQL_INTEGER, .help = "the call stack that made it; NULL: "
	  "not known" },
	{ "readable", SQL_INTEGER, .help = "1: at first" },
	{ "writable", SQL_INTEGER, .help = "1: at first" },
	{ "executable", SQL_INTEGER, .help = "1: at first" },
	{ "shared", SQL_INTEGER, .help = "1: with others" },
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
	.help = "what was mapped, by whom; addresses, not memory in use",
	.columns = maps_columns,
	.begin = maps_begin,
	.value = maps_value,
	.rows = 1000,
};

/* ---- map_usage ---- */

enum { SNAPSHOT = 1, USAGE_ADDRESS, USAGE_SIZE, USAGE_PATH, VALUES };

static const struct sql_column usage_own[] = {
	{ "snapshot", SQL_INTEGER, .help = "snapshots.snapshot" },
	{ "address", SQL_INTEGER, .help = "of the mapping" },
	{ "size", SQL_INTEGER, .help = "in bytes of addresses" },
	{ "path", SQL_TEXT, .help = "NULL: of no file" },
	{ "rss_bytes", SQL_INTEGER, .help = "in memory" },
	{ "pss_bytes", SQL_INTEGER, .help = "its share of what is shared" },
	{ "shared_clean_bytes", SQL_INTEGER, .help = "as /proc/PID/smaps" },
	{ "shared_dirty_bytes", SQL_INTEGER, .help = "as /proc/PID/smaps" },
	{ "private_clean_bytes", SQL_INTEGER, .help = "as /proc/PID/smaps" },
	{ "private_dirty_bytes", SQL_INTEGER, .help = "as /proc/PID/smaps" },
	{ "anonymous_bytes", SQL_INTEGER, .help = "as /proc/PID/smaps" },
	{ "huge_bytes", SQL_INTEGER, .help = "in huge pages" },
	{ "swap_bytes", SQL_INTEGER, .help = "in swap" },
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

/* Mappings of a snapshot adjoin. */
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
		/* the kernel counts in KiB */
		sql_number(to, 1024 *
			   map->value[GT_MAPPING_RSS + column - VALUES]);
	}
}

const struct sql_table sql_table_map_usage = {
	.name = "map_usage",
	.help = "how much of each mapping was in memory at each snapshot",
	.columns = usage_columns,
	.begin = usage_begin,
	.value = usage_value,
	.rows = 1000,
};
