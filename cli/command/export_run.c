/*
 * export_run.c: see export_run.h. Called by the main thread.
 */
#include "cli/command/export_run.h"

#include <string.h>

#include "cli/base/terminal/log.h"
#include "cli/stack/frames_prepare.h"
#include "cli/command/measure_words.h"
#include "cli/command/output_file.h"

int export_run_measure(struct export *export, const char *value)
{
	export->cost_given = true;
	export->cost = measure_words_take(value);
	return 0;
}

static void fill_in(struct export *export, const struct exporter *exporter,
		    struct stack_filter *filter)
{
	export->keep = filter ? stack_filter_keeps : NULL;
	export->keeper = filter;
	stack_filter_coverage(filter, export->model, &export->coverage);
	frames_prepare_all(export->frames);
	if (!exporter->wants_profile)
		return;
	export->profile = profile_new(1);
	export->profile->with_costs = exporter->wants_costs;
	profile_add(export->profile, 0, export->frames, export->keep, filter);
	profile_seal(export->profile);
}

/* Opens the output only after the trace could be read; until then an existing
 * file keeps its contents. */
static int write_out(struct export *export, const struct exporter *exporter)
{
	bool blocks = export->blocks || exporter->wants_blocks;
	int status;

	if (blocks && !model_can_be_read_again(export->trace,
					       log_notes()))
		return EXIT_NOTHING;
	export->out = output_file_open(export->output);
	if (export->out == NULL)
		return EXIT_NOTHING;
	export_note_contexts(export);
	if (blocks)
		export_note_events(export);
	else if (exporter->wants & MODEL_WANT_TIMELINE)
		export_note_steps(export);
	status = exporter->write(export);
	return output_file_close(export->out, export->output, status);
}

int export_run(struct export *export, struct trace_args *args,
	       const struct exporter *exporter)
{
	struct model *model;
	struct stack_filter *filter = NULL;
	struct frames frames;
	int status, written;

	args->query.wants |= exporter->wants;
	args->query.spares |= exporter->spares;
	if (export->threads)
		args->query.keys[args->query.key_count++] =
			query_key_find("thread", strlen("thread"));
	export->trace = args->traces[0];
	export->query = &args->query;
	status = trace_args_model(args, &model, export->trace);
	if (status == EXIT_NOTHING)
		return status;
	trace_args_frames(args, &frames, model);
	export->model = model;
	export->frames = &frames;
	written = EXIT_NOTHING;
	if (trace_args_stack_filter(args, &frames, &filter)) {
		fill_in(export, exporter, filter);
		written = write_out(export, exporter);
		filter_report_unmatched(args->query.filter, log_notes());
	}
	if (export->profile != NULL)
		profile_free(export->profile);
	stack_filter_free(filter);
	frames_free(&frames);
	model_free(model);
	return written == EXIT_COMPLETE ? status : written;
}
