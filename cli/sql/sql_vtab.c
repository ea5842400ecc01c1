/*
 * sql_vtab.c: makes each table (sql_table.h) a SQLite virtual table.
 * sql_plan.c chooses which constraints a table uses, and applies them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/sql/sql_moments.h"
#include "cli/sql/sql_plan.h"
#include "cli/sql/sql_table.h"

struct vtab {
	sqlite3_vtab base;	/* first */
	const struct sql_table *table;
	const struct sql_traces *traces;
};

struct module_of {
	const struct sql_table *table;
	struct sql_traces *traces;
};

static void refuse(sqlite3_vtab *base, struct buffer *why)
{
	sqlite3_free(base->zErrMsg);
	base->zErrMsg = sqlite3_mprintf("%s", buffer_text(why));
}

/* ---- making ---- */

static int vtab_connect(sqlite3 *db, void *aux, int argc,
			const char *const *argv, sqlite3_vtab **made,
			char **error)
{
	const struct module_of *module = aux;
	LOCAL_BUFFER schema = { 0 };
	struct vtab *vtab;
	int status;

	(void)argc, (void)argv, (void)error;
	sql_table_schema(module->table, false, &schema);
	status = sqlite3_declare_vtab(db, schema.data);
	if (status != SQLITE_OK)
		return status;
	sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
	vtab = grow_zeroed(1, sizeof(*vtab));
	vtab->table = module->table;
	vtab->traces = module->traces;
	*made = &vtab->base;
	return SQLITE_OK;
}

static int vtab_disconnect(sqlite3_vtab *base)
{
	free(base);
	return SQLITE_OK;
}

static int vtab_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct vtab *vtab = (struct vtab *)base;
	LOCAL_BUFFER why = { 0 };
	int status = sql_plan_choose(vtab->table, vtab->traces, info, &why);

	if (status == SQLITE_ERROR)
		refuse(base, &why);
	return status;
}

/* ---- cursors ---- */

static int vtab_open(sqlite3_vtab *base, sqlite3_vtab_cursor **made)
{
	const struct vtab *vtab = (struct vtab *)base;
	struct sql_cursor *cursor = grow_zeroed(1, sizeof(*cursor));

	cursor->table = vtab->table;
	cursor->traces = vtab->traces;
	vtab->table->columns(&cursor->own);
	*made = &cursor->base;
	return SQLITE_OK;
}

static void finish(struct sql_cursor *cursor)
{
	if (cursor->begun && cursor->table->finish != NULL)
		cursor->table->finish(cursor);
	cursor->begun = false;
	cursor->state = NULL;
	cursor->row = cursor->end = cursor->run = 0;
	memset(cursor->numbers, 0, sizeof(cursor->numbers));
}

static void reset(struct sql_cursor *cursor)
{
	finish(cursor);
	sql_words_free(&cursor->words);
	for (unsigned i = 0; i < SQL_COLUMNS_MAX; i++) {
		sqlite3_value_free(cursor->values[i]);
		cursor->values[i] = NULL;
	}
	for (unsigned i = 0; i < cursor->term_count; i++)
		free(cursor->terms[i].text);
	cursor->term_count = 0;
	cursor->nothing = false;
	cursor->skip = 0;
	cursor->at = 0;
}

static int vtab_close(sqlite3_vtab_cursor *base)
{
	reset((struct sql_cursor *)base);
	free(base);
	return SQLITE_OK;
}

/* Whether the terms select the process. */
static bool wants_trace(const struct sql_cursor *cursor, unsigned number)
{
	for (unsigned i = 0; i < cursor->term_count; i++) {
		const struct sql_term *term = &cursor->terms[i];

		if (term->column == 0 && term->op == SQLITE_INDEX_CONSTRAINT_EQ
		    && term->is_number && term->number != number)
			return false;
	}
	return true;
}

static bool is_context(enum filter_id id)
{
	return id == FILTER_CONTEXT || id == FILTER_FREE_CONTEXT;
}

/* For a context filter: whether the context is in this trace, and its node. */
static bool context_here(const struct sql_cursor *cursor,
			 const struct sql_word *word, uint64_t *node)
{
	uint64_t id;

	*node = 0;
	if (quantity_parse_count(word->text, &id) != 0)
		return true;	/* invalid: reported later */
	*node = (uint32_t)id;
	return id >> 32 == cursor->at;
}

