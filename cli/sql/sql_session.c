/*
 * sql_session.c: see sql_session.h.
 */
#include "cli/sql/sql_session.h"

#include <errno.h>
#include <string.h>

#include "cli/base/terminal/log.h"
#include "cli/sql/sql_functions.h"
#include "cli/sql/sql_result.h"
#include "cli/sql/sql_table.h"

#define STATEMENT_MAX 1000000	/* bytes; SQLite's own limit is 1000 times as
				 * many */

const char *const sql_mode_names[SQL_MODES] = {
	[SQL_MODE_TABLE] = "table", [SQL_MODE_CSV] = "csv",
	[SQL_MODE_JSON] = "json",
};

/* ---- permissions ---- */

/* Pragmas that only describe tables. */
static const char *const pragmas[] = {
	"table_info", "table_xinfo", "table_list", "function_list",
	"module_list", "pragma_list", "collation_list", "compile_options",
	"database_list", "index_list", "index_info", "index_xinfo",
};

static bool may_pragma(const char *name)
{
	for (size_t i = 0; i < sizeof(pragmas) / sizeof(pragmas[0]); i++)
		if (sqlite3_stricmp(name, pragmas[i]) == 0)
			return true;
	return false;
}

/* Statements may change what is in memory; anything else would be a file. */
static int authorize(void *owner, int action, const char *first,
		     const char *second, const char *database,
		     const char *trigger)
{
	(void)owner, (void)database, (void)trigger;
	switch (action) {
	case SQLITE_ATTACH:
	case SQLITE_DETACH:
	case SQLITE_CREATE_VTABLE:
	case SQLITE_DROP_VTABLE:
	case SQLITE_ANALYZE:
		return SQLITE_DENY;
	case SQLITE_PRAGMA:
		return may_pragma(first) ? SQLITE_OK : SQLITE_DENY;
	case SQLITE_FUNCTION:
		return second != NULL &&
			sqlite3_stricmp(second, "load_extension") == 0 ?
			SQLITE_DENY : SQLITE_OK;
	default:
		return SQLITE_OK;
	}
}

