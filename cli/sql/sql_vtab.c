/*
 * sql_vtab.c: makes each table (sql_table.h) a SQLite virtual table.
 *
 * The idxStr of a plan lists the constraints that SQLite passes to the cursor,
 * separated by spaces; EXPLAIN QUERY PLAN shows it.
 *
 *	"by context,thread | size_min= alive_at= size>= # 1f"
 *	 group keys          in the order of arguments    used columns
 *
 *  I1  A filter is used by = or by IN with all its values, or not at all.
 *      Reading the column of an unused filter is an error.
 *  I2  A plan with filters costs more than one without. Otherwise SQLite would
 *      combine several plans for an OR of filters, and each numbers its rows
 *      differently. If a filter could be used but is not, the plan is refused,
 *      so that SQLite cannot choose it for its lower cost.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/sql/sql_moments.h"
#include "cli/sql/sql_table.h"
#include "unwind/base/assertion.h"

#define COST_ALL 1e6		/* I2 */
#define COST_FILTERED 1e7
#define COST_FOUND 10.0
#define COST_RANGE 1e5

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

/* ---- plans ---- */

static const struct {
	int op;
	const char *text;
} ops[] = {
	{ SQLITE_INDEX_CONSTRAINT_EQ, "=" },
	{ SQLITE_INDEX_CONSTRAINT_GE, ">=" },
	{ SQLITE_INDEX_CONSTRAINT_LE, "<=" },
	{ SQLITE_INDEX_CONSTRAINT_GT, ">" },
	{ SQLITE_INDEX_CONSTRAINT_LT, "<" },
};
#define OPS (sizeof(ops) / sizeof(ops[0]))

static const char *op_text(int op)
{
	for (size_t i = 0; i < OPS; i++)
		if (ops[i].op == op)
			return ops[i].text;
	return NULL;
}

struct planning {
	sqlite3_index_info *info;
	const struct sql_table *table;
	struct buffer terms, why;
	int argument;
	bool filtered, found, ranged;
};

/* LIMIT and OFFSET are constraints without a column. */
static bool is_of_column(int op)
{
	return op != SQLITE_INDEX_CONSTRAINT_LIMIT &&
	       op != SQLITE_INDEX_CONSTRAINT_OFFSET;
}

#define OFFSET "offset"		/* in idxStr; no column has this name */

static void hand_on(struct planning *p, int i, const char *name, bool sure)
{
	sqlite3_index_info *info = p->info;

	info->aConstraintUsage[i].argvIndex = ++p->argument;
	info->aConstraintUsage[i].omit = sure;
	buffer_printf(&p->terms, " %s%s", name,
		      op_text(info->aConstraint[i].op) ?: "");
}

/* I1. SQLITE_CONSTRAINT: SQLite must not use this plan. */
static int plan_filter(struct planning *p, int i, const char *name)
{
	const struct sqlite3_index_constraint *term = &p->info->aConstraint[i];

	if (term->op != SQLITE_INDEX_CONSTRAINT_EQ) {
		buffer_printf(&p->why, "%s is a filter and supports only =: "
			      "write %s = VALUE, joined to other conditions by "
			      "AND", name, name);
		return SQLITE_ERROR;
	}
	if (!term->usable)
		return SQLITE_CONSTRAINT;
	sqlite3_vtab_in(p->info, i, 1);
	hand_on(p, i, name, true);
	p->filtered = true;
	return SQLITE_OK;
}

/* Whether the table checks the comparison exactly. */
static bool is_exact(const struct planning *p, int i,
		     const struct sql_column *column)
{
	sqlite3_value *value;

	return column->exact &&
	       sqlite3_vtab_rhs_value(p->info, i, &value) == SQLITE_OK &&
	       sqlite3_value_type(value) == SQLITE_INTEGER;
}

static void plan_plain(struct planning *p, int i,
		       const struct sql_column *column)
{
	const struct sqlite3_index_constraint *term = &p->info->aConstraint[i];
	bool equal = term->op == SQLITE_INDEX_CONSTRAINT_EQ;

	if (!term->usable || op_text(term->op) == NULL ||
	    !(equal ? column->equal : column->range))
		return;
	hand_on(p, i, column->name, is_exact(p, i, column));
	p->found |= equal;
	p->ranged |= !equal;
}

/* The table skips OFFSET rows itself if it returns all rows of one trace in its
 * own order: then SQLite need not see them. */
