/*
 * report_processes.c: see report_processes.h. Called by the main thread.
 *
 *  I1  After sorting without a key, a process follows its parent, if that is in
 *      the table, and precedes its own children; the program after exec follows
 *      the program before it directly.
 */
#include "cli/report/report_processes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"
#include "cli/base/text/fit.h"
#include "cli/base/text/quantity.h"

#define DEEPEST 8		/* deepest level that is indented */
#define COLUMNS 45		/* before the command */
#define INDENT 10		/* of a process's second line */
#define EXIT_WIDTH (report_width() - INDENT)

void report_processes_add(struct report_processes *processes,
			  struct report *r)
{
	GROW(processes->list, processes->count, processes->capacity);
	processes->list[processes->count++] = r->about;
	memset(&r->about, 0, sizeof(r->about));
}

/* ---- order ---- */

static enum measure sorting_key;

static int by_start(const void *a, const void *b)
{
	const struct report_process *x = a, *y = b;

	return sort_up(x->start_ns, y->start_ns) ?: sort_up(x->pid, y->pid) ?:
	       strcmp(x->trace, y->trace);
}

static int by_value(const void *a, const void *b)
{
	const struct report_process *x = a, *y = b;

	return sort_down(figures_value(&x->sum, sorting_key, x->duration_ns),
			 figures_value(&y->sum, sorting_key, y->duration_ns)) ?:
	       by_start(a, b);
}

/*
 * The parent of a process in the tree: its program before exec, or else the
 * last earlier process with its parent's pid, because pids are reused. `list`
 * is sorted by start.
 */
static size_t above_of(const struct report_process *list, size_t child)
{
	for (size_t i = child; i-- > 0; )
		if (list[i].pid == list[child].pid)
			return list[i].process == list[child].process ? i :
				SIZE_MAX;
		else if (list[child].parent != 0 &&
			 list[i].pid == list[child].parent)
			return i;
	return SIZE_MAX;
}

static unsigned depth_below(const struct report_process *above,
			    const struct report_process *process)
{
	return above->depth + (above->pid != process->pid);
}

/* Parents before children, siblings by start. `next` and `first` are lists of
 * siblings. */
static void put_in_tree(struct report_process *list, size_t count)
{
	struct report_process *sorted = grow_zeroed(count, sizeof(*sorted));
	size_t *next = grow_zeroed(count + 1, sizeof(*next));
	size_t *first = grow_zeroed(count + 1, sizeof(*first));
	size_t *above = grow_zeroed(count + 1, sizeof(*above));
	size_t at, done = 0;

	for (size_t i = 0; i <= count; i++)
		first[i] = SIZE_MAX;
	/* From the last one, so that lists are by start; [count] has those
	 * without a parent here. */
	for (size_t i = count; i-- > 0; ) {
		size_t found = above_of(list, i);

		above[i] = found == SIZE_MAX ? count : found;
		next[i] = first[above[i]];
		first[above[i]] = i;
	}
	for (at = first[count]; at != SIZE_MAX; ) {
		list[at].depth = above[at] == count ? 0 :
			depth_below(&list[above[at]], &list[at]);
		sorted[done++] = list[at];
		if (first[at] != SIZE_MAX) {
			at = first[at];
			continue;
		}
		while (at != count && next[at] == SIZE_MAX)
			at = above[at];
		at = at == count ? SIZE_MAX : next[at];
	}
	memcpy(list, sorted, count * sizeof(*list));
	free(sorted);
	free(next);
	free(first);
	free(above);
}

/* The last earlier process with the parent's pid; `list` is sorted by start.
 * NULL: none. */
static const struct report_process *
parent_of(const struct report_process *list, size_t child)
{
	for (size_t i = child; i-- > 0; )
		if (list[i].pid == list[child].parent)
			return &list[i];
	return NULL;
}

/* Takes the exit of the i-th process from its parent's trace, if known. */
static void ask_parent(struct report_process *list, size_t i)
{
	const struct report_process *parent = list[i].parent == 0 ? NULL :
		parent_of(list, i);
	LOCAL_BUFFER text = { 0 };

	for (size_t k = 0; parent != NULL && k < parent->child_count; k++) {
		if (parent->children[k].pid != list[i].pid)
			continue;
		model_status_text(parent->children[k].status, &text);
		free(list[i].exit);
		list[i].exit = grow_copy(text.data, strlen(text.data));
		list[i].exit_unknown = false;
		return;
	}
}

