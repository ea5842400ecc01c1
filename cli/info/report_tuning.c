/*
 * report_tuning.c: see info.h. Called by the main thread.
 */
#include "cli/info/info.h"

#include <inttypes.h>

#include "cli/base/text/quantity.h"
#include "cli/command/print/report_parts.h"
#include "cli/model/core/threads.h"
#include "cli/model/core/tuning.h"

#define CALLS_SHOWN 100		/* in text; JSON has all */
#define STACK_COLUMN 11

static void put_call(const struct model *model,
		     const struct tuning_call *call, FILE *out)
{
	const char *parameter = tuning_parameter(call->parameter);

	fprintf(out, "  %-8s ",
		TIME_TEXT(model_since_start_ns(model, call->stamp)));
	if (call->what == GT_EXTRA_TRIM)
		fprintf(out, "malloc_trim(%" PRIu64 ")", call->pad);
	else if (parameter != NULL)
		fprintf(out, "mallopt(%s, %" PRId32 ")", parameter,
			call->value);
	else
		fprintf(out, "mallopt(%" PRId32 ", %" PRId32 ")",
			call->parameter, call->value);
	fprintf(out, " = %" PRId32 "\n", call->result);
}

void report_tuning_text(struct model *model, struct frames *frames, bool full,
			FILE *out)
{
	const struct tuning *tuning = model_tuning(model);
	uint64_t all = tuning->call_count + tuning->left_out, shown = 0;

	if (all == 0)
		return;
	fprintf(out, "\nTUNING (%" PRIu64 ")\n", all);
	for (; shown < tuning->call_count && shown < CALLS_SHOWN; shown++) {
		put_call(model, &tuning->calls[shown], out);
		fprintf(out, "%*s", STACK_COLUMN, "");
		report_calls(frames, tuning->calls[shown].node, full ? 0 :
			     report_width() - STACK_COLUMN, out);
		fputc('\n', out);
	}
	if (shown < all)
		fprintf(out, "  and %" PRIu64 " more\n", all - shown);
}

static void json_arguments(struct json *json, const struct tuning_call *call)
{
	const char *parameter = tuning_parameter(call->parameter);

	json_object(json, "arguments");
	if (call->what == GT_EXTRA_TRIM) {
		json_uint(json, "pad", call->pad);
	} else {
		json_int(json, "parameter", call->parameter);
		if (parameter != NULL)
			json_string(json, "name", parameter);
		json_int(json, "value", call->value);
	}
	json_end_object(json);
}

static void json_stack(struct json *json, struct frames *frames,
		       uint32_t node)
{
	struct report_stack stack;

	frames_of(frames, node);
	stack = report_stack_of(frames);
	report_json_stack(json, &stack, 0, NULL);
}

void report_tuning_json(struct model *model, struct frames *frames,
			struct json *json)
{
	const struct tuning *tuning = model_tuning(model);

	json_array(json, "tuning");
	for (size_t i = 0; i < tuning->call_count; i++) {
		const struct tuning_call *call = &tuning->calls[i];

		json_object(json, NULL);
		json_uint(json, "time_ns",
			  model_since_start_ns(model, call->stamp));
		json_uint(json, "tid", model_thread(model, call->thread)->tid);
		json_string(json, "function", tuning_function(call));
		json_arguments(json, call);
		json_int(json, "result", call->result);
		json_stack(json, frames, call->node);
		json_end_object(json);
	}
	json_end_array(json);
	if (tuning->left_out > 0)
		json_uint(json, "tuning_left_out", tuning->left_out);
}
