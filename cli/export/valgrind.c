/*
 * valgrind.c: see valgrind.h. Called by the main thread.
 */
#include "cli/export/valgrind.h"

#include <inttypes.h>

const char *valgrind_frame(struct buffer *text,
			   const struct profile_frame *frame)
{
	LOCAL_BUFFER name = { 0 };

	buffer_clear(text);
	if (frame->stop != GT_STOP_BOTTOM) {
		buffer_string(text, frame->function);
	} else {
		buffer_printf(text, "0x%" PRIx64 ": %s", frame->address,
			      export_profile_name(&name, frame));
		if (frame->file != NULL)
			buffer_printf(text, " (%s:%u)", frame->file,
				      frame->line);
		else if (frame->library != NULL)
			buffer_printf(text, " (in %s)", frame->library);
	}
	buffer_printable(text);
	return text->data;
}

void valgrind_command(struct buffer *text, const struct export *export)
{
	buffer_clear(text);
	model_command(export->model, text);
	if (text->size == 0)
		buffer_string(text, "unknown");
	buffer_printable(text);
}

void valgrind_about(struct buffer *text, const struct export *export)
{
	const char *filters = filter_text(export->query->filter);

	buffer_clear(text);
	buffer_string(text, "gnomon " GNOMON_VERSION);
	if (filters[0] != 0)
		buffer_printf(text, ", filters:%s", filters);
	if (model_is_sampled(export->model))
		buffer_printf(text, ", estimates from a sample");
	buffer_printable(text);
}
