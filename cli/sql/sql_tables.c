/*
 * sql_tables.c: the table of tables.
 */
#include "cli/sql/sql_tables.h"

const struct sql_table *const sql_tables[] = {
	&sql_table_sums,
	&sql_table_contexts,
	NULL
};
