/*
 * annotate_text.c: functions with their costs as text: 80 columns, but lines of
 * source and instructions are cut only on a terminal.
 *
 *	     live      self   line
 *	                        12  char *copy(const char *from)
 *	    1.2M      1.2M      14      char *to = malloc(strlen(from) + 1);
 *
 * Called by the main thread.
 */
#include "cli/annotate/annotate.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/terminal/log.h"
#include "cli/base/text/quantity.h"
#include "cli/model/core/images.h"
#include "cli/symbol/names/names.h"

#define COLUMNS 80
#define FULL_WIDTH 100000
#define LINE_WIDTH (COLUMNS - 28)	/* of source */
#define CODE_WIDTH (COLUMNS - 31)	/* of an instruction */
#define MATCHES_SHOWN 20
#define ABOVE 1			/* lines before the first with code */
#define BELOW 1

struct printer {
	struct annotate *annotate;
	const struct annotate_options *options;
	struct annotate_pieces pieces;
	enum measure measure;
	uint64_t end_ns;
	bool uncut;		/* do not cut source lines and instructions */
	struct buffer line;
	FILE *out;
};

static const char *meaning_of(const struct printer *p)
{
	return figures_amount(p->measure,
			      model_is_being_written(p->annotate->model) ?
			      MEASURE_NOW : MEASURE_AT_END);
}

/* ---- costs ---- */

static uint64_t value(const struct printer *p, const struct figures *figures)
{
	return figures_value(figures, p->measure, p->end_ns);
}

/* `text` has QUANTITY_TEXT bytes. */
static const char *quantity(const struct printer *p, uint64_t number,
			    char *text)
{
	return quantity_of(text, measure_kinds[p->measure].unit, number);
}

static const char *cell(const struct printer *p, const struct figures *figures,
			char *text)
{
	uint64_t number = figures ? value(p, figures) : 0;

	text[0] = 0;
	return number == 0 ? text : quantity(p, number, text);
}

/* The two columns of costs; NULL: blank. */
static void put_costs(const struct printer *p, const struct annotate_sum *sum)
{
	char a[QUANTITY_TEXT], b[QUANTITY_TEXT];

	fprintf(p->out, "%9s %9s ", cell(p, sum ? &sum->all : NULL, a),
		cell(p, sum ? &sum->self : NULL, b));
}

/* Prints a line without blanks at its end. */
static void put_text(struct printer *p, const char *format, uint64_t number,
		     const char *text)
{
	char start[32];
	size_t size = (size_t)snprintf(start, sizeof(start), format,
				       (unsigned long long)number);

	while (text[0] == 0 && size > 0 && start[size - 1] == ' ')
		start[--size] = 0;
	fprintf(p->out, "%s%s\n", start, text);
}

static void put_heading(const struct printer *p, const char *what)
{
	fprintf(p->out, "%9s %9s %s\n", measure_kinds[p->measure].name, "self",
		what);
}

static void put_path(struct printer *p, const char *path)
{
	buffer_clear(&p->line);
	annotate_printable(&p->line, path, strlen(path), 0, FULL_WIDTH);
	fprintf(p->out, "\n%s\n", p->line.data ? p->line.data : "");
}

/* ---- source ---- */

static size_t width_of(const struct printer *p, size_t width)
{
	return p->uncut ? FULL_WIDTH : width;
}

/* The indentation that all shown lines share. */
static size_t common_indent(const struct annotate_source *source,
			    const bool *shown)
{
	size_t min = SIZE_MAX;

	for (size_t line = 1; line <= source->lines; line++) {
		size_t from = source->start[line - 1], indent;

		if (!shown[line])
			continue;
		indent = annotate_indent(source->text.data + from,
					 source->start[line] - from);
		if (indent < min)
			min = indent;
	}
	return min == SIZE_MAX ? 0 : min;
}

static void show(bool *shown, size_t from, size_t to)
{
	for (; from <= to; from++)
		shown[from] = true;
}

