/*
 * sql_prompt.c: see sql_prompt.h. Uses libedit, whose licence is compatible
 * with gnomon's. One thread.
 */
#include "cli/sql/sql_prompt.h"

#include <editline/readline.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/terminal/log.h"
#include "cli/sql/sql_functions.h"
#include "cli/sql/sql_table.h"

#define HISTORY_LINES 1000

/* ---- completion ---- */

static const char *const words[] = {
	"select", "distinct", "from", "where", "and", "or", "not", "group by",
	"order by", "having", "limit", "join", "left join", "using", "union",
	"with", "as", "asc", "desc", "in", "between", "like", "regexp", "is",
	"null", "case", "when", "then", "else", "end", "count", "sum", "min",
	"max", "avg", "total", "over", "partition by", "create temp table",
	"create temp view", "explain query plan", ".quit",
};
#define WORDS (sizeof(words) / sizeof(words[0]))

struct candidates {
	const char *text;
	int left;		/* matches to skip */
	char *found;
};

static void offer(struct candidates *c, const char *word)
{
	if (c->found == NULL &&
	    strncasecmp(word, c->text, strlen(c->text)) == 0 && c->left-- == 0)
		c->found = grow_copy(word, strlen(word));
}

/* libedit's callback: the n-th match, from state 0; the caller frees it. */
static char *next_candidate(const char *text, int state)
{
	struct candidates c = { .text = text, .left = state };

	for (size_t i = 0; sql_tables[i] != NULL; i++)
		offer(&c, sql_tables[i]->name);
	for (size_t i = 0; sql_functions_name(i) != NULL; i++)
		offer(&c, sql_functions_name(i));
	for (size_t i = 0; sql_session_command(i) != NULL; i++)
		offer(&c, sql_session_command(i));
	for (size_t i = 0; i < WORDS; i++)
		offer(&c, words[i]);
	for (size_t i = 0; sql_tables[i] != NULL; i++)
		for (unsigned n = 0; n < sql_table_count(sql_tables[i]); n++) {
			char name[64];

			offer(&c, sql_table_column(sql_tables[i], n, name)
				      .name);
		}
	return c.found;
}

static char **complete(const char *text, int start, int end)
{
	(void)start, (void)end;
	/* no file names if nothing else matches */
	rl_attempted_completion_over = 1;
	return rl_completion_matches(text, next_candidate);
}

/* ---- history ---- */

/* $XDG_STATE_HOME/gnomon/sql_history; the caller frees it. NULL: no home. */
static char *history_path(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *folder, *path;

	if (state != NULL && state[0] == '/')
		folder = grow_format("%s/gnomon", state);
	else if (home != NULL && home[0] == '/')
		folder = grow_format("%s/.local/state/gnomon", home);
	else
		return NULL;
	for (char *at = folder + 1; *at != 0; at++)
		if (*at == '/') {
			*at = 0;
			mkdir(folder, 0700);	/* usually it exists */
			*at = '/';
		}
	mkdir(folder, 0700);
	path = grow_format("%s/sql_history", folder);
	free(folder);
	return path;
}

static char *begin_history(void)
{
	char *path = history_path();

	using_history();
	stifle_history(HISTORY_LINES);
	if (path != NULL)
		read_history(path);	/* missing the first time */
	return path;
}

static void end_history(char *path)
{
	mode_t mask = umask(0077);

	/* A failure to save the history is not reported. */
	if (path != NULL)
		write_history(path);
	umask(mask);
	free(path);
}

/* ---- lines ---- */

static bool is_blank(const char *text)
{
	return text[strspn(text, " \t\r\n")] == 0;
}

static bool is_quit(const char *text)
{
	static const char *const quits[] = { ".quit", ".exit", "quit", "exit" };
	size_t size = strcspn(text, " \t;");

	for (size_t i = 0; i < sizeof(quits) / sizeof(quits[0]); i++)
		if (strlen(quits[i]) == size &&
		    memcmp(quits[i], text, size) == 0 &&
		    text[size + strspn(text + size, " \t;")] == 0)
			return true;
	return false;
}

static void run_text(struct sql_worker *worker, const char *text)
{
	bool had = worker->pid != 0;

	sql_worker_was_interrupted();	/* an interrupt of the line editor */
	if (sql_worker_run(worker, text) == SQL_WORKER_INTERRUPTED &&
	    worker->stopped)
		log_error("interrupted");
	if (had && worker->pid == 0)
		log_note("the process was restarted: temporary tables and "
			 "views are gone");
}

/* False: the user quit. */
static bool take_line(struct sql_worker *worker, char *line,
		      struct buffer *text)
{
	if (text->size == 0 && is_quit(line))
		return false;
	if (text->size == 0 && is_blank(line))
		return true;
	buffer_printf(text, "%s%s", text->size > 0 ? "\n" : "", line);
	if (text->data[0] != '.' && !sqlite3_complete(text->data))
		return true;
	add_history(text->data);
	run_text(worker, text->data);
	buffer_clear(text);
	return true;
}

int sql_prompt(struct sql_worker *worker)
{
	LOCAL_BUFFER text = { 0 };
	char *path = begin_history(), *line;
	int status;
	bool more;

	rl_readline_name = "gnomon";
	rl_attempted_completion_function = complete;
	/* read the traces and log errors before the prompt */
	status = sql_worker_run(worker, "");
	more = worker->pid != 0;
	if (more)
		printf("Statements end with a semicolon; .help shows more.\n");
	while (more) {
		line = readline(text.size > 0 ? "   ...> " : "gnomon> ");
		if (line == NULL && sql_worker_was_interrupted()) {
			putchar('\n');
			buffer_clear(&text);
			continue;
		}
		more = line != NULL && take_line(worker, line, &text);
		if (line == NULL)
			putchar('\n');
		free(line);
	}
	end_history(path);
	return status;
}
