/*
 * sql_result.h: writes the result of a statement as a table, CSV or JSON.
 */
#ifndef GNOMON_SQL_RESULT_H
#define GNOMON_SQL_RESULT_H

#include "cli/sql/sql_session.h"

/* Run the statement to its end: SQLITE_DONE, or the error. A statement without
 * columns writes nothing. */
int sql_result_write(struct sql_session *session, sqlite3_stmt *statement);

#endif