/* Selects the lines around costs, or all lines of the function. */
static void choose_lines(const struct printer *p,
			 const struct annotate_source *source,
			 const struct annotate_line *lines, size_t count,
			 bool *shown)
{
	size_t around = p->options->around;
	unsigned first = UINT32_MAX, last = 0;

	annotate_pieces_lines(&p->pieces, lines[0].file, &first, &last);
	for (size_t i = 0; i < count; i++) {
		if (lines[i].line > 0 && lines[i].line < first)
			first = lines[i].line;
		if (lines[i].line > last)
			last = lines[i].line;
	}
	/* Lines further out belong to other functions; the line of the result's
	 * type and a closing brace may have no code. */
	first = first > ABOVE ? first - ABOVE : 1;
	last = last + BELOW < source->lines ? last + BELOW :
		(unsigned)source->lines;
	if (p->options->whole)
		show(shown, first, last);
	for (size_t i = 0; i < count; i++) {
		size_t line = lines[i].line;

		if (line == 0 || line > source->lines)
			continue;
		show(shown, line > first + around ? line - around : first,
		     line + around < last ? line + around : last);
	}
	/* Code mostly begins at the function's opening line. */
	if (first + ABOVE <= last)
		shown[first + ABOVE] = true;
}

static void put_source(struct printer *p, const struct annotate_source *source,
		       const struct annotate_line *lines, size_t count)
{
	bool *shown = calloc(source->lines + 2, sizeof(*shown));
	size_t next = 0, before = 0, dedent;

	if (shown == NULL)
		return;
	choose_lines(p, source, lines, count, shown);
	dedent = common_indent(source, shown);
	put_heading(p, "  line");
	for (size_t line = 1; line <= source->lines; line++) {
		bool costs;

		if (!shown[line])
			continue;
		if (before > 0 && line > before + 1)
			fprintf(p->out, "%26s\n", "...");
		while (next < count && lines[next].line < line)
			next++;
		costs = next < count && lines[next].line == line;
		put_costs(p, costs ? &lines[next].sum : NULL);
		buffer_clear(&p->line);
		buffer_string(&p->line, "");
		annotate_source_line(source, line, dedent,
				     width_of(p, LINE_WIDTH), &p->line);
		put_text(p, "%6llu  ", line, p->line.data);
		before = line;
	}
	free(shown);
}

/* Costs of lines that the file lacks, or without a line number. */
static size_t put_other_lines(struct printer *p,
			      const struct annotate_line *lines, size_t count,
			      size_t last)
{
	size_t other = 0;

	for (size_t i = 0; i < count; i++) {
		if (lines[i].line > 0 && lines[i].line <= last)
			continue;
		put_costs(p, &lines[i].sum);
		put_text(p, "%6llu  ", lines[i].line, lines[i].line ?
			 "(the file has no such line)" :
			 "(code without a line)");
		other++;
	}
	return other;
}

/* Prints the lines of one file; false: it was not found. */
static bool put_file(struct printer *p, const struct annotate_line *lines,
		     size_t count)
{
	const char *file = lines[0].file, *directory, *binary;
	struct annotate_source source;
	size_t other;

	annotate_pieces_place(&p->pieces, file, &directory, &binary);
	annotate_source_read(&source, p->options, file, directory, binary);
	if (source.path == NULL)
		return false;
	put_path(p, source.path);
	put_source(p, &source, lines, count);
	other = put_other_lines(p, lines, count, source.lines);
	if (source.newer)
		log_note("%s: is newer than %s: its lines may differ from the "
			 "compiled ones", source.path, binary);
	if (other > 0 && lines[count - 1].line > source.lines)
		log_note("%s: has only %zu lines: it is not the compiled "
			 "version: give the right one with --source-root",
			 source.path, source.lines);
	annotate_source_free(&source);
	return true;
}

/* True: at least one file was found. */
static bool put_files(struct printer *p,
		      const struct annotate_function *function)
{
	bool found = false;
	size_t from = 0, to;

	for (; from < function->line_count; from = to) {
		const struct annotate_line *lines = &function->lines[from];

		for (to = from + 1; to < function->line_count &&
			     function->lines[to].file == lines->file; to++)
			;
		if (lines->file == NULL)
			continue;
		if (put_file(p, lines, to - from))
			found = true;
		else
			log_note("%s: not found: give its directory with "
				 "--source-root", lines->file);
	}
	return found;
}

/* ---- code ---- */

static void put_callee(struct printer *p, const struct annotate_call *call)
{
	size_t width = width_of(p, CODE_WIDTH), used = p->line.size;

	if (call->exact)
		buffer_string(&p->line, "  <- interrupted by a signal");
	else if (call->callee == NULL)
		buffer_string(&p->line, "  -> several, or unnamed");
	else if (call->callee[0] != 0 && used + 8 < width) {
		buffer_string(&p->line, "  -> ");
		names_brief(&p->line, call->callee, width - used - 5);
	}
}