static void plan_offset(struct planning *p, int i, const struct vtab *vtab)
{
	const sqlite3_index_info *info = p->info;
	bool alone = p->table->skips && vtab->traces->count == 1 &&
		     info->nOrderBy == 0;

	for (int n = 0; n < info->nConstraint; n++)
		alone = alone && !is_of_column(info->aConstraint[n].op);
	if (alone && info->aConstraint[i].usable)
		hand_on(p, i, OFFSET, true);
}

static int plan_terms(struct planning *p, const struct vtab *vtab)
{
	for (int i = 0; i < p->info->nConstraint; i++) {
		const struct sqlite3_index_constraint *term =
			&p->info->aConstraint[i];
		struct sql_column column;
		char name[64];
		int status = SQLITE_OK;

		if (term->op == SQLITE_INDEX_CONSTRAINT_OFFSET)
			plan_offset(p, i, vtab);
		if (!is_of_column(term->op) || term->iColumn < 0)
			continue;
		column = sql_table_column(p->table, (unsigned)term->iColumn,
					  name);
		if (sql_table_filter(p->table, (unsigned)term->iColumn) != 0)
			status = plan_filter(p, i, column.name);
		else if (p->argument < SQL_TERMS_MAX)
			plan_plain(p, i, &column);
		if (status != SQLITE_OK)
			return status;
	}
	return SQLITE_OK;
}

static void set_cost(struct planning *p)
{
	sqlite3_index_info *info = p->info;
	uint64_t rows = p->table->rows;

	info->estimatedCost = p->filtered ? COST_FILTERED :
		p->found ? COST_FOUND : p->ranged ? COST_RANGE : COST_ALL;
	info->estimatedRows = (sqlite3_int64)(p->found ? 1 + rows / 1000 :
					      p->ranged ? 1 + rows / 10 : rows);
}

static void write_plan(struct planning *p)
{
	LOCAL_BUFFER by = { 0 }, text = { 0 };

	if (p->table->plan != NULL)
		p->table->plan(p->info->colUsed, &by, &p->why);
	buffer_printf(&text, "%s%s|%s # %" PRIx64, buffer_text(&by),
		      by.size > 0 ? " " : "", buffer_text(&p->terms),
		      (uint64_t)p->info->colUsed);
	p->info->idxStr = sqlite3_mprintf("%s", text.data);
	p->info->needToFreeIdxStr = 1;
}

static int vtab_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct vtab *vtab = (struct vtab *)base;
	struct planning p = { .info = info, .table = vtab->table };
	LOCAL_BUFFER by = { 0 };
	int status = plan_terms(&p, vtab);

	if (status == SQLITE_OK && vtab->table->plan != NULL &&
	    !vtab->table->plan(info->colUsed, &by, &p.why))
		status = SQLITE_ERROR;
	if (status == SQLITE_ERROR)
		refuse(base, &p.why);
	if (status == SQLITE_OK) {
		set_cost(&p);
		write_plan(&p);
	}
	buffer_free(&p.terms);
	buffer_free(&p.why);
	return status;
}

/* ---- values of a plan ---- */

/* The value in the form of the option; numeric times are in ns. */
static char *word_text(enum filter_id id, sqlite3_value *value)
{
	const char *kind = filter_options.options[id - FILTER_FIRST].value;
	bool time = strcmp(kind, "MOMENT") == 0 ||
		    strcmp(kind, "DURATION") == 0;
	const char *text = (const char *)sqlite3_value_text(value);
	bool number = sqlite3_value_type(value) != SQLITE_TEXT;

	return grow_format("%s%s", text ? text : "",
			   number && time ? "ns" : "");
}

static bool is_context(enum filter_id id)
{
	return id == FILTER_CONTEXT || id == FILTER_FREE_CONTEXT;
}

static bool take_word(struct sql_cursor *cursor, enum filter_id id,
		      sqlite3_value *value, struct buffer *why)
{
	struct sql_words *words = &cursor->words;

	if (sqlite3_value_type(value) == SQLITE_NULL) {
		cursor->nothing = true;
		return true;
	}
	if (words->count == SQL_WORDS_MAX) {
		buffer_printf(why, "too many filter values: at most %d",
			      SQL_WORDS_MAX);
		return false;
	}
	words->list[words->count] = (struct sql_word){
		.id = id, .text = word_text(id, value)
	};
	words->list[words->count].of_some = sql_moments_known(
		cursor->traces, &words->list[words->count]);
	words->count++;
	return true;
}

