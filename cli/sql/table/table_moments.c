/*
 * table_moments.c: the tables `markers`, control events with their times;
 * `snapshots`; and `usage`, the memory of the process over time as the kernel
 * counts it.
 */
#include <string.h>

#include "cli/command/print/report_parts.h"
#include "cli/model/core/controls.h"
#include "cli/model/stats/footprint.h"
#include "cli/sql/sql_tables.h"

static void put_name(const char *name, sqlite3_context *to)
{
	sql_text(to, name != NULL && name[0] != 0 ? name : NULL);
}

static void put_time(struct sql_cursor *cursor, uint64_t stamp,
		     sqlite3_context *to)
{
	sql_number(to, model_since_start_ns(cursor->trace->outline, stamp));
}

/* ---- markers ---- */

enum { MARKER_TIME = 1, MARKER_WHAT, MARKER_NAME };

static const struct sql_column marker_own[] = {
	{ "time_ns", SQL_INTEGER, .help = "since the start of the "
	  "recording" },
	{ "what", SQL_TEXT, .help = "kind: start, stop, clear or marker" },
	{ "name", SQL_TEXT, .help = "name, for alive_at = '@NAME'; NULL: "
	  "none" },
};

static const struct sql_column *markers_columns(unsigned *count)
{
	*count = sizeof(marker_own) / sizeof(marker_own[0]);
	return marker_own;
}

static bool markers_begin(struct sql_cursor *cursor, struct buffer *why)
{
	(void)why;
	cursor->row = 0;
	cursor->end = model_controls(cursor->trace->outline)->count;
	return true;
}

static void markers_value(struct sql_cursor *cursor, unsigned column,
			  sqlite3_context *to)
{
	const struct control *control =
		&model_controls(cursor->trace->outline)->list[cursor->row];

	if (column == MARKER_TIME)
		put_time(cursor, control->stamp, to);
	else if (column == MARKER_WHAT)
		sql_text(to, control_words[control->what]);
	else
		put_name(control->name, to);
}

const struct sql_table sql_table_markers = {
	.name = "markers",
	.help = "control events: starts, stops, clears, markers",
	.columns = markers_columns,
	.begin = markers_begin,
	.value = markers_value,
	.rows = 100,
};

/* ---- snapshots ---- */

enum { SNAPSHOT = 1, TIME, NAME, KIND, MAPPINGS, SIZE, RSS, ANONYMOUS, SWAP,
       RECORDER, SYSTEM, FREE, TOP, MMAPPED };

static const struct sql_column snapshot_own[] = {
	{ "snapshot", SQL_INTEGER, .help = "number in order of time, from 1" },
	{ "time_ns", SQL_INTEGER, .help = "since the start of the "
	  "recording" },
	{ "name", SQL_TEXT, .help = "name, for alive_at = '@NAME'; NULL: "
	  "none" },
	{ "kind", SQL_TEXT, .help = "every (--snapshot-every), end, or asked "
	  "(on request)" },
	{ "mappings", SQL_INTEGER, .help = "number of mappings" },
	{ "size_bytes", SQL_INTEGER, .help = "mapped bytes of address space" },
	{ "rss_bytes", SQL_INTEGER, .help = "resident bytes" },
	{ "anonymous_bytes", SQL_INTEGER, .help =
	  "part of rss_bytes without a file" },
	{ "swap_bytes", SQL_INTEGER, .help = "bytes in swap" },
	{ "recorder_rss_bytes", SQL_INTEGER, .help =
	  "part of rss_bytes that is the recorder's own" },
	{ "arena_bytes", SQL_INTEGER, .help =
	  "bytes that the C library's allocator has from the system; NULL, "
	  "here and below: unknown" },
	{ "arena_free_bytes", SQL_INTEGER, .help =
	  "part of arena_bytes in no block" },
	{ "arena_top_bytes", SQL_INTEGER, .help =
	  "part of arena_free_bytes at the end of the heap, which can be "
	  "returned to the system" },
	{ "mmapped_bytes", SQL_INTEGER, .help =
	  "bytes in blocks with mappings of their own" },
};

static const struct sql_column *snapshots_columns(unsigned *count)
{
	*count = sizeof(snapshot_own) / sizeof(snapshot_own[0]);
	return snapshot_own;
}

static bool snapshots_begin(struct sql_cursor *cursor, struct buffer *why)
{
	(void)why;
	cursor->row = 0;
	cursor->end = model_footprint(cursor->trace->outline)->snapshot_count;
	return true;
}

static const char *kind_text(uint32_t kind)
{
	static const char *const words[GT_SNAPSHOT_KINDS] = {
		[GT_SNAPSHOT_EVERY] = "every", [GT_SNAPSHOT_LAST] = "end",
		[GT_SNAPSHOT_ASKED] = "asked",
	};

	return kind < GT_SNAPSHOT_KINDS ? words[kind] : NULL;
}