void report_processes_sort(struct report_processes *processes, bool by_key,
			   enum measure key)
{
	if (processes->count == 0)
		return;
	SORT(processes->list, processes->count, by_start);
	for (size_t i = 0; i < processes->count; i++)
		if (processes->list[i].exit_unknown)
			ask_parent(processes->list, i);
	sorting_key = key;
	if (by_key)
		SORT(processes->list, processes->count, by_value);
	else
		put_in_tree(processes->list, processes->count);
}

void report_processes_sum(const struct report_processes *processes,
			  struct report_process *sum)
{
	memset(sum, 0, sizeof(*sum));
	sum->ended = processes->unreadable == 0;
	for (size_t i = 0; i < processes->count; i++) {
		const struct report_process *process = &processes->list[i];

		figures_add(&sum->sum, &process->sum);
		if (process->duration_ns > sum->duration_ns)
			sum->duration_ns = process->duration_ns;
		sum->threads += process->threads;
		sum->contexts += process->contexts;
		coverage_add(&sum->coverage, &process->coverage);
		sum->unrecorded_in_sum += process->unrecorded_in_sum;
		sum->forked |= process->forked &&
			process->coverage.unpaired > 0;
		sum->being_written |= process->being_written;
		sum->ended &= process->ended || process->being_written;
		sum->failed |= process->failed;
	}
}

void report_processes_free(struct report_processes *processes)
{
	for (size_t i = 0; i < processes->count; i++)
		report_process_free(&processes->list[i]);
	free(processes->list);
}

/* ---- text ---- */

/* A command that is too long without the directories of its program: its
 * arguments say more. */
static const char *command_within(const char *command, size_t width)
{
	const char *end = command + strcspn(command, " ");
	const char *name = end;

	if (*command != '/' || fit_columns(command) <= width)
		return command;
	while (name[-1] != '/')
		name--;
	return name < end ? name : command;
}

static void put_process(const struct report_process *process,
			const struct report *r)
{
	unsigned depth = process->depth < DEEPEST ? process->depth : DEEPEST;
	int width = (int)report_width() - COLUMNS - (int)depth;
	const char *command = process->command[0] ? process->command :
		process->program[0] ? process->program : "?";

	fprintf(r->out, "%8" PRIu64 " %7" PRIu64 " %8s %8s %8s  ", process->pid,
		process->parent, SIZE_TEXT(process->sum.peak_bytes),
		SIZE_TEXT(process->sum.live_bytes),
		TIME_TEXT(process->duration_ns));
	fprintf(r->out, "%*s%s", (int)depth, "", r->style->name);
	if (!r->options->full_names)
		command = command_within(command, (size_t)width);
	report_put_text(r->out, command, (size_t)width);
	fprintf(r->out, "%s\n%*s%s", r->style->off, INDENT, "",
		r->style->dim);
	report_put_text(r->out, process->exit, EXIT_WIDTH);
	if (INDENT + fit_columns(process->exit) + 2 +
	    fit_columns(process->trace) <= report_width())
		fputs("; ", r->out);
	else
		fprintf(r->out, "\n%*s", INDENT, "");
	report_put_path(r->out, process->trace, report_width() - INDENT,
			r->options->full_names);
	fprintf(r->out, "%s\n", r->style->off);
}

static void put_sum(const struct report_processes *processes,
		    const struct report *r)
{
	struct report_process sum;

	report_processes_sum(processes, &sum);
	fprintf(r->out, "\n  in all       %s, %s in total;\n",
		COUNTED(sum.sum.count, "allocation"),
		SIZE_TEXT(sum.sum.total_bytes));
	fprintf(r->out, "               live %s in %s\n",
		SIZE_TEXT(sum.sum.live_bytes),
		COUNTED(sum.sum.live_blocks, "block"));
	report_losses(r, &sum);
	if (processes->unreadable > 0)
		fprintf(r->out, "  %sunreadable%s   %s\n", r->style->warn,
			r->style->off, COUNTED(processes->unreadable, "trace"));
}

