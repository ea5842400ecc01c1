/*
 * report_calls.c: see info.h. Called by the main thread.
 */
#include "cli/info/info.h"

#include "cli/base/text/fit.h"

#define NAME_MIN 16		/* columns that make a name worth printing */
#define NAME_MAX 30		/* leaves columns for callers */
#define BETWEEN " < "
#define MORE " < ..."

static void add_name(struct buffer *out, const struct frame *frame,
		     size_t width)
{
	if (frame->function == NULL)
		fit_start(out, "?", width);
	else
		frames_function(frame, width, out);
	buffer_printable(out);
}

void report_calls(struct frames *frames, uint32_t node, size_t width,
		  FILE *out)
{
	const size_t max = width == 0 ? SIZE_MAX : NAME_MAX;
	LOCAL_BUFFER line = { 0 }, name = { 0 };

	frames_of(frames, node);
	for (size_t i = 0; i < frames->count; i++) {
		size_t between = i > 0 ? sizeof(BETWEEN) - 1 : 0;
		size_t more = i + 1 < frames->count ? sizeof(MORE) - 1 : 0;
		size_t used = fit_columns(buffer_text(&line));

		buffer_clear(&name);
		add_name(&name, &frames->list[i], max);
		if (width != 0 && used + between + more +
		    fit_columns(buffer_text(&name)) > width) {
			size_t left = used + between + more < width ?
				width - used - between - more : 0;

			buffer_clear(&name);
			if (left >= NAME_MIN || i == 0)
				add_name(&name, &frames->list[i], left);
			buffer_printf(&line, "%s%s%s", name.size > 0 && i > 0 ?
				      BETWEEN : "", buffer_text(&name),
				      name.size == 0 || more ? MORE : "");
			break;
		}
		buffer_printf(&line, "%s%s", i > 0 ? BETWEEN : "",
			      buffer_text(&name));
	}
	fputs(line.data ? line.data : "[no stack]", out);
}
