/*
 * list_csv.c: contexts or blocks as a CSV table (csv.h). See list.h. The site
 * has columns of its own.
 */
#include "cli/export/list/list.h"

#include "cli/base/status.h"
#include "cli/base/text/csv.h"
#include "cli/export/exporters.h"
#include "cli/model/core/threads.h"

struct writing {
	struct export *export;
	struct csv csv;
};

static void put_heads(struct csv *csv, const char *const *names)
{
	for (; *names != NULL; names++)
		csv_text(csv, *names);
}

/* ---- contexts ---- */

static void write_context(void *owner, uint32_t node,
			  const struct figures *figures)
{
	struct writing *writing = owner;
	struct export *export = writing->export;
	const struct members values = csv_values(&writing->csv);

	csv_number(&writing->csv, node);
	figures_each(figures, model_duration_ns(export->model), values.number,
		     values.owner);
	frames_of(export->frames, node);
	export_stack_fields(&writing->csv, export->frames->list,
			    export->frames->count, export->frames->site,
			    export->frames->stop, true);
	csv_end_line(&writing->csv);
}

static void write_contexts(struct writing *writing)
{
	const struct members names = csv_names(&writing->csv);
	const struct figures nothing = { 0 };

	csv_text(&writing->csv, "context");
	figures_each(&nothing, 0, names.number, names.owner);
	export_stack_heads(&writing->csv, true);
	csv_end_line(&writing->csv);
	list_contexts(writing->export, write_context, writing);
}

/* ---- blocks ---- */

static void write_block(void *owner, const struct list_block *block)
{
	struct writing *writing = owner;

	csv_number(&writing->csv, block->address);
	csv_number(&writing->csv, block->size);
	csv_number(&writing->csv, block->thread->tid);
	csv_text(&writing->csv, threads_name(block->thread));
	csv_number(&writing->csv, block->alloc_ns);
	if (block->end_ns == LIST_NOT_ENDED)
		csv_text(&writing->csv, NULL);
	else
		csv_number(&writing->csv, block->end_ns);
	csv_text(&writing->csv, block->fate);
	csv_number(&writing->csv, block->temporary);
	csv_number(&writing->csv, block->context);
	csv_end_line(&writing->csv);
}

static int write_blocks(struct writing *writing)
{
	static const char *const heads[] = {
		"address", "size", "tid", "thread", "time_ns", "end_ns",
		"fate", "temporary", "context", NULL
	};

	put_heads(&writing->csv, heads);
	csv_end_line(&writing->csv);
	return list_blocks(writing->export, write_block, writing);
}

static int write_csv(struct export *export)
{
	struct writing writing = { .export = export, .csv.out = export->out };
	int status = EXIT_COMPLETE;

	if (export->blocks)
		status = write_blocks(&writing);
	else
		write_contexts(&writing);
	csv_free(&writing.csv);
	return status;
}

const struct exporter export_csv = {
	.name = "csv",
	.what = "a table of contexts or blocks: sqlite3, spreadsheets",
	.can_list_blocks = true,
	.write = write_csv,
};