void report_processes_text(const struct report_processes *processes,
			   struct report *r)
{
	size_t shown = r->profile != NULL ? processes->count :
		report_shown(r, processes->count, 0);

	fputs(r->style->title, r->out);
	report_put_path(r->out, r->options->trace, report_width() - 20,
			r->options->full_names);
	fprintf(r->out, "%s%zu trace%s%s\n", r->options->trace[0] ? ": " : "",
		processes->count, report_plural(processes->count),
		r->style->off);
	report_filters(r);
	fprintf(r->out, "\n%s     pid  parent     peak     live      ran  "
		"command%s\n", r->style->title, r->style->off);
	for (size_t i = 0; i < shown; i++)
		put_process(&processes->list[i], r);
	if (shown < processes->count)
		fprintf(r->out, "          and %zu more: --top 0\n",
			processes->count - shown);
	put_sum(processes, r);
	if (r->profile != NULL)
		report_body_text(r);
	else
		fprintf(r->out, "\n--merge shows their allocations added up; "
			"gnomon report TRACE shows\none of them.\n");
}

/* ---- JSON ---- */

static void json_process(struct json *json, const struct report *r,
			 const struct report_process *process)
{
	json_object(json, NULL);
	json_string(json, "trace", process->trace);
	json_uint(json, "pid", process->pid);
	json_uint(json, "parent", process->parent);
	json_string(json, "program", process->program);
	json_string(json, "command", process->command);
	json_string(json, "exit", process->exit);
	json_uint(json, "start_realtime_ns", process->start_ns);
	json_uint(json, "duration_ns", process->duration_ns);
	json_uint(json, "allocations", process->sum.count);
	report_json_figures(json, &process->sum, process->duration_ns,
			    true);
	/* Without filters it is exact: the process's peak. */
	report_json_bound(json, process->contexts > 1 &&
			  filter_text(r->options->query->filter)[0] != 0);
	json_uint(json, "peak_time_ns", process->peak_time_ns);
	json_uint(json, "threads", process->threads);
	json_uint(json, "contexts", process->contexts);
	json_uint(json, "dropped", process->coverage.dropped);
	json_uint(json, "unpaired", process->coverage.unpaired);
	json_uint(json, "foreign_frees", process->coverage.foreign_frees);
	json_uint(json, "damaged", process->coverage.damaged);
	json_bool(json, "complete", process->ended ||
		  process->being_written);
	report_coverage_json(json, &process->coverage);
	json_end_object(json);
}

static void json_summary(struct json *json,
			 const struct report_processes *processes,
			 const struct report *r)
{
	const char *filters = filter_text(r->options->query->filter);
	struct report_process sum;

	report_processes_sum(processes, &sum);
	json_object(json, "summary");
	report_json_totals(json, &sum);
	json_string(json, "exit", processes->count == 1 ?
		    processes->list[0].exit : "");
	json_uint(json, "processes", processes->count);
	json_uint(json, "unreadable", processes->unreadable);
	json_bool(json, "complete", sum.ended);
	if (filters[0] != 0)
		json_string(json, "filters", filters + 1);
	json_end_object(json);
	report_coverage_json(json, &sum.coverage);
}

static void json_processes(struct json *json, const char *key,
			   const struct report_processes *processes,
			   const struct report *r, size_t shown)
{
	json_array(json, key);
	for (size_t i = 0; i < shown; i++)
		json_process(json, r, &processes->list[i]);
	json_end_array(json);
}

void report_processes_json(const struct report_processes *processes,
			   struct report *r)
{
	struct json json = { .out = r->out };

	json_object(&json, NULL);
	json_uint(&json, "schema", 1);
	json_summary(&json, processes, r);
	if (r->profile != NULL) {
		report_body_json(&json, r);
		json_processes(&json, "processes", processes, r,
			       processes->count);
	} else {
		json_processes(&json, "rows", processes, r,
			       report_shown(r, processes->count, 0));
	}
	json_end_object(&json);
}
