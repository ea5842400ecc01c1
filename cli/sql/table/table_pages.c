/*
 * table_pages.c: the tables `pages`, the pages with live blocks; `pinned`, the
 * call stacks whose blocks keep pages (cli/model/pages/pages.h); and
 * `residency`, the parts of resident memory at snapshots (residency.h).
 */
#include <stdio.h>
#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/model/core/contexts.h"
#include "cli/model/heap.h"
#include "cli/model/map_index.h"
#include "cli/model/maps/maps.h"
#include "cli/model/pages/pages.h"
#include "cli/model/pages/residency.h"
#include "cli/model/stats/footprint.h"
#include "cli/sql/sql_tables.h"

#define SNAPSHOTS_MAX 1000	/* limit on snapshots: each is analysed */

static struct map_index *maps_of(const struct model *model)
{
	return model_maps(model)->count == 0 ? NULL :
		map_index_new(NULL, model, "pages");
}

/* ---- pages, pinned ---- */

struct pages_state {
	struct sql_view *view;
	struct map_index *maps;
	uint32_t *groups;	/* cost -> its node, or PAGES_NO_GROUP */
	struct pages *pages;
};

/* Contexts whose stacks a filter excludes are in no group. */
static uint32_t *groups_of(const struct sql_view *view)
{
	const struct contexts *contexts = model_contexts(view->model);
	uint32_t *groups = grow_alloc(contexts->cost_count * sizeof(*groups));

	for (size_t i = 0; i < contexts->cost_count; i++) {
		const struct context_cost *cost = &contexts->costs[i];
		struct figures figures;

		model_figures(view->model, cost, &figures);
		groups[i] = view->keeps == NULL ||
			stack_filter_keeps(view->keeps, cost->node, &figures) ?
			cost->node : PAGES_NO_GROUP;
	}
	return groups;
}

/* The moment of the live blocks. */
static uint64_t moment_of(const struct sql_cursor *cursor,
			  const struct sql_view *view)
{
	const struct filter_word *word =
		filter_word(view->filter, FILTER_ALIVE_AT, 0);
	uint64_t ns;

	return word != NULL && moment_ns(view->model, &word->moment, &ns) ?
		ns : cursor->trace->end_ns;
}

static bool find_pages(struct sql_cursor *cursor, bool runs,
		       struct buffer *why)
{
	const struct query query = {
		.temporary = cursor->trace->args->query.temporary,
		.spares = QUERY_SPARES_OWN_PEAKS | QUERY_SPARES_SIZES |
			  QUERY_SPARES_WHOLE,
	};
	struct pages_state *state = grow_zeroed(1, sizeof(*state));
	struct pages_options options = { .runs = runs };

	cursor->state = state;
	if (model_is_sampled(cursor->trace->outline)) {
		buffer_printf(why, "%s: is a sampled recording: the pages of "
			      "most blocks are unknown",
			      cursor->trace->path);
		return false;
	}
	state->view = sql_cursor_view(cursor, &query, why);
	if (state->view == NULL)
		return false;
	state->maps = maps_of(sql_trace_paths(cursor->trace));
	state->groups = groups_of(state->view);
	options.group_of_cost = state->groups;
	options.group_count =
		model_contexts(state->view->model)->node_count;
	options.maps = state->maps;
	options.moment_ns = moment_of(cursor, state->view);
	state->pages = pages_new(state->view->model, &options);
	return true;
}

static void pages_finish(struct sql_cursor *cursor)
{
	struct pages_state *state = cursor->state;

	pages_free(state->pages);
	map_index_free(state->maps);
	free(state->groups);
	if (state->view != NULL)
		sql_view_release(state->view);
	free(state);
}

enum { ADDRESS = 1, PAGES, PAGE_SIZE, LIVE, BLOCKS, CONTEXTS, MAPPING, ARENA };

