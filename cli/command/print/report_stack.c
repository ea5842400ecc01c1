/*
 * report_stack.c: prints stacks and measures as lines of text.
 * Called by the main thread.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/base/text/fit.h"
#include "cli/base/text/base_name.h"
#include "cli/base/text/quantity.h"
#include "cli/command/print/report_parts.h"
#include "cli/stack/runtime_frames.h"

#define FUNCTION_MIN 24		/* columns of a name before a place */
#define LIBRARY_SHORT 20	/* columns of a shortened library name */

/*
 * Steps of shortening "file:line:column library". A long library name is
 * shortened first, and left out only if there is a file.
 */
enum brevity {
	WHOLE, NO_COLUMN, SHORT_LIBRARY, NO_LIBRARY, NO_FILE, NOTHING,
	BREVITIES
};

static void add_library(struct buffer *out, const char *library,
			enum brevity brevity)
{
	buffer_string(out, out->size ? "  " : "");
	if (brevity < SHORT_LIBRARY)
		buffer_string(out, library);
	else
		fit_middle(out, library, LIBRARY_SHORT);
}

static void add_place(struct buffer *out, const struct frame *frame, bool full,
		      enum brevity brevity)
{
	bool in_file = frame->file != NULL && brevity < NO_FILE;

	if (brevity == NOTHING)
		return;
	if (in_file) {
		buffer_printf(out, "%s", full ? frame->file :
			      base_name(frame->file));
		if (frame->line > 0)
			buffer_printf(out, ":%u", frame->line);
		if (frame->column > 0 && brevity < NO_COLUMN)
			buffer_printf(out, ":%u", frame->column);
	}
	if (frame->inlined)
		buffer_printf(out, "%s(inlined)", out->size ? "  " : "");
	else if (frame->library != NULL && !frame->nameless &&
		 !(in_file && brevity == NO_LIBRARY))
		add_library(out, frame->library, brevity);
}

void report_frame_text(const struct frame *frame, bool full, size_t width,
		       struct buffer *name, struct buffer *place)
{
	/* As much of the place as leaves enough space for the name. */
	for (enum brevity brevity = WHOLE; brevity < BREVITIES; brevity++) {
		buffer_clear(place);
		add_place(place, frame, full, brevity);
		if (full || place->size + 2 + FUNCTION_MIN <= width)
			break;
	}
	if (place->size > 0 && place->size + 2 < width)
		width -= place->size + 2;
	if (frame->function == NULL)
		buffer_printf(name, "0x%" PRIx64 " in no file",
			      frame->address);
	else
		frames_function(frame, full ? SIZE_MAX : width, name);
	buffer_printable(name);
	if (place->size > 0)
		buffer_printable(place);
}

void report_frame(const struct report *r, const struct frame *frame,
		  int indent)
{
	LOCAL_BUFFER place = { 0 }, name = { 0 };

	report_frame_text(frame, r->options->full_names,
			  report_width() - (size_t)indent, &name, &place);
	fprintf(r->out, "%*s%s", indent, "", name.data);
	if (place.size > 0)
		fprintf(r->out, "  %s%s%s", r->style->dim, place.data,
			r->style->off);
	putc('\n', r->out);
}

struct report_stack report_stack_of(const struct frames *frames)
{
	return (struct report_stack){
		frames->list, frames->count, frames->site, frames->stop
	};
}

static bool is_same(const struct frame *a, const struct frame *b)
{
	return a->address == b->address && a->function == b->function &&
		a->file == b->file && a->line == b->line &&
		!a->inlined && !b->inlined;
}

/* How many frames from `i` on are equal to frame `i`: recursion. */
static size_t same_frames(const struct report_stack *stack, size_t i)
{
	size_t n = 1;

	while (i + n < stack->count &&
	       is_same(&stack->list[i], &stack->list[i + n]))
		n++;
	return n;
}

bool report_folds(const struct report *r, const struct frame *frame)
{
	return !r->options->runtime_frames &&
		runtime_frames_has(frame);
}

void report_folded(const struct report *r, size_t count, int indent)
{
	fprintf(r->out, "%*s%s... %zu runtime frame%s%s\n", indent, "",
		r->style->dim, count, report_plural(count), r->style->off);
}

/* The main made by rustc, which calls the program's main. */
static bool is_main_of_rust(const struct report *r, size_t i)
{
	const struct frame *frame = &r->stack.list[i];

	return !r->options->runtime_frames && i > 0 &&
		frame->function != NULL && frame[-1].function != NULL &&
		strcmp(frame->function, "main") == 0 &&
		strncmp(frame[-1].function, "std::rt::lang_start", 19) == 0;
}

