/*
 * annotate_file.c: prints lines of a source file of a trace's code, for
 * programs that show costs next to them (`gnomon report --by line`). Called by
 * the main thread.
 */
#include "cli/annotate/annotate.h"

#include <string.h>

#include "cli/base/terminal/log.h"
#include "cli/base/text/json.h"
#include "cli/stack/frames_prepare.h"

/* Whether a frame of the trace's stacks has this file. No other file is
 * printed. */
static bool is_named(struct frames *frames, const char *file)
{
	frames_prepare_all(frames);
	frames_find_sites(frames);
	for (size_t i = 0; i < frames->place_count; i++) {
		const struct frames_place *place = &frames->places[i];

		for (uint32_t k = 0; k < place->count; k++)
			if (place->list[k].file != NULL &&
			    strcmp(place->list[k].file, file) == 0)
				return true;
	}
	return false;
}

static void put_lines(const struct annotate_source *source,
		      const struct annotate_lines *wanted, struct json *json)
{
	size_t last = wanted->last == 0 || wanted->last > source->lines ?
		source->lines : wanted->last;
	LOCAL_BUFFER text = { 0 };

	json_array(json, "lines");
	for (size_t line = wanted->first ? wanted->first : 1; line <= last;
	     line++) {
		buffer_clear(&text);
		annotate_source_line(source, line, 0, SIZE_MAX, &text);
		json_object(json, NULL);
		json_uint(json, "line", line);
		json_string(json, "text", buffer_text(&text));
		json_end_object(json);
	}
	json_end_array(json);
}

bool annotate_file_json(struct frames *frames,
			const struct annotate_options *options,
			const struct annotate_lines *wanted, FILE *out)
{
	struct annotate_source source;
	struct json json = { .out = out };

	if (!is_named(frames, wanted->file)) {
		log_error("%s: no code in the trace's stacks was compiled "
			  "from this file", wanted->file);
		return false;
	}
	annotate_source_read(&source, options, wanted->file, NULL, NULL);
	if (source.path == NULL) {
		log_error("%s: not found: give the place of source files with "
			  "--source-root", wanted->file);
		annotate_source_free(&source);
		return false;
	}
	json_object(&json, NULL);
	json_uint(&json, "schema", 1);
	json_string(&json, "file", wanted->file);
	json_string(&json, "path", source.path);
	json_uint(&json, "line_count", source.lines);
	put_lines(&source, wanted, &json);
	json_end_object(&json);
	annotate_source_free(&source);
	return true;
}
