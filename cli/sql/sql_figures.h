/*
 * sql_figures.h: the columns of measures (cli/model/stats/figures.h) for all
 * tables that have them: `bytes` and `blocks`, which do not depend on the
 * moment, then the measures of the table of figures, under the same names.
 */
#ifndef GNOMON_SQL_FIGURES_H
#define GNOMON_SQL_FIGURES_H

#include "cli/sql/sql_table.h"

#define SQL_FIGURES_MAX (2 + MEASURE_MEMBERS_MAX)

/* Append the columns to the `count` columns of a list that has room. */
void sql_figures_columns(struct sql_column *list, unsigned *count);
/* The value of the n-th of these columns. */
void sql_figures_value(const struct figures *figures, uint64_t end_ns,
		       unsigned n, sqlite3_context *to);
/* Whether the n-th column is about the own peak of a row. */
bool sql_figures_own_peak(unsigned n);

#endif