static void put_instruction(struct printer *p,
			    const struct annotate_piece *piece,
			    const struct annotate_instruction *at)
{
	if (at->label)
		fprintf(p->out, "%30s%u:\n", "L", at->label);
	put_costs(p, at->call ? &at->call->sum : NULL);
	buffer_clear(&p->line);
	annotate_printable(&p->line, at->text, strlen(at->text), 0,
			   width_of(p, CODE_WIDTH));
	/* an instruction that names its callee needs no second name */
	if (at->call && (!at->named || at->call->exact))
		put_callee(p, at->call);
	put_text(p, "%8llx  ", at->address - piece->bias,
		 p->line.data ? p->line.data : "");
}

/* "file:line" and, if the file was found, the text of the line. */
static void put_place(struct printer *p, const struct annotate_source *source,
		      const struct code_line *line)
{
	const char *slash = strrchr(line->file, '/');

	buffer_clear(&p->line);
	annotate_printable(&p->line, slash ? slash + 1 : line->file,
			   strlen(slash ? slash + 1 : line->file), 0, 24);
	buffer_printf(&p->line, ":%u", line->line);
	if (source->path != NULL && line->line > 0 &&
	    line->line <= source->lines) {
		size_t from = source->start[line->line - 1];
		size_t size = source->start[line->line] - from;
		size_t indent = annotate_indent(source->text.data + from,
						size);

		buffer_string(&p->line, "  ");
		if (indent != SIZE_MAX)
			annotate_printable(&p->line, source->text.data + from,
					   size, indent,
					   width_of(p, COLUMNS - 21 -
						    p->line.size));
	}
	fprintf(p->out, "%20s%s\n", "", p->line.data);
}

static void choose_instructions(const struct printer *p,
				const struct annotate_listing *listing,
				bool *shown)
{
	size_t around = 2 * (size_t)p->options->around;

	for (size_t i = 0; i < listing->count; i++) {
		size_t from, to;

		shown[i] |= p->options->whole;
		if (listing->list[i].call == NULL)
			continue;
		from = i > around ? i - around : 0;
		to = i + around < listing->count ? i + around :
			listing->count - 1;
		for (; from <= to; from++)
			shown[from] = true;
	}
}

/* Prints the source line if it changed; reads its file on first use. */
static void follow_line(struct printer *p, const struct annotate_piece *piece,
			uint64_t address, struct code_line *before,
			struct annotate_source *source)
{
	struct code_line line;

	if (!code_line(piece->code, address, &line) ||
	    (line.line == before->line && line.file == before->file))
		return;
	if (line.file != before->file) {
		annotate_source_free(source);
		annotate_source_read(source, p->options, line.file,
				     line.directory, NULL);
	}
	*before = line;
	put_place(p, source, &line);
}

static void put_listing(struct printer *p, const struct annotate_piece *piece,
			const struct annotate_listing *listing)
{
	bool *shown = calloc(listing->count + 1, sizeof(*shown));
	struct annotate_source source = { 0 };
	struct code_line before = { 0 };
	size_t last = SIZE_MAX;

	if (shown == NULL)
		return;
	choose_instructions(p, listing, shown);
	put_heading(p, " address");
	for (size_t i = 0; i < listing->count; i++) {
		if (!shown[i])
			continue;
		if (i > 0 && last + 1 != i)
			fprintf(p->out, "%28s\n", "...");
		last = i;
		follow_line(p, piece, listing->list[i].address, &before,
			    &source);
		put_instruction(p, piece, &listing->list[i]);
	}
	if (last + 1 < listing->count)
		fprintf(p->out, "%28s\n", "...");
	annotate_source_free(&source);
	free(shown);
}

static bool put_piece(struct printer *p, const struct annotate_piece *piece)
{
	struct annotate_listing listing;
	const char *why = annotate_disassemble(piece, &listing);

	fprintf(p->out, "\n%s%s0x%llx to 0x%llx", piece->library ?
		piece->library : "", piece->library ? "+" : "",
		(unsigned long long)(piece->range.start - piece->bias),
		(unsigned long long)(piece->range.end - piece->bias));
	if (piece->range.symbol != NULL) {
		struct buffer name = { 0 };

		buffer_clear(&p->line);
		names_demangle(&name, piece->range.symbol);
		names_brief(&p->line, name.data, p->options->full ?
			    FULL_WIDTH : COLUMNS - 2);
		buffer_printable(&p->line);
		fprintf(p->out, ":\n  %s", p->line.data);
		buffer_free(&name);
	}
	fputs("\n", p->out);
	if (why != NULL)
		fprintf(p->out, "  no instructions: %s\n", why);
	else
		put_listing(p, piece, &listing);
	annotate_listing_free(&listing);
	return why == NULL;
}

