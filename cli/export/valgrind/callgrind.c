/*
 * callgrind.c: Callgrind's format, for callgrind_annotate and KCachegrind.
 * Costs are allocation measures instead of instructions. The one of --cost
 * comes first, since readers sort by it.
 *
 *	function	equal name, file and library
 *	line		self cost of a line: stacks that end
 *			there
 *	call		inclusive cost of a line's calls, by callee
 *
 * Readers take the costs of all calls of a function as its inclusive cost. So
 * each stack counts only once for each callee, at its outermost call. Calls of
 * a function that is already further out in the stack are left out: otherwise
 * recursion would exceed the total. For the same reason a function "[root]"
 * calls the outermost functions, some of which have other callers, too.
 */
#include "cli/export/exporters.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/pairset.h"
#include "cli/base/sort.h"
#include "cli/base/status.h"
#include "cli/export/valgrind.h"

#define EVENTS 7
#define CALLS 5			/* the event used as the number of calls */

static const struct {
	const char *name;	/* one word */
	const char *what;
	enum measure cost;	/* the event is this cost, */
	bool blocks;		/* or its blocks */
} events[EVENTS] = {
	{ "LiveBytes", "bytes that are live", MEASURE_LIVE, false },
	{ "LiveBlocks", "blocks that are live", MEASURE_LIVE, true },
	{ "PeakBytes", "share of the peak, bytes", MEASURE_PEAK, false },
	{ "PeakBlocks", "share of the peak, blocks", MEASURE_PEAK, true },
	{ "TotalBytes", "bytes allocated", MEASURE_TOTAL, false },
	[CALLS] = { "Allocations", "allocations", MEASURE_COUNT, false },
	{ "Temporary", "temporary allocations", MEASURE_TEMPORARY, false },
};

#define ROOT_FUNCTION 0u
#define ROOT_NAME "[root]"
#define NOT_KNOWN "???"
#define NO_CALLEE UINT32_MAX	/* self cost: sorted before calls */

struct function {
	uint32_t name, file, library;	/* numbers of names */
	uint32_t recurs;	/* how often it is on the current path */
};

struct line {
	uint32_t function;
	uint32_t number;
	uint32_t callee;	/* a function, or NO_CALLEE */
	uint64_t values[EVENTS];
};

/* A node on the path from the root to the current node. */
struct level {
	uint32_t node;
	uint64_t values[EVENTS];	/* inclusive */
};

struct writing {
	struct export *export;
	const struct profile *profile;
	struct intern names;
	struct function *functions;
	size_t function_count, function_capacity;
	struct pairset homes;	/* (file, library) */
	struct pairset named;	/* -> number of the function */
	uint32_t *of_frame;	/* frame -> function */
	struct line *lines;
	size_t line_count, line_capacity;
	struct table call_of;	/* (self line, callee) -> line */
	struct table own_of;	/* (function, line number) -> line */
	struct level *levels;
	size_t level_count, level_capacity;
	int order[EVENTS];
	/* Names already written: (name, kind_of) -> their number in the file -
	 * 1. Later uses write only the number. */
	struct pairset written;
};

/* ---- functions ---- */

static uint32_t name_for(struct writing *w, const char *text)
{
	LOCAL_BUFFER line = { 0 };

	buffer_string(&line, text != NULL ? text : NOT_KNOWN);
	buffer_printable(&line);
	/* Readers would ignore a name of only spaces. */
	if (strspn(line.data, " ") == line.size) {
		buffer_clear(&line);
		buffer_string(&line, NOT_KNOWN);
	}
	return intern_number(&w->names, line.data, line.size);
}

static uint32_t function_for(struct writing *w, const char *name,
			     const char *file, const char *library)
{
	struct function function = { name_for(w, name), name_for(w, file),
				     name_for(w, library), 0 };
	uint32_t home = pairset_number(&w->homes, function.file,
				       function.library);
	uint32_t number = pairset_number(&w->named, home, function.name);

	if (number < w->function_count)
		return number;
	GROW(w->functions, w->function_count, w->function_capacity);
	w->functions[w->function_count++] = function;
	return number;
}

