/*
 * sql_figures.h: the columns that tell figures (cli/model/stats/figures.h),
 * for each table that has them: from the one table of figures, by the same
 * names, and two that mean the same whatever is live.
 */
#ifndef GNOMON_SQL_FIGURES_H
#define GNOMON_SQL_FIGURES_H

#include "cli/sql/sql_table.h"

#define SQL_FIGURES_MAX (2 + FIGURE_MEMBERS_MAX)

/* Appends them to the `count` columns of a list that has room. */
void sql_figures_columns(struct sql_column *list, unsigned *count);
/* The n-th of them. */
void sql_figures_value(const struct figures *figures, uint64_t end_ns,
		       unsigned n, sqlite3_context *to);
/* Whether the n-th says when and how much most was live of a row by itself. */
bool sql_figures_own_peak(unsigned n);

#endif
