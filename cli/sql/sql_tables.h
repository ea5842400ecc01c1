/*
 * sql_tables.h: all tables of SQL, one of a file each.
 */
#ifndef GNOMON_SQL_TABLES_H
#define GNOMON_SQL_TABLES_H

#include "cli/sql/sql_table.h"

extern const struct sql_table sql_table_contexts, sql_table_sums;

#endif