static bool open_database(struct sql_session *session)
{
	int status = sqlite3_open_v2(":memory:", &session->db,
				     SQLITE_OPEN_READWRITE |
				     SQLITE_OPEN_MEMORY |
				     SQLITE_OPEN_NOMUTEX, NULL);

	if (status == SQLITE_OK)
		status = sql_vtab_add(session->db, &session->traces);
	if (status == SQLITE_OK)
		status = sql_functions_add(session->db, &session->traces);
	if (status != SQLITE_OK) {
		log_error("cannot start SQLite: %s",
			  session->db ? sqlite3_errmsg(session->db) :
			  sqlite3_errstr(status));
		return false;
	}
	sqlite3_db_config(session->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(session->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0,
			  NULL);
	sqlite3_limit(session->db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(session->db, SQLITE_LIMIT_SQL_LENGTH, STATEMENT_MAX);
	sqlite3_set_authorizer(session->db, authorize, NULL);
	return true;
}

bool sql_session_open(struct sql_session *session, struct trace_args *args)
{
	session->db = NULL;
	return sql_traces_open(&session->traces, args) &&
	       open_database(session);
}

void sql_session_close(struct sql_session *session)
{
	/* Close the database first: its cursors use the traces. */
	sqlite3_close(session->db);
	sql_traces_close(&session->traces);
}

void sql_session_interrupt(struct sql_session *session)
{
	atomic_store(&session->traces.cancel, true);
	if (session->db != NULL)
		sqlite3_interrupt(session->db);
}

/* ---- commands ---- */

static void put_tables(struct sql_session *session, const char *argument)
{
	(void)argument;
	for (size_t i = 0; sql_tables[i] != NULL; i++)
		fprintf(session->out, "%-12s %s\n", sql_tables[i]->name,
			sql_tables[i]->help);
}

static void put_schema(struct sql_session *session, const char *argument)
{
	bool any = false;

	for (size_t i = 0; sql_tables[i] != NULL; i++) {
		LOCAL_BUFFER text = { 0 };

		if (argument[0] != 0 &&
		    sqlite3_stricmp(argument, sql_tables[i]->name) != 0)
			continue;
		any = true;
		sql_table_schema(sql_tables[i], true, &text);
		fputs(text.data, session->out);
	}
	if (!any)
		log_error(".schema: no such table: see .tables");
}

static void set_mode(struct sql_session *session, const char *argument)
{
	for (unsigned i = 0; i < SQL_MODES; i++)
		if (strcmp(argument, sql_mode_names[i]) == 0) {
			session->mode = (enum sql_mode)i;
			return;
		}
	log_error(".mode: must be table, csv or json");
}

static void put_help(struct sql_session *session, const char *argument);

static const struct {
	const char *name, *help;
	void (*run)(struct sql_session *session, const char *argument);
} commands[] = {
	{ ".tables", "list the tables", put_tables },
	{ ".schema", "[TABLE]  show the columns of a table, or of all",
	  put_schema },
	{ ".mode", "table|csv|json  set the format of results", set_mode },
	{ ".help", "show this help", put_help },
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void put_help(struct sql_session *session, const char *argument)
{
	LOCAL_BUFFER functions = { 0 };

	(void)argument;
	fputs("Statements end with ; and may have several lines.\n\n",
	      session->out);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(session->out, "  %-8s %s\n", commands[i].name,
			commands[i].help);
	sql_functions_help(&functions);
	fprintf(session->out, "  %-8s %s\n\nFunctions:\n%s", ".quit",
		"leave the prompt",
		functions.data);
}

const char *sql_session_command(size_t n)
{
	return n < COMMANDS ? commands[n].name : NULL;
}

/* Run a dot command: one line. */
static int run_command(struct sql_session *session, const char *text)
{
	size_t name = strcspn(text, " \t\r\n;"), size;
	const char *argument = text + name + strspn(text + name, " \t");
	LOCAL_BUFFER given = { 0 };

	size = strcspn(argument, " \t\r\n;");
	buffer_add(&given, argument, size);
	for (size_t i = 0; i < COMMANDS; i++)
		if (strlen(commands[i].name) == name &&
		    memcmp(commands[i].name, text, name) == 0) {
			commands[i].run(session, buffer_text(&given));
			return EXIT_COMPLETE;
		}
	buffer_clear(&given);
	buffer_add(&given, text, name);
	buffer_printable(&given);
	log_error("%s: no such command: see .help", given.data);
	return EXIT_NOTHING;
}

/* ---- statements ---- */

/* Appends ": line 2, column 5" of SQLite's error, in bytes, counted in the
 * whole text. Nothing if SQLite knows no position. */
static void add_place(const struct sql_session *session, struct buffer *out,
		      const char *statement)
{
	int offset = sqlite3_error_offset(session->db);
	const char *at, *line = session->text;
	unsigned number = 1;

	if (statement == NULL || offset < 0)
		return;
	at = statement + offset;
	for (const char *c = session->text; c < at; c++)
		if (*c == '\n') {
			number++;
			line = c + 1;
		}
	buffer_printf(out, ": line %u, column %zu", number,
		      (size_t)(at - line) + 1);
}

/* What to do about a message of SQLite; may be empty. */
static const char *hint(const char *message)
{
	if (strncmp(message, "no such table", 13) == 0)
		return ": `.tables` lists them";
	if (strncmp(message, "no such column", 14) == 0)
		return ": `.schema TABLE` lists them";
	return "";
}

/* Log the error. `statement`: its text, for the position; NULL: a run-time
 * error. */
static int refuse(struct sql_session *session, int status,
		  const char *statement)
{
	LOCAL_BUFFER text = { 0 };
	LOCAL_BUFFER place = { 0 };

	if (status == SQLITE_INTERRUPT) {
		log_error("the statement was interrupted");
		return EXIT_NOTHING;
	}
	buffer_string(&text, sqlite3_errmsg(session->db));
	buffer_printable(&text);
	add_place(session, &place, statement);
	if (status == SQLITE_AUTH)
		log_error("SQL: %s: traces cannot be changed, and no other "
			  "file can be opened", text.data);
	else if (status == SQLITE_NOMEM)
		log_error("SQL: out of memory: raise --memory, or select "
			  "less");
	else
		log_error("SQL: %s%s%s", text.data, buffer_text(&place),
			  hint(text.data));
	return EXIT_NOTHING;
}

static int run_statement(struct sql_session *session, const char *text,
			 const char **rest)
{
	sqlite3_stmt *statement;
	int status = sqlite3_prepare_v2(session->db, text, -1, &statement,
					rest);

	if (status != SQLITE_OK)
		return refuse(session, status, text);
	if (statement == NULL)
		return EXIT_COMPLETE;	/* a comment, or nothing */
	status = sql_result_write(session, statement);
	if (status != SQLITE_DONE)
		status = refuse(session, status, NULL);
	else
		status = EXIT_COMPLETE;
	sqlite3_finalize(statement);
	return status;
}

int sql_session_run(struct sql_session *session, const char *text)
{
	int status = EXIT_COMPLETE;

	session->text = text;
	atomic_store(&session->traces.cancel, false);
	while (status == EXIT_COMPLETE) {
		text += strspn(text, " \t\r\n");
		if (text[0] == 0)
			break;
		if (text[0] != '.') {
			status = run_statement(session, text, &text);
			continue;
		}
		status = run_command(session, text);
		text += strcspn(text, "\n");
	}
	if (fflush(session->out) != 0 || ferror(session->out)) {
		log_error("cannot write the result: %s", strerror(errno));
		return log_failure_status();
	}
	return status == EXIT_COMPLETE ? session->traces.status : status;
}
