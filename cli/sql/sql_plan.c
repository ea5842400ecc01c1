/*
 * sql_plan.c: see sql_plan.h.
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
 *
 * Called by the session's thread.
 */
#include "cli/sql/sql_plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/sql/sql_moments.h"
#include "unwind/base/assertion.h"

#define COST_ALL 1e6		/* I2 */
#define COST_FILTERED 1e7
#define COST_FOUND 10.0
#define COST_RANGE 1e5

/* ---- choosing ---- */

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
	struct buffer terms;
	struct buffer *why;
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
		buffer_printf(p->why, "%s is a filter and supports only =: "
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
static void plan_offset(struct planning *p, int i,
			const struct sql_traces *traces)
{
	const sqlite3_index_info *info = p->info;
	bool alone = p->table->skips && traces->count == 1 &&
		     info->nOrderBy == 0;

	for (int n = 0; n < info->nConstraint; n++)
		alone = alone && !is_of_column(info->aConstraint[n].op);
	if (alone && info->aConstraint[i].usable)
		hand_on(p, i, OFFSET, true);
}

static int plan_terms(struct planning *p, const struct sql_traces *traces)
{
	for (int i = 0; i < p->info->nConstraint; i++) {
		const struct sqlite3_index_constraint *term =
			&p->info->aConstraint[i];
		struct sql_column column;
		char name[64];
		int status = SQLITE_OK;

		if (term->op == SQLITE_INDEX_CONSTRAINT_OFFSET)
			plan_offset(p, i, traces);
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
		p->table->plan(p->info->colUsed, &by, p->why);
	buffer_printf(&text, "%s%s|%s # %" PRIx64, buffer_text(&by),
		      by.size > 0 ? " " : "", buffer_text(&p->terms),
		      (uint64_t)p->info->colUsed);
	p->info->idxStr = sqlite3_mprintf("%s", text.data);
	p->info->needToFreeIdxStr = 1;
}

int sql_plan_choose(const struct sql_table *table,
		    const struct sql_traces *traces, sqlite3_index_info *info,
		    struct buffer *why)
{
	struct planning p = { .info = info, .table = table, .why = why };
	LOCAL_BUFFER by = { 0 };
	int status = plan_terms(&p, traces);

	if (status == SQLITE_OK && table->plan != NULL &&
	    !table->plan(info->colUsed, &by, why))
		status = SQLITE_ERROR;
	if (status == SQLITE_OK) {
		set_cost(&p);
		write_plan(&p);
	}
	buffer_free(&p.terms);
	return status;
}

/* ---- applying ---- */

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

bool sql_plan_apply(struct sql_cursor *cursor, const char *plan, int argc,
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
