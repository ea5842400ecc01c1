/*
 * table_sums.c: the table `sums`: blocks in groups, like `gnomon report --by`.
 * gnomon groups by the key columns that a statement uses, so SQLite handles
 * thousands of rows instead of millions of blocks.
 *
 *  I1  The rows of one process add up to all selected blocks, except when a
 *      within_ column is used: then a block may be in several rows.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/command/export.h"
#include "cli/model/core/pools.h"
#include "cli/model/core/threads.h"
#include "cli/model/heap.h"
#include "cli/model/block_lifetimes.h"
#include "cli/model/map_index.h"
#include "cli/model/stats/histograms.h"
#include "cli/query/rows.h"
#include "cli/sql/sql_figures.h"
#include "cli/sql/sql_stack.h"
#include "cli/sql/sql_tables.h"
#include "unwind/base/assertion.h"

struct sums {
	struct query query;
	struct query_source source;
	struct query_rows rows;
	struct sql_view *view;
	unsigned key_of[SQL_COLUMNS_MAX];	/* of the query, by column */
	bool by_context;
};

typedef void sums_value(const struct query_value *value, sqlite3_context *to);

static void put_function(const struct query_value *value, sqlite3_context *to)
{
	LOCAL_BUFFER text = { 0 };

	sql_text(to, value->known ? export_frame_name(&text, &value->frame) :
		 NULL);
}

static void put_file(const struct query_value *value, sqlite3_context *to)
{
	sql_text(to, value->known ? value->frame.file : NULL);
}

static void put_line(const struct query_value *value, sqlite3_context *to)
{
	if (value->known && value->frame.line > 0)
		sql_number(to, value->frame.line);
}

static void put_library(const struct query_value *value, sqlite3_context *to)
{
	sql_text(to, value->known ? value->frame.library : NULL);
}

static void put_thread(const struct query_value *value, sqlite3_context *to)
{
	const struct threads *threads = model_threads(value->model);

	if (value->value > 0 && value->value < threads->count)
		sql_number(to, threads->list[value->value].tid);
}

static void put_thread_name(const struct query_value *value,
			    sqlite3_context *to)
{
	const struct threads *threads = model_threads(value->model);

	if (value->value > 0 && value->value < threads->count)
		sql_text(to, threads_name(&threads->list[value->value]));
}

static void put_size(const struct query_value *value, sqlite3_context *to)
{
	if (value->value != BLOCK_KEY_UNKNOWN)
		sql_number(to, value->value);
}

static void put_size_class(const struct query_value *value,
			   sqlite3_context *to)
{
	if (value->value != BLOCK_KEY_UNKNOWN)
		sql_number(to, histogram_low((unsigned)value->value));
}

static void put_lifetime(const struct query_value *value, sqlite3_context *to)
{
	if (value->value != BLOCK_KEY_UNKNOWN &&
	    value->value != BLOCK_LIFETIME_LIVE)
		sql_number(to, histogram_low((unsigned)value->value));
}

static void put_arena(const struct query_value *value, sqlite3_context *to)
{
	sql_text(to, heap_part_names[value->value < HEAP_PARTS ?
				     value->value : HEAP_UNKNOWN]);
}

static void put_mapping(const struct query_value *value, sqlite3_context *to)
{
	sql_text(to, value->value == BLOCK_KEY_UNKNOWN ? NULL :
		 map_index_name(model_mappings(value->model),
				(uint32_t)value->value));
}

static void put_heap(const struct query_value *value, sqlite3_context *to)
{
	sql_text(to, value->value == BLOCK_KEY_UNKNOWN ? NULL :
		 pools_name_of(model_pools(value->model),
			       (uint32_t)value->value));
}

/* ---- columns ---- */

#define CONTEXT 1	/* number of its column */