/* Whether the filter value can match in this trace. */
static bool word_here(const struct sql_cursor *cursor,
		      const struct sql_word *word, uint64_t *node)
{
	*node = 0;
	if (is_context(word->id))
		return context_here(cursor, word, node);
	return !word->of_some || sql_moments_here(cursor->trace, word);
}

/* The values of one filter are alternatives. */
static bool filter_here(const struct sql_cursor *cursor, enum filter_id id)
{
	uint64_t node;

	for (unsigned i = 0; i < cursor->words.count; i++)
		if (cursor->words.list[i].id == id &&
		    word_here(cursor, &cursor->words.list[i], &node))
			return true;
	return false;
}

/* False: a filter has only contexts or names of other traces. */
static bool words_here(const struct sql_cursor *cursor)
{
	for (unsigned i = 0; i < cursor->words.count; i++) {
		const struct sql_word *word = &cursor->words.list[i];

		if (filter_here(cursor, word->id))
			continue;
		if (word->of_some)
			sql_moments_report(cursor->trace, word);
		return false;
	}
	return true;
}

/* The filter values in this trace's terms. */
static void words_of(const struct sql_cursor *cursor, struct sql_words *words)
{
	words->count = 0;
	for (unsigned i = 0; i < cursor->words.count; i++) {
		const struct sql_word *word = &cursor->words.list[i];
		uint64_t node;

		if (!word_here(cursor, word, &node))
			continue;
		words->list[words->count++] = (struct sql_word){
			.id = word->id, .text = node != 0 ?
			grow_format("%" PRIu64, node) :
			grow_copy(word->text, strlen(word->text))
		};
	}
}

struct sql_view *sql_cursor_view(const struct sql_cursor *cursor,
				 const struct query *query, struct buffer *why)
{
	struct sql_words words;
	struct sql_view *view;

	words_of(cursor, &words);
	view = sql_view_of(cursor->trace, &words, query, why);
	sql_words_free(&words);
	return view;
}

struct filter *sql_cursor_filter(const struct sql_cursor *cursor,
				 struct buffer *why)
{
	struct sql_words words;
	struct filter *filter;

	words_of(cursor, &words);
	filter = sql_trace_filter(cursor->trace, &words, why);
	sql_words_free(&words);
	return filter;
}

/* Set how many rows need no call of `next`. */
static void set_run(struct sql_cursor *cursor)
{
	const struct sql_table *table = cursor->table;

	cursor->run = table->next == NULL || table->runs ? cursor->end : 0;
}

/* Advance to the first row of this trace or a later one. */
static int settle(struct sql_cursor *cursor)
{
	LOCAL_BUFFER why = { 0 };

	while (cursor->row >= cursor->end) {
		if (cursor->begun) {
			finish(cursor);
			cursor->at++;
		}
		if (cursor->at >= cursor->traces->count)
			return SQLITE_OK;
		cursor->trace = &cursor->traces->list[cursor->at];
		if (!wants_trace(cursor, cursor->trace->number) ||
		    !words_here(cursor)) {
			cursor->at++;
			continue;
		}
		cursor->begun = true;
		if (!cursor->table->begin(cursor, &why)) {
			refuse(cursor->base.pVtab, &why);
			finish(cursor);
			return SQLITE_ERROR;
		}
	}
	set_run(cursor);
	return SQLITE_OK;
}

static int vtab_filter(sqlite3_vtab_cursor *base, int number,
		       const char *plan, int argc, sqlite3_value **argv)
{
	struct sql_cursor *cursor = (struct sql_cursor *)base;
	LOCAL_BUFFER why = { 0 };

	(void)number;
	reset(cursor);
	if (!sql_plan_apply(cursor, plan, argc, argv, &why)) {
		refuse(base->pVtab, &why);
		return SQLITE_ERROR;
	}
	if (cursor->nothing)
		cursor->at = cursor->traces->count;
	return settle(cursor);
}

/* Continue after a run. */
static int go_on(struct sql_cursor *cursor)
{
	LOCAL_BUFFER why = { 0 };

	if (cursor->table->next != NULL &&
	    !cursor->table->next(cursor, &why)) {
		refuse(cursor->base.pVtab, &why);
		return SQLITE_ERROR;
	}
	return settle(cursor);
}