static const struct sql_column page_own[] = {
	{ "address", SQL_INTEGER, .help = "address of the first of several "
	  "adjacent, equal pages" },
	{ "pages", SQL_INTEGER, .help = "number of these pages" },
	{ "page_size", SQL_INTEGER, .help = "page size in bytes" },
	{ "live_bytes", SQL_INTEGER, .help = "live bytes on each page" },
	{ "blocks", SQL_INTEGER, .help = "blocks on each page, at least in "
	  "part" },
	{ "contexts", SQL_INTEGER, .help = "number of call stacks that "
	  "allocated these blocks" },
	{ "mapping", SQL_TEXT, .help = "path of the mapping; '': no file; "
	  "NULL: unknown" },
	{ "arena", SQL_TEXT, .help = "part of the C library's heap" },
};

static const struct sql_column *pages_columns(unsigned *count)
{
	*count = sizeof(page_own) / sizeof(page_own[0]);
	return page_own;
}

static bool pages_begin(struct sql_cursor *cursor, struct buffer *why)
{
	const struct pages_state *state;

	if (!find_pages(cursor, true, why))
		return false;
	state = cursor->state;
	cursor->row = 0;
	cursor->end = state->pages->run_count;
	return true;
}

static void pages_value(struct sql_cursor *cursor, unsigned column,
			sqlite3_context *to)
{
	const struct pages_state *state = cursor->state;
	const struct pages *pages = state->pages;
	const struct page_run *run = &pages->runs[cursor->row];

	switch (column) {
	case ADDRESS:
		sql_number(to, run->address);
		break;
	case PAGES:
		sql_number(to, run->pages);
		break;
	case PAGE_SIZE:
		sql_number(to, pages->page_size);
		break;
	case LIVE:
		sql_number(to, run->live_bytes);
		break;
	case BLOCKS:
		sql_number(to, run->blocks);
		break;
	case CONTEXTS:
		sql_number(to, run->groups);
		break;
	case MAPPING:
		sql_text(to, pages->mappings[run->mapping].path);
		break;
	case ARENA:
		sql_text(to, heap_part_names[pages->heaps[run->heap].part]);
		break;
	}
}

const struct sql_table sql_table_pages = {
	.name = "pages",
	.help = "pages with live blocks: at the end, or at alive_at",
	.columns = pages_columns,
	.filters = true,
	.begin = pages_begin,
	.finish = pages_finish,
	.value = pages_value,
	.rows = 10000,
};

enum { CONTEXT = 1, PIN_BLOCKS, PIN_LIVE, PIN_PAGES, SHARED, ALONE, RESIDENT };

static const struct sql_column pin_own[] = {
	{ "context", SQL_INTEGER, .help = "number of the call stack: "
					  "contexts.context" },
	{ "blocks", SQL_INTEGER, .help = "live blocks of the call stack" },
	{ "live_bytes", SQL_INTEGER, .help = "bytes of these blocks" },
	{ "pages", SQL_INTEGER, .help = "number of pages with these blocks" },
	{ "kept_bytes", SQL_INTEGER, .help =
	  "its share of these pages by live bytes: adds up to all pages" },
	{ "kept_alone_bytes", SQL_INTEGER, .help =
	  "pages without other live blocks, which would be free without these; "
	  "does not add up" },
	{ "kept_resident_bytes", SQL_INTEGER, .help =
	  "the part of kept_bytes that may be resident at most; NULL: no "
	  "snapshot" },
};

static const struct sql_column *pinned_columns(unsigned *count)
{
	*count = sizeof(pin_own) / sizeof(pin_own[0]);
	return pin_own;
}

/* Advance to the first node from `node` on that has blocks. */
static void pass_nodes(struct sql_cursor *cursor, uint64_t node)
{
	const struct pages_state *state = cursor->state;

	cursor->end = state->pages->group_count;
	while (node < cursor->end && state->pages->groups[node].blocks == 0)
		node++;
	cursor->row = node;
}

static bool pinned_begin(struct sql_cursor *cursor, struct buffer *why)
{
	if (!find_pages(cursor, false, why))
		return false;
	pass_nodes(cursor, 0);
	return true;
}

static bool pinned_next(struct sql_cursor *cursor, struct buffer *why)
{
	(void)why;
	pass_nodes(cursor, cursor->row);
	return true;
}