/* Key columns, from column CONTEXT on. */
static const struct key_column {
	struct sql_column column;
	const char *key;	/* name in query_keys */
	sums_value *put;	/* NULL: the context */
	sql_stack_value *of_context;	/* if rows are contexts */
} keys[] = {
	{ { "context", SQL_INTEGER,
	    .help = "number of the call stack: contexts.context" },
	  "stack", NULL, NULL },
	{ { "function", SQL_TEXT, .help = "function of the site: the innermost "
	    "frame of the program's own code" },
	  "function", put_function, sql_stack_function },
	{ { "file", SQL_TEXT, .help = "source file of the site; NULL: "
				      "unknown" },
	  "file", put_file, sql_stack_file },
	{ { "line", SQL_INTEGER, .help = "line of the site; NULL: unknown" },
	  "line", put_line, sql_stack_line },
	{ { "library", SQL_TEXT, .help = "library of the site" },
	  "library", put_library, sql_stack_library },
	{ { "thread", SQL_INTEGER, .hidden = true, .help =
	    "kernel's id (tid) of the allocating thread" },
	  "thread", put_thread, NULL },
	{ { "thread_name", SQL_TEXT, .hidden = true,
	    .help = "last name of that thread" },
	  "thread", put_thread_name, NULL },
	{ { "size", SQL_INTEGER, .hidden = true, .help =
	    "size of each block; NULL: unknown, or 4 GiB or more" },
	  "size", put_size, NULL },
	{ { "size_class", SQL_INTEGER, .hidden = true, .help =
	    "largest power of two not above the size; NULL: unknown" },
	  "size-class", put_size_class, NULL },
	{ { "lifetime_class", SQL_INTEGER, .hidden = true, .help =
	    "largest power of two not above the lifetime in ns; NULL: never "
	    "freed, or unknown" },
	  "lifetime-class", put_lifetime, NULL },
	{ { "arena", SQL_TEXT, .hidden = true,
	    .help = "part of the C library's heap" },
	  "arena", put_arena, NULL },
	{ { "mapping", SQL_TEXT, .hidden = true, .help =
	    "path of the mapping; '': no file; NULL: unknown" },
	  "mapping", put_mapping, NULL },
	{ { "heap", SQL_TEXT, .hidden = true, .help =
	    "custom heap of the program" },
	  "heap", put_heap, NULL },
	{ { "within_function", SQL_TEXT, .hidden = true, .help =
	    "any function of the stack: a block is in several rows" },
	  "within-function", put_function, NULL },
	{ { "within_file", SQL_TEXT, .hidden = true,
	    .help = "any source file of the stack" },
	  "within-file", put_file, NULL },
	{ { "within_library", SQL_TEXT, .hidden = true,
	    .help = "any library of the stack" },
	  "within-library", put_library, NULL },
};
#define KEYS (sizeof(keys) / sizeof(keys[0]))
#define FIGURES (CONTEXT + KEYS)

static const struct sql_column *sums_columns(unsigned *count)
{
	static struct sql_column list[KEYS + SQL_FIGURES_MAX];
	static unsigned known;

	if (known == 0) {
		for (known = 0; known < KEYS; known++)
			list[known] = keys[known].column;
		sql_figures_columns(list, &known);
	}
	*count = known;
	return list;
}

/* ---- which keys ---- */

static const struct query_key *key_of(unsigned i)
{
	return query_key_find(keys[i].key, strlen(keys[i].key));
}

static bool has_key(const struct query *query, const struct query_key *key)
{
	for (unsigned i = 0; i < query->key_count; i++)
		if (query->keys[i] == key)
			return true;
	return false;
}

static bool is_of_site(const struct query_key *key)
{
	return key->of == QUERY_OF_FRAME && !key->inclusive;
}

/* Whether to group by context: if it is used, or if there would be too many
 * keys. A context determines its site. */
static bool needs_contexts(uint64_t used)
{
	unsigned count = 0;

	for (unsigned i = 1; i < KEYS; i++)
		count += sql_uses(used, CONTEXT + i);
	return sql_uses(used, CONTEXT) || count > QUERY_KEYS_MAX;
}

static bool choose_keys(uint64_t used, struct query *query, struct buffer *why)
{
	const struct query_key *wanted[KEYS];
	bool contexts = needs_contexts(used);
	unsigned count = 0;
	LOCAL_BUFFER names = { 0 };

	for (unsigned i = 0; i < KEYS; i++) {
		const struct query_key *key = key_of(i);
		bool known = false;

		for (unsigned k = 0; k < count; k++)
			known |= wanted[k] == key;
		if (!known && (i == 0 ? contexts :
			       sql_uses(used, CONTEXT + i) &&
			       !(contexts && is_of_site(key))))
			wanted[count++] = key;
	}
	if (count == 0)
		wanted[count++] = query_key_find("process", 7);
	for (unsigned i = 0; i < count; i++)
		buffer_printf(&names, "%s%s", i ? "," : "", wanted[i]->name);
	if (query_parse_keys(query, names.data, why))
		return true;
	buffer_string(why, ": use fewer of these columns of sums, or use the "
		      "table blocks");
	return false;
}

static bool sums_plan(uint64_t used, struct buffer *by, struct buffer *why)
{
	struct query query = { 0 };

	if (!choose_keys(used, &query, why))
		return false;
	buffer_string(by, "by ");
	query_key_names(&query, by);
	return true;
}

static bool wants_own_peaks(uint64_t used)
{
	unsigned count;

	sums_columns(&count);
	for (unsigned n = 0; FIGURES + n < count + 1; n++)
		if (sql_uses(used, FIGURES + n) && sql_figures_own_peak(n))
			return true;
	return false;
}

/* ---- rows ---- */