static int vtab_next(sqlite3_vtab_cursor *base)
{
	struct sql_cursor *cursor = (struct sql_cursor *)base;

	return ++cursor->row < cursor->run ? SQLITE_OK : go_on(cursor);
}

static int vtab_eof(sqlite3_vtab_cursor *base)
{
	const struct sql_cursor *cursor = (struct sql_cursor *)base;

	return cursor->at >= cursor->traces->count;
}

/* sql_plan.c, I1 */
static int read_filter(struct sql_cursor *cursor, unsigned n,
		       sqlite3_context *to)
{
	char name[64];

	if (cursor->values[n] != NULL) {
		sqlite3_result_value(to, cursor->values[n]);
		return SQLITE_OK;
	}
	sql_table_column(cursor->table, n, name);
	sqlite3_free(cursor->base.pVtab->zErrMsg);
	cursor->base.pVtab->zErrMsg = sqlite3_mprintf(
		"%s is a filter on the whole table %s: write %s = VALUE in "
		"WHERE, joined to other conditions by AND", name,
		cursor->table->name, name);
	return SQLITE_ERROR;
}

static int vtab_column(sqlite3_vtab_cursor *base, sqlite3_context *to, int n)
{
	struct sql_cursor *cursor = (struct sql_cursor *)base;

	if (cursor->numbers[n] != NULL)
		sql_number(to, cursor->numbers[n][cursor->row]);
	else if (n == 0)
		sqlite3_result_int64(to, cursor->trace->number);
	else if ((unsigned)n > cursor->own)
		return read_filter(cursor, (unsigned)n, to);
	else
		cursor->table->value(cursor, (unsigned)n, to);
	return SQLITE_OK;
}

static int vtab_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *row)
{
	const struct sql_cursor *cursor = (struct sql_cursor *)base;
	uint64_t number = cursor->table->number == NULL ? cursor->row :
		cursor->table->number(cursor);

	*row = (sqlite3_int64)((uint64_t)cursor->at << 40 | number);
	return SQLITE_OK;
}

/* ---- for tables ---- */

const struct sql_term *sql_cursor_term(const struct sql_cursor *cursor,
				       unsigned column, int op)
{
	for (unsigned i = 0; i < cursor->term_count; i++)
		if (cursor->terms[i].column == column &&
		    cursor->terms[i].op == op)
			return &cursor->terms[i];
	return NULL;
}

void sql_cursor_find(struct sql_cursor *cursor, unsigned column,
		     const uint32_t *numbers, size_t count)
{
	const struct sql_term *term = sql_cursor_term(
		cursor, column, SQLITE_INDEX_CONSTRAINT_EQ);
	uint64_t wanted;
	size_t low = 0, high = count;

	cursor->row = 0;
	cursor->end = count;
	if (term == NULL)
		return;
	wanted = (uint64_t)term->number;
	cursor->end = 0;
	if (!term->is_number || wanted >> 32 != cursor->at)
		return;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (numbers[middle] < (uint32_t)wanted)
			low = middle + 1;
		else
			high = middle;
	}
	cursor->row = low;
	cursor->end = low < count && numbers[low] == (uint32_t)wanted ?
		low + 1 : low;
}

int sql_vtab_add(sqlite3 *db, struct sql_traces *traces)
{
	static const sqlite3_module module = {
		.iVersion = 1,
		.xConnect = vtab_connect,
		.xBestIndex = vtab_best_index,
		.xDisconnect = vtab_disconnect,
		.xOpen = vtab_open,
		.xClose = vtab_close,
		.xFilter = vtab_filter,
		.xNext = vtab_next,
		.xEof = vtab_eof,
		.xColumn = vtab_column,
		.xRowid = vtab_rowid,
	};
	int status = SQLITE_OK;

	for (size_t i = 0; sql_tables[i] != NULL && status == SQLITE_OK; i++) {
		struct module_of *of = grow_zeroed(1, sizeof(*of));

		*of = (struct module_of){ sql_tables[i], traces };
		status = sqlite3_create_module_v2(db, sql_tables[i]->name,
						  &module, of, free);
	}
	return status;
}