/* ---- without source and instructions ---- */

static void put_bare(struct printer *p,
		     const struct annotate_function *function)
{
	fputs("\n", p->out);
	put_heading(p, " address");
	for (size_t i = 0; i < function->call_count; i++) {
		const struct annotate_call *call = &function->calls[i];
		uint64_t bias = call->image == IMAGE_NONE ? 0 :
			model_image(p->annotate->model, call->image)->bias;

		put_costs(p, &call->sum);
		buffer_clear(&p->line);
		buffer_string(&p->line, "");
		put_callee(p, call);
		put_text(p, "%8llx", call->address - bias, p->line.data);
	}
}

/* ---- the whole output ---- */

static void put_head(struct printer *p,
		     const struct annotate_function *function)
{
	const struct figures *all = &function->sum.all;
	uint64_t whole = value(p, &p->annotate->total);
	char a[QUANTITY_TEXT], c[QUANTITY_TEXT];

	buffer_clear(&p->line);
	names_brief(&p->line, function->name, p->options->full ? FULL_WIDTH :
		    COLUMNS);
	fprintf(p->out, "%s", p->line.data);
	if (p->line.size + strlen(function->library ? function->library : "") +
		    4 <= COLUMNS)
		fprintf(p->out, " in %s", function->library ?
			function->library : "run-time code");
	else
		fprintf(p->out, "\n  in %s", function->library ?
			function->library : "run-time code");
	fprintf(p->out, "\n  %s %s, %s of %s", quantity(p, value(p, all), a),
		meaning_of(p), PERCENT_TEXT(value(p, all), whole),
		quantity(p, whole, c));
	fprintf(p->out, "\n  %s of it by its own calls of the allocator\n",
		value(p, &function->sum.self) == 0 ? "none" :
		quantity(p, value(p, &function->sum.self), a));
}

static void put_function(struct printer *p,
			 const struct annotate_function *function)
{
	bool found = false;

	put_head(p, function);
	annotate_pieces_find(&p->pieces, function);
	if (!p->options->disassembly)
		found = put_files(p, function);
	for (size_t i = 0; !found && i < p->pieces.count; i++)
		found |= put_piece(p, &p->pieces.list[i]) && false;
	if (!found && p->pieces.count == 0)
		put_bare(p, function);
}

/* For an expression: lists all matching functions. */
static void put_matches(struct printer *p)
{
	struct annotate *annotate = p->annotate;

	if (annotate->count < 2)
		return;
	fprintf(p->out, "%zu functions match%s\n\n", annotate->count,
		p->options->every ? "" : "; the first is shown (--every: all)");
	put_heading(p, "function");
	for (size_t i = 0; i < annotate->count && i < MATCHES_SHOWN; i++) {
		const struct annotate_function *each = &annotate->functions[i];

		put_costs(p, &each->sum);
		buffer_clear(&p->line);
		names_brief(&p->line, each->name, p->options->full ?
			    FULL_WIDTH : COLUMNS - 20);
		fprintf(p->out, "%s\n", p->line.data);
	}
	if (annotate->count > MATCHES_SHOWN)
		fprintf(p->out, "%20s... and %zu more\n", "",
			annotate->count - MATCHES_SHOWN);
	fputs("\n", p->out);
}

/* Names the trace that was chosen by default. */
static void put_newest(struct printer *p)
{
	const char *path = p->options->newest;

	buffer_clear(&p->line);
	annotate_printable(&p->line, path, strlen(path), 0, FULL_WIDTH);
	fprintf(p->out, "in the newest trace here, %s\n\n",
		p->line.data ? p->line.data : "");
}

void annotate_text(struct annotate *annotate,
		   const struct annotate_options *options, FILE *out)
{
	struct printer p = { .annotate = annotate, .options = options,
			     .measure = options->measure, .out = out };

	p.end_ns = model_duration_ns(annotate->model);
	p.uncut = options->full || !isatty(fileno(out));
	if (options->newest != NULL)
		put_newest(&p);
	annotate_pieces_init(&p.pieces, annotate, options);
	put_matches(&p);
	for (size_t i = 0; i < annotate->count; i++) {
		if (i > 0 && !options->every)
			break;
		if (i > 0)
			fputs("\n", out);
		put_function(&p, &annotate->functions[i]);
	}
	annotate_pieces_free(&p.pieces);
	buffer_free(&p.line);
}