static bool take_filter(struct sql_cursor *cursor, unsigned column,
			sqlite3_value *value, struct buffer *why)
{
	enum filter_id id = (enum filter_id)sql_table_filter(cursor->table,
							     column);
	sqlite3_value *one;
	bool any = false;
	int status;

	if (cursor->traces->count > 0 &&
	    sql_trace_has_word(&cursor->traces->list[0], id)) {
		buffer_printf(why, "--%s is given on the command line: remove "
			      "it there or in the statement",
			      filter_options.options[id - FILTER_FIRST].name);
		return false;
	}
	if (cursor->values[column] != NULL) {
		buffer_printf(why, "--%s is given twice: use IN (...) for "
				   "alternatives",
			      filter_options.options[id - FILTER_FIRST].name);
		return false;
	}
	status = sqlite3_vtab_in_first(value, &one);
	if (status != SQLITE_OK && status != SQLITE_DONE) {
		cursor->values[column] = sqlite3_value_dup(value);
		return take_word(cursor, id, value, why);
	}
	for (; status == SQLITE_OK && one != NULL;
	     status = sqlite3_vtab_in_next(value, &one)) {
		if (!any)
			cursor->values[column] = sqlite3_value_dup(one);
		any = true;
		if (!take_word(cursor, id, one, why))
			return false;
	}
	cursor->nothing |= !any;
	return true;
}

static void take_term(struct sql_cursor *cursor, unsigned column, int op,
		      sqlite3_value *value)
{
	struct sql_term *term = &cursor->terms[cursor->term_count];
	int type = sqlite3_value_type(value);
	const char *text = (const char *)sqlite3_value_text(value);

	if (type == SQLITE_NULL) {
		cursor->nothing = true;
		return;
	}
	/* SQLite compares with fractions. */
	if (type == SQLITE_FLOAT && op != SQLITE_INDEX_CONSTRAINT_EQ)
		return;
	ASSERT(cursor->term_count < SQL_TERMS_MAX);
	cursor->term_count++;
	*term = (struct sql_term){ .column = column, .op = op };
	term->is_number = type == SQLITE_INTEGER ||
		(type == SQLITE_FLOAT && sqlite3_value_double(value) ==
		 (double)sqlite3_value_int64(value));
	term->number = sqlite3_value_int64(value);
	if (type == SQLITE_TEXT)
		term->text = grow_copy(text, strlen(text));
}

/* "size>=": a column and its operator. */
static bool take_piece(struct sql_cursor *cursor, const char *piece,
		       size_t size, sqlite3_value *value, struct buffer *why)
{
	size_t letters = strcspn(piece, "=<>");

	if (size == strlen(OFFSET) && memcmp(piece, OFFSET, size) == 0) {
		cursor->skip = (uint64_t)(sqlite3_value_int64(value) > 0 ?
					  sqlite3_value_int64(value) : 0);
		return true;
	}
	for (unsigned n = 0; n < sql_table_count(cursor->table); n++) {
		char name[64];
		struct sql_column column = sql_table_column(cursor->table, n,
							    name);

		if (strlen(column.name) != letters ||
		    memcmp(column.name, piece, letters) != 0)
			continue;
		if (sql_table_filter(cursor->table, n) != 0)
			return take_filter(cursor, n, value, why);
		for (size_t i = 0; i < OPS; i++)
			if (strlen(ops[i].text) == size - letters &&
			    memcmp(ops[i].text, piece + letters,
				   size - letters) == 0)
				take_term(cursor, n, ops[i].op, value);
		return true;
	}
	ASSERT(false);
	return false;
}

static bool take_plan(struct sql_cursor *cursor, const char *plan, int argc,
		      sqlite3_value **argv, struct buffer *why)
{
	const char *at = strchr(plan, '|');
	const char *used = strrchr(plan, '#');

	ASSERT(at != NULL && used != NULL);
	cursor->used = strtoull(used + 1, NULL, 16);
	for (int i = 0; i < argc; i++) {
		size_t size;

		at += strspn(at, "| ");
		size = strcspn(at, " ");
		if (!take_piece(cursor, at, size, argv[i], why))
			return false;
		at += size;
	}
	return true;
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
	if (!take_plan(cursor, plan, argc, argv, &why)) {
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

/* I1 */
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