static void find_functions(struct writing *w)
{
	const struct profile *profile = w->profile;
	LOCAL_BUFFER scratch = { 0 };

	function_for(w, ROOT_NAME, NULL, NULL);
	w->of_frame = grow_alloc((profile->frame_count + 1) *
				 sizeof(*w->of_frame));
	for (size_t i = 0; i < profile->frame_count; i++) {
		const struct profile_frame *frame = &profile->frames[i];

		w->of_frame[i] = function_for(w,
			export_profile_name(&scratch, frame), frame->file,
			frame->library);
	}
}

/* ---- lines ---- */

static uint32_t line_in(struct writing *w, struct table *table, uint64_t key,
			const struct line *line)
{
	uint32_t at = table_number(table, key, w->line_count);

	if (at == w->line_count) {
		GROW(w->lines, w->line_count, w->line_capacity);
		w->lines[w->line_count++] = *line;
	}
	return at;
}

static uint32_t function_of(const struct writing *w, uint32_t node)
{
	return node == PROFILE_ROOT ? ROOT_FUNCTION :
		w->of_frame[w->profile->nodes[node].frame];
}

static uint32_t own_line(struct writing *w, uint32_t node)
{
	struct line line = { .function = function_of(w, node),
			     .callee = NO_CALLEE };

	if (node != PROFILE_ROOT)
		line.number = w->profile->frames[
			w->profile->nodes[node].frame].line;
	return line_in(w, &w->own_of, (uint64_t)line.function << 32 |
		       line.number, &line);
}

static uint32_t call_line(struct writing *w, uint32_t caller, uint32_t callee)
{
	uint32_t own = own_line(w, caller);
	struct line line = { .function = w->lines[own].function,
			     .number = w->lines[own].number,
			     .callee = callee };

	return line_in(w, &w->call_of, (uint64_t)own << 32 | callee, &line);
}

static void add(uint64_t *sum, const uint64_t *more)
{
	for (int i = 0; i < EVENTS; i++)
		sum[i] += more[i];
}

/* Takes a line's number, since `lines` may be reallocated. */
static void add_line(struct writing *w, uint32_t line, const uint64_t *more)
{
	add(w->lines[line].values, more);
}

static void take_values(const struct figures *figures, uint64_t *values)
{
	for (int i = 0; i < EVENTS; i++)
		values[i] = events[i].blocks ?
			figures_blocks(figures, events[i].cost) :
			figures_value(figures, events[i].cost, 0);
}

static void enter(struct writing *w, uint32_t node)
{
	struct figures own = { 0 };
	struct level *level;

	GROW(w->levels, w->level_count, w->level_capacity);
	level = &w->levels[w->level_count++];
	level->node = node;
	profile_own(w->profile, node, 0, &own);
	take_values(&own, level->values);
	w->functions[function_of(w, node)].recurs++;
	add_line(w, own_line(w, node), level->values);
}

/* Leave the innermost level, which is not the root's. */
static void leave(struct writing *w)
{
	const struct level *level = &w->levels[--w->level_count];
	struct level *outer = &w->levels[w->level_count - 1];
	uint32_t callee = function_of(w, level->node);

	add(outer->values, level->values);
	if (--w->functions[callee].recurs == 0)
		add_line(w, call_line(w, outer->node, callee), level->values);
}

static void find_lines(struct writing *w)
{
	const struct profile_node *nodes = w->profile->nodes;

	enter(w, PROFILE_ROOT);
	for (uint32_t n = PROFILE_ROOT + 1; n < w->profile->node_count; n++) {
		while (nodes[w->levels[w->level_count - 1].node].end <= n)
			leave(w);
		enter(w, n);
	}
	while (w->level_count > 1)
		leave(w);
}

static int compare(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	/* NO_CALLEE + 1 is the smallest. */
	return sort_up(x->function, y->function) ?:
	       sort_up(x->number, y->number) ?:
	       sort_up(x->callee + 1, y->callee + 1);
}

/* ---- writing ---- */

static void write_values(struct writing *w, const uint64_t *values)
{
	for (int i = 0; i < EVENTS; i++)
		fprintf(w->export->out, " %" PRIu64, values[w->order[i]]);
	fputc('\n', w->export->out);
}

/* Keys of the same kind share numbers: `ob`, `cob`; `fl`, `cfi`; `fn`,
 * `cfn`. */
static unsigned kind_of(const char *key)
{
	switch (key[strlen(key) - 1]) {
	case 'b':
		return 0;
	case 'n':
		return 1;
	default:
		return 2;
	}
}

