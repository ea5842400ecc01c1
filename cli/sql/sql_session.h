/*
 * sql_session.h: an in-memory SQLite database whose tables are traces, and runs
 * statements in it. Statements can read, and create temporary tables and views;
 * they cannot open files.
 *
 * One thread; a signal handler may call sql_session_interrupt.
 */
#ifndef GNOMON_SQL_SESSION_H
#define GNOMON_SQL_SESSION_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/sql/sql_trace.h"
#include "cli/sql/sqlite_compat.h"

enum sql_mode { SQL_MODE_TABLE, SQL_MODE_CSV, SQL_MODE_JSON, SQL_MODES };
extern const char *const sql_mode_names[SQL_MODES];

struct sql_session {
	struct sql_traces traces;
	sqlite3 *db;
	enum sql_mode mode;
	FILE *out;
	const char *text;	/* the text being run */
	bool no_summary;	/* JSON without summary */
};

/* Read the traces. False, after a message: none could be read. Call
 * sql_session_close in either case. */
bool sql_session_open(struct sql_session *session, struct trace_args *args);
void sql_session_close(struct sql_session *session);
/*
 * Run all statements of a text, or one dot command, and write the results.
 * Stops at the first error. Returns an exit status: EXIT_NOTHING after a
 * message.
 */
int sql_session_run(struct sql_session *session, const char *text);
/* Make the running statement end soon, with a message. */
void sql_session_interrupt(struct sql_session *session);
/* The name of the n-th dot command, without .quit; NULL: past the end. */
const char *sql_session_command(size_t n);

#endif