static void put_arenas(const struct footprint_snapshot *snapshot,
		       unsigned column, sqlite3_context *to)
{
	static const unsigned values[] = {
		[SYSTEM] = GT_ARENAS_SYSTEM, [FREE] = GT_ARENAS_FREE,
		[TOP] = GT_ARENAS_TOP, [MMAPPED] = GT_ARENAS_MMAPPED,
	};

	if (snapshot->said.arenas == GT_ARENAS_TAKEN)
		sql_number(to, snapshot->said.arenas_value[values[column]]);
}

static void snapshots_value(struct sql_cursor *cursor, unsigned column,
			    sqlite3_context *to)
{
	const struct footprint_snapshot *snapshot = &model_footprint(
		cursor->trace->outline)->snapshots[cursor->row];

	switch (column) {
	case SNAPSHOT:
		sql_number(to, cursor->row + 1);
		break;
	case TIME:
		put_time(cursor, snapshot->said.begin, to);
		break;
	case NAME:
		put_name(snapshot->name, to);
		break;
	case KIND:
		sql_text(to, kind_text(snapshot->said.kind));
		break;
	case MAPPINGS:
		sql_number(to, snapshot->all.mappings);
		break;
	case SIZE:
		sql_number(to, snapshot->all.size);
		break;
	case RSS:
		sql_number(to, snapshot->all.value[GT_MAPPING_RSS]);
		break;
	case ANONYMOUS:
		sql_number(to, snapshot->all.value[GT_MAPPING_ANONYMOUS]);
		break;
	case SWAP:
		sql_number(to, snapshot->all.value[GT_MAPPING_SWAP]);
		break;
	case RECORDER:
		sql_number(to, snapshot->ours.value[GT_MAPPING_RSS]);
		break;
	default:
		put_arenas(snapshot, column, to);
	}
}

const struct sql_table sql_table_snapshots = {
	.name = "snapshots",
	.help = "snapshots of the memory of the process",
	.columns = snapshots_columns,
	.begin = snapshots_begin,
	.value = snapshots_value,
	.rows = 10,
};

/* ---- usage ---- */

static const char *const usage_help[GT_USAGE_VALUES] = {
	[GT_USAGE_COST_NS] = "time that the recorder took to read the row",
	[GT_USAGE_SIZE] = "mapped bytes (VSS)",
	[GT_USAGE_RSS] = "resident bytes",
	[GT_USAGE_SHARED] = "resident bytes of files and shared memory",
	[GT_USAGE_PSS] = "resident bytes, shared ones divided by their users",
	[GT_USAGE_SHARED_CLEAN] = "see /proc/PID/smaps",
	[GT_USAGE_SHARED_DIRTY] = "see /proc/PID/smaps",
	[GT_USAGE_PRIVATE_CLEAN] = "see /proc/PID/smaps",
	[GT_USAGE_PRIVATE_DIRTY] = "see /proc/PID/smaps",
	[GT_USAGE_ANONYMOUS] = "resident bytes of no file",
	[GT_USAGE_SWAP] = "bytes in swap",
	[GT_USAGE_FAULTS_MINOR] = "page faults that read nothing, so far",
	[GT_USAGE_FAULTS_MAJOR] = "page faults that read from a disk, so far",
};

static const struct sql_column *usage_columns(unsigned *count)
{
	static struct sql_column list[1 + GT_USAGE_VALUES];
	static unsigned known;

	if (known == 0) {
		list[known++] = (struct sql_column){
			"time_ns", SQL_INTEGER,
			.help = "since the start of the recording",
		};
		for (unsigned i = 0; i < GT_USAGE_VALUES; i++)
			if (report_usage_keys[i] != NULL)
				list[known++] = (struct sql_column){
					report_usage_keys[i], SQL_INTEGER,
					.help = usage_help[i],
				};
	}
	*count = known;
	return list;
}

static bool usage_begin(struct sql_cursor *cursor, struct buffer *why)
{
	(void)why;
	cursor->row = 0;
	cursor->end = model_footprint(cursor->trace->outline)->point_count;
	return true;
}

static void usage_value(struct sql_cursor *cursor, unsigned column,
			sqlite3_context *to)
{
	const struct trace_usage *point = &model_footprint(
		cursor->trace->outline)->points[cursor->row];
	unsigned at = 1;

	if (column == 1)
		put_time(cursor, point->stamp, to);
	for (unsigned i = 0; i < GT_USAGE_VALUES; i++)
		if (report_usage_keys[i] != NULL && ++at == column)
			sql_number(to, footprint_value(
				point, (enum gt_usage_value)i));
}

const struct sql_table sql_table_usage = {
	.name = "usage",
	.help = "memory of the process over time, as counted by the kernel",
	.columns = usage_columns,
	.begin = usage_begin,
	.value = usage_value,
	.rows = 1000,
};