static void write_name(struct writing *w, const char *key, uint32_t name)
{
	size_t before = w->written.pair_count;
	uint32_t number = pairset_number(&w->written, name, kind_of(key));
	bool is_new = number == before;

	fprintf(w->export->out, "%s=(%" PRIu32 ")%s%s\n", key, number + 1,
		is_new ? " " : "", is_new ? w->names.list[name] : "");
}

static void write_call(struct writing *w, const struct line *line)
{
	const struct function *callee = &w->functions[line->callee];

	write_name(w, "cob", callee->library);
	write_name(w, "cfi", callee->file);
	write_name(w, "cfn", callee->name);
	/* The number of calls is unknown: the number of allocations stands in,
	 * at least 1, since readers ignore 0 calls. */
	fprintf(w->export->out, "calls=%" PRIu64 " 0\n",
		line->values[CALLS] > 0 ? line->values[CALLS] : 1);
}

/* For a function without self cost: callgrind_annotate requires a self line in
 * each source file. */
static void write_nothing(struct writing *w, uint32_t number)
{
	static const uint64_t zeros[EVENTS];

	fprintf(w->export->out, "%" PRIu32, number);
	write_values(w, zeros);
}

static bool is_empty(const struct line *line)
{
	for (int i = 0; i < EVENTS; i++)
		if (line->values[i] != 0)
			return false;
	return true;
}

static void write_lines(struct writing *w)
{
	uint32_t function = NO_CALLEE;

	qsort(w->lines, w->line_count, sizeof(*w->lines), compare);
	for (size_t i = 0; i < w->line_count; i++) {
		const struct line *line = &w->lines[i];
		const struct function *of = &w->functions[line->function];

		if (is_empty(line))
			continue;
		if (line->function != function) {
			function = line->function;
			fputc('\n', w->export->out);
			write_name(w, "ob", of->library);
			write_name(w, "fl", of->file);
			write_name(w, "fn", of->name);
			if (line->callee != NO_CALLEE)
				write_nothing(w, line->number);
		}
		if (line->callee != NO_CALLEE)
			write_call(w, line);
		fprintf(w->export->out, "%" PRIu32, line->number);
		write_values(w, line->values);
	}
}

static void write_head(struct writing *w)
{
	const struct model *model = w->export->model;
	FILE *out = w->export->out;
	LOCAL_BUFFER text = { 0 };

	valgrind_about(&text, w->export);
	fprintf(out, "# callgrind format\nversion: 1\ncreator: %s\n",
		text.data);
	fprintf(out, "pid: %" PRIu64 "\n",
		model_number(model, GT_INFO, "pid", 0));
	valgrind_command(&text, w->export);
	fprintf(out, "cmd: %s\npart: 1\n\npositions: line\n", text.data);
	for (int i = 0; i < EVENTS; i++)
		fprintf(out, "event: %s : %s\n", events[w->order[i]].name,
			events[w->order[i]].what);
	fputs("events:", out);
	for (int i = 0; i < EVENTS; i++)
		fprintf(out, " %s", events[w->order[i]].name);
	fputs("\nsummary:", out);
	write_values(w, w->levels[0].values);
}

static bool comes_first(const struct writing *w, int i)
{
	return events[i].cost == w->export->cost && !events[i].blocks;
}

static void put_in_order(struct writing *w)
{
	int count = 0;

	for (int i = 0; i < EVENTS; i++)
		if (comes_first(w, i))
			w->order[count++] = i;
	for (int i = 0; i < EVENTS; i++)
		if (!comes_first(w, i))
			w->order[count++] = i;
}

static void release(struct writing *w)
{
	intern_free(&w->names);
	free(w->functions);
	pairset_free(&w->homes);
	pairset_free(&w->named);
	free(w->of_frame);
	free(w->lines);
	table_free(&w->call_of);
	table_free(&w->own_of);
	free(w->levels);
	pairset_free(&w->written);
}

static int write_callgrind(struct export *export)
{
	struct writing w = { .export = export, .profile = export->profile };

	put_in_order(&w);
	find_functions(&w);
	find_lines(&w);
	write_head(&w);
	write_lines(&w);
	fputs("\ntotals:", export->out);
	write_values(&w, w.levels[0].values);
	release(&w);
	return EXIT_COMPLETE;
}

const struct exporter export_callgrind = {
	.name = "callgrind",
	.what = "Callgrind's format: callgrind_annotate, KCachegrind",
	.wants_profile = true,
	.write = write_callgrind,
};
