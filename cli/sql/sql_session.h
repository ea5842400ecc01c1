/*
 * sql_session.h: a database in memory whose tables are traces, and statements
 * that are run in it. It can be read, and temporary tables and views can be
 * made; files cannot be opened from it.
 *
 * One thread; sql_session_interrupt may be called by a signal handler.
 */
#ifndef GNOMON_SQL_SESSION_H
#define GNOMON_SQL_SESSION_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>

#include "cli/sql/sql_trace.h"

enum sql_mode { SQL_MODE_TABLE, SQL_MODE_CSV, SQL_MODE_JSON, SQL_MODES };
extern const char *const sql_mode_names[SQL_MODES];

struct sql_session {
	struct sql_traces traces;
	sqlite3 *db;
	enum sql_mode mode;
	FILE *out;
	const char *text;	/* what is run */
	bool no_summary;	/* JSON lacks it */
};

/* Reads the traces that were found. False: nothing could be read, which was
 * said. To be closed in any case. */
bool sql_session_open(struct sql_session *session, struct reading *reading);
void sql_session_close(struct sql_session *session);
/*
 * Runs all statements of a text, or one line that begins with a dot, and writes
 * what they come to. Returns an exit status: EXIT_NOTHING after a message. Ends
 * with the first that fails.
 */
int sql_session_run(struct sql_session *session, const char *text);
/* What runs ends soon, with a message. */
void sql_session_interrupt(struct sql_session *session);
/* The commands that begin with a dot, but for .quit: the n-th; NULL behind the
 * last. */
const char *sql_session_command(size_t n);

#endif
