/*
 * sql_tables.h: the list of all SQL tables; each is in a file of its own.
 */
#ifndef GNOMON_SQL_TABLES_H
#define GNOMON_SQL_TABLES_H

#include "cli/sql/sql_table.h"

extern const struct sql_table sql_table_blocks, sql_table_block_counts,
	sql_table_sums, sql_table_contexts,
	sql_table_frames, sql_table_stacks, sql_table_threads,
	sql_table_processes, sql_table_images, sql_table_maps,
	sql_table_map_usage, sql_table_usage, sql_table_timeline,
	sql_table_markers, sql_table_snapshots, sql_table_heaps,
	sql_table_tuning, sql_table_pages, sql_table_pinned,
	sql_table_residency, sql_table_left_out, sql_table_losses;

#endif