/* Drop contexts without selected blocks. */
static void drop_empty(struct query_rows *rows)
{
	size_t kept = 0;

	for (size_t i = 0; i < rows->count; i++) {
		const struct figures *figures = &rows->list[i].figures;

		if (figures->count > 0 || figures->live_blocks > 0)
			rows->list[kept++] = rows->list[i];
	}
	rows->count = kept;
}

static void collect(struct sql_cursor *cursor, struct sums *sums)
{
	struct sql_trace *trace = cursor->trace;
	struct sql_view *view = sums->view;
	struct query *query = &sums->query;

	query->filter = view->filter;
	/* needs another pass; not available if rows share blocks */
	query->order =
		wants_own_peaks(cursor->used) && query_inclusive(query) == NULL
			? MEASURE_OWN_PEAK
			: MEASURE_LIVE;
	sums->by_context = query_has(query, QUERY_OF_STACK);
	sums->source = (struct query_source){
		.model = view->model, .frames = sql_view_frames(view),
		.profile = query_needs_profile(query) ?
			sql_view_profile(view) : NULL,
		.trace = trace->path, .end_ns = trace->end_ns,
		.processes = &trace->process,
		.keep = view->keeps ? stack_filter_keeps : NULL,
		.keeper = view->keeps,
	};
	query_rows_collect(query, &sums->source, &sums->rows);
	drop_empty(&sums->rows);
}

/* Whether some key is not a property of blocks alone. */
static bool needs_stacks(const struct query *query)
{
	for (unsigned i = 0; i < query->key_count; i++)
		if (query->keys[i]->of != QUERY_OF_BLOCK)
			return true;
	return false;
}

static bool sums_begin(struct sql_cursor *cursor, struct buffer *why)
{
	const struct query *given = &cursor->trace->args->query;
	struct sums *sums = grow_zeroed(1, sizeof(*sums));

	cursor->state = sums;
	sums->query.temporary = given->temporary;
	sums->query.groups_max = QUERY_GROUPS_MAX;
	sums->query.spares = QUERY_SPARES_SIZES | QUERY_SPARES_WHOLE |
			     QUERY_SPARES_BLOCKS |
			     (wants_own_peaks(cursor->used) ? 0 :
			      QUERY_SPARES_OWN_PEAKS);
	if (!choose_keys(cursor->used, &sums->query, why))
		return false;
	if (!needs_stacks(&sums->query))
		sums->query.spares |= QUERY_SPARES_STACKS;
	for (unsigned i = 0; i < KEYS; i++)
		for (unsigned k = 0; k < sums->query.key_count; k++)
			if (sums->query.keys[k] == key_of(i))
				sums->key_of[CONTEXT + i] = k;
	sums->view = sql_cursor_view(cursor, &sums->query, why);
	if (sums->view == NULL)
		return false;
	collect(cursor, sums);
	cursor->row = 0;
	cursor->end = sums->rows.count;
	return true;
}

static void sums_finish(struct sql_cursor *cursor)
{
	struct sums *sums = cursor->state;

	if (sums->rows.query != NULL)
		query_rows_free(&sums->rows);
	if (sums->view != NULL)
		sql_view_release(sums->view);
	free(sums);
}

static void put_key(struct sql_cursor *cursor, unsigned i,
		    const struct query_row *row, sqlite3_context *to)
{
	struct sums *sums = cursor->state;
	struct query_value value;

	if (i == 0) {
		sql_number(to, sql_id(cursor->trace, row->node));
	} else if (sums->by_context && is_of_site(key_of(i))) {
		keys[i].of_context(cursor->trace, row->node, to);
	} else if (has_key(&sums->query, key_of(i))) {
		query_row_value(&sums->rows, row, sums->key_of[CONTEXT + i],
				&value);
		keys[i].put(&value, to);
	}
}

static void sums_value_of(struct sql_cursor *cursor, unsigned column,
			  sqlite3_context *to)
{
	const struct sums *sums = cursor->state;
	const struct query_row *row = &sums->rows.list[cursor->row];

	if (column < FIGURES)
		put_key(cursor, column - CONTEXT, row, to);
	else if (row->contexts > 1 && !sums->rows.exact &&
		 sql_figures_own_peak(column - FIGURES))
		sqlite3_result_null(to);	/* only an upper bound is
						 * known */
	else
		sql_figures_value(&row->figures, cursor->trace->end_ns,
				  column - FIGURES, to);
}

const struct sql_table sql_table_sums = {
	.name = "sums",
	.help = "blocks in groups, by those columns from context to "
		"within_library that a statement uses",
	.columns = sums_columns,
	.filters = true,
	.begin = sums_begin,
	.finish = sums_finish,
	.value = sums_value_of,
	.plan = sums_plan,
	.rows = 10000,
};