static void pinned_value(struct sql_cursor *cursor, unsigned column,
			 sqlite3_context *to)
{
	const struct pages_state *state = cursor->state;
	const struct pages_group *group = &state->pages->groups[cursor->row];

	switch (column) {
	case CONTEXT:
		sql_number(to, sql_id(cursor->trace, (uint32_t)cursor->row));
		break;
	case PIN_BLOCKS:
		sql_number(to, group->blocks);
		break;
	case PIN_LIVE:
		sql_number(to, group->live_bytes);
		break;
	case PIN_PAGES:
		sql_number(to, group->pages);
		break;
	case SHARED:
		sql_number(to, group->shared_bytes);
		break;
	case ALONE:
		sql_number(to, group->alone_bytes);
		break;
	case RESIDENT:
		if (state->pages->snapshot != NULL)
			sql_number(to, group->resident_bytes);
		break;
	}
}

const struct sql_table sql_table_pinned = {
	.name = "pinned",
	.help = "call stacks whose live blocks keep pages from being returned",
	.columns = pinned_columns,
	.filters = true,
	.begin = pinned_begin,
	.finish = pages_finish,
	.next = pinned_next,
	.value = pinned_value,
	.rows = 10000,
};

/* ---- residency ---- */

enum { TIME = 1, NAME, RSS, BOUND, PARTS };

struct residency_state {
	struct map_index *maps;
	struct residency residency;
};

static const struct sql_column *residency_columns(unsigned *count)
{
	static struct sql_column list[PARTS - 1 + RESIDENCY_PARTS];
	static char names[RESIDENCY_PARTS][32];

	*count = PARTS - 1 + RESIDENCY_PARTS;
	if (list[0].name != NULL)
		return list;
	for (unsigned i = 0; i < RESIDENCY_PARTS; i++) {
		snprintf(names[i], sizeof(names[i]), "%s_bytes",
			 residency_names[i]);
		list[PARTS - 1 + i] = (struct sql_column){
			names[i], SQL_INTEGER, .help = residency_meanings[i],
		};
	}
	list[NAME - 1] = (struct sql_column){ "name", SQL_TEXT,
		.help = "name of the snapshot; NULL: none" };
	list[RSS - 1] = (struct sql_column){ "rss_bytes", SQL_INTEGER,
		.help = "resident memory: the sum of the parts" };
	list[BOUND - 1] = (struct sql_column){ "bound_bytes", SQL_INTEGER,
		.help = "how much of the pages with live blocks may not be "
		"resident; it is other memory of their mappings then" };
	list[TIME - 1] = (struct sql_column){ "time_ns", SQL_INTEGER,
		.help = "time of the snapshot, since the start of the "
			"recording" };
	return list;
}

static bool residency_begin(struct sql_cursor *cursor, struct buffer *why)
{
	struct residency_state *state = grow_zeroed(1, sizeof(*state));
	struct sql_trace *trace = cursor->trace;

	(void)why;
	cursor->state = state;
	state->maps = maps_of(sql_trace_maps(trace));
	residency_find(sql_trace_maps(trace), trace->path, SNAPSHOTS_MAX,
		       state->maps, &state->residency);
	cursor->row = 0;
	cursor->end = state->residency.count;
	return true;
}

static void residency_finish(struct sql_cursor *cursor)
{
	struct residency_state *state = cursor->state;

	residency_free(&state->residency);
	map_index_free(state->maps);
	free(state);
}

static void residency_value(struct sql_cursor *cursor, unsigned column,
			    sqlite3_context *to)
{
	const struct residency_state *state = cursor->state;
	const struct residency_point *point =
		&state->residency.list[cursor->row];
	const char *name = point->snapshot->name;

	switch (column) {
	case TIME:
		sql_number(to, point->ns);
		break;
	case NAME:
		sql_text(to, name != NULL && name[0] != 0 ? name : NULL);
		break;
	case RSS:
		sql_number(to, point->rss_bytes);
		break;
	case BOUND:
		sql_number(to, point->bound_bytes);
		break;
	default:
		sql_number(to, point->part_bytes[column - PARTS]);
	}
}

const struct sql_table sql_table_residency = {
	.name = "residency",
	.help = "the parts of resident memory at each snapshot",
	.columns = residency_columns,
	.begin = residency_begin,
	.finish = residency_finish,
	.value = residency_value,
	.rows = 10,
};