/* A stripped program's _start, which called libc's start of main. */
static bool is_nameless_start(const struct report *r, size_t i)
{
	const struct frame *frame = &r->stack.list[i];

	return i > 0 && i + 1 == r->stack.count && frame->nameless &&
		report_folds(r, frame - 1);
}

/* Whether the frame is folded at this place in the stack. The site never is. */
static bool folds_at(const struct report *r, size_t i)
{
	return i != r->stack.site && (report_folds(r, &r->stack.list[i]) ||
				      is_main_of_rust(r, i) ||
				      is_nameless_start(r, i));
}

/* How many frames from `i` on, up to `end`, are folded into one line; a single
 * frame is not folded. */
static size_t folded_frames(const struct report *r, size_t i, size_t end)
{
	size_t n = 0;

	while (i + n < end && folds_at(r, i + n))
		n++;
	return n > 1 ? n : 0;
}

/* Prints one frame, or several in a line or two; returns how many. */
static size_t put_frames(const struct report *r, size_t i, size_t end,
			 int indent)
{
	size_t folded = folded_frames(r, i, end);
	size_t same = same_frames(&r->stack, i);

	if (folded > 0) {
		report_folded(r, folded, indent);
		return folded;
	}
	report_frame(r, &r->stack.list[i], indent);
	if (same <= 2)
		return 1;
	fprintf(r->out, "%*s%s(the same %zu times more)%s\n", indent, "",
		r->style->dim, same - 1, r->style->off);
	return same;
}

void report_stack(const struct report *r, size_t first, size_t limit,
		  int indent)
{
	const struct report_stack *stack = &r->stack;
	const char *stop = frames_stop_text(stack->stop);
	size_t lines = 0, i = first, end = stack->count;
	/* this many frames get no "... more" line */
	size_t last = r->options->all ? 1 : 2;

	/* frames that led to main, or to a thread's function */
	while (end > first + 1 && stop == NULL && folds_at(r, end - 1))
		end--;
	while (i < end && (limit == 0 || lines < limit || end - i <= last)) {
		i += put_frames(r, i, end, indent);
		lines++;
	}
	if (i < end) {
		fprintf(r->out, "%*s%s... %zu more up to%s\n", indent, "",
			r->style->dim, end - 1 - i, r->style->off);
		report_frame(r, &stack->list[end - 1], indent);
	}
	if (stop != NULL)
		fprintf(r->out, "%*s%s[the stack ends here: %s]%s\n", indent,
			"", r->style->dim, stop, r->style->off);
}

/* ---- figures ---- */

uint64_t report_whole(const struct report *r, enum measure measure)
{
	return figures_have(measure, MEASURE_SUMS) ?
		figures_value(&r->about.sum, measure, r->end_ns) : 0;
}

static void put_share(const struct report *r, uint64_t value, uint64_t whole)
{
	if (whole > 0)
		fprintf(r->out, "%s%6s%s  ", r->style->share,
			PERCENT_TEXT(value, whole), r->style->off);
}

/* Prints the word in a row's braces, of `size` bytes: a member, or the plural
 * of the previous number, `*last`. */
static void put_word(const struct report *r, const struct figures *figures,
		     const char *word, size_t size, uint64_t *last)
{
	const struct measure_member *member = figures_member(word, size);

	if (member == NULL) {
		fputs(report_plural(*last), r->out);
		return;
	}
	*last = member->value(figures, r->end_ns);
	fputs(UNIT_TEXT(member->unit, *last), r->out);
}

void report_figures(const struct report *r, const struct figures *figures,
		    enum measure measure, bool bound)
{
	const char *at = measure_kinds[measure].row;
	uint64_t last = 0;
	size_t size;

	put_share(r, figures_value(figures, measure, r->end_ns),
		  report_whole(r, measure));
	if (bound && measure == MEASURE_OWN_PEAK)
		fputs("at most ", r->out);
	for (; *at != 0; at += size + 1) {
		size = strcspn(at, "[]{");
		fprintf(r->out, "%.*s", (int)size, at);
		at += size;
		size = 0;
		switch (*at) {
		case 0:
			return;
		case '[':
			fputs(r->style->share, r->out);
			break;
		case ']':
			fputs(r->style->off, r->out);
			break;
		default:
			at++;
			size = strcspn(at, "}");
			put_word(r, figures, at, size, &last);
			break;
		}
	}
}
