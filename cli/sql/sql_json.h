/*
 * sql_json.h: writes the result of a statement as one JSON object.
 */
#ifndef GNOMON_SQL_JSON_H
#define GNOMON_SQL_JSON_H

#include "cli/sql/sql_session.h"

/* Like sql_result_write. */
int sql_json_write(struct sql_session *session, sqlite3_stmt *statement);

#endif
