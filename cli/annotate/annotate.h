/*
 * annotate.h: the parts of `gnomon annotate`: find functions and the costs of
 * their lines and calls (annotate_costs.c), the text of their source
 * (annotate_source.c), their instructions (annotate_code.c), and print them
 * (annotate_text.c, annotate_json.c).
 */
#ifndef GNOMON_ANNOTATE_H
#define GNOMON_ANNOTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/base/table.h"
#include "cli/base/text/buffer.h"
#include "cli/base/text/pattern.h"
#include "cli/model/stats/figures.h"
#include "cli/query/query.h"
#include "cli/stack/frames.h"
#include "cli/stack/stack_filter.h"
#include "cli/symbol/code/code.h"

/* Blocks allocated by something: by its own calls of allocators (with only the
 * language's library between), and including its callees. A context counts
 * once, even if it passes several times. */
struct annotate_sum {
	struct figures self;
	struct figures all;
	uint32_t last;		/* context added last, + 1 */
};

struct annotate_line {
	const char *file;	/* NULL: unknown */
	unsigned line;
	struct annotate_sum sum;
};

/* A call, identified by its return address. */
struct annotate_call {
	uint32_t image;		/* IMAGE_NONE: run-time code */
	uint32_t node;		/* one of the nodes it stands for */
	uint64_t address;
	bool exact;		/* no call: interrupted here by a signal */
	bool inlined;		/* the function is inlined here */
	const char *callee;	/* "": none; NULL: unknown, or several */
	struct annotate_sum sum;
};

struct annotate_function {
	const char *name;
	bool exact;		/* has exactly the wanted name */
	const char *library;	/* NULL: run-time code */
	struct annotate_sum sum;
	struct annotate_line *lines;
	size_t line_count;
	size_t line_capacity;
	struct annotate_call *calls;	/* by address, after annotate_sort */
	size_t call_count;
	size_t call_capacity;
};

struct annotate {
	const struct query *query;	/* whose predicate applies */
	struct model *model;
	struct frames *frames;
	struct stack_filter *filter;	/* NULL: all stacks */
	const char *wanted;
	struct annotate_function *functions;	/* largest first, after
						 * annotate_sort */
	size_t count;
	size_t capacity;
	struct figures total;	/* of all stacks that pass the filter */
	uint64_t contexts;	/* their number */
	/* Private to annotate_costs.c. */
	struct pattern *pattern;
	struct intern names, keys;
	struct table by_name;	/* interned name and library -> function */
	struct table spots;	/* interned key -> line or call */
	uint32_t *place_of;	/* by node; TABLE_NONE: no cost there */
	bool *at;		/* by node: it has a function, */
	bool *through;		/* or a node outward of it has */
	bool exact;		/* some functions have exactly the name */
	/* For LIBRARY+0xOFFSET: the function there, whatever its name. */
	uint32_t image;
	struct code_range range;
};

/* Finds the functions and their costs. False: none, which was logged. */
bool annotate_find(struct annotate *annotate,
		   const struct debugfile_places *places);
/* Sorts by this measure, largest first, those with 0 last. */
void annotate_sort(struct annotate *annotate, enum measure measure);
void annotate_free(struct annotate *annotate);

/* ---- options of the output ---- */

struct annotate_options {
	enum measure measure;
	bool measure_given;
	unsigned around;	/* context lines before and after a cost */
	bool whole;		/* all lines of the function */
	bool every;		/* all functions that match */
	bool disassembly;
	bool no_own_peaks;	/* for JSON */
	bool full;		/* do not cut names and lines */
	const char *newest;	/* the trace's path, if no operand named it;
				 * else NULL */
	const struct debugfile_places *places;
	const char *const *roots;	/* DIR, or OLD=NEW */
	size_t root_count;
	bool only_roots;	/* read only source files below the roots */
};

/* ---- source ---- */

struct annotate_source {
	char *path;		/* where it was found; NULL: not found */
	bool newer;		/* than the program or library */
	struct buffer text;
	size_t *start;		/* of each line in the text, plus the end */
	size_t lines;
	size_t capacity;
};

/*
 * Reads a file of the trace. `directory`: base of a relative path, or NULL;
 * `binary`: the file of the code, to compare ages, or NULL. If the file is not
 * found, source->path is NULL.
 */
void annotate_source_read(struct annotate_source *source,
			  const struct annotate_options *options,
			  const char *file, const char *directory,
			  const char *binary);
void annotate_source_free(struct annotate_source *source);
/*
 * Appends a text as one printable line: tabs expanded, at most `width` columns,
 * invalid UTF-8 and terminal control characters replaced. Removes up to
 * `dedent` blanks at its start.
 */
void annotate_printable(struct buffer *out, const char *text, size_t size,
			size_t dedent, size_t width);
/* Appends a line of a file; lines are numbered from 1 to source->lines. */
void annotate_source_line(const struct annotate_source *source, size_t line,
			  size_t dedent, size_t width, struct buffer *out);
/* Blanks at the start of a line, tabs expanded; SIZE_MAX: a blank line. */
size_t annotate_indent(const char *text, size_t size);

/* Lines of a file, from 1; 0: from its first line, to its last. */
struct annotate_lines {
	const char *file;	/* as frames name it; NULL: none requested */
	uint64_t first, last;
};

/* False: the trace has no such file, or it was not found, which was logged. */
bool annotate_file_json(struct frames *frames,
			const struct annotate_options *options,
			const struct annotate_lines *wanted, FILE *out);

/* ---- code ---- */

/* A machine function that contains calls of an annotated function, which may be
 * inlined there. */
struct annotate_piece {
	struct code *code;	/* owned by annotate_pieces */
	struct code_range range;
	uint32_t image;		/* IMAGE_NONE: run-time code */
	uint64_t bias;
	const char *library;	/* or NULL */
	const struct annotate_function *function;
};

struct annotate_pieces {
	struct annotate *annotate;
	const struct annotate_options *options;
	struct code **codes;	/* by image; NULL: not opened */
	/* Run-time code. */
	struct { struct code *code; uint8_t *bytes; } *made;
	size_t made_count;
	size_t made_capacity;
	struct annotate_piece *list;	/* of the last annotate_pieces_find */
	size_t count;
	size_t capacity;
};

void annotate_pieces_init(struct annotate_pieces *pieces,
			  struct annotate *annotate,
			  const struct annotate_options *options);
void annotate_pieces_find(struct annotate_pieces *pieces,
			  const struct annotate_function *function);
/* The base directory of a relative file name in a function's line table, and
 * the path of the program or library; NULL: unknown. */
void annotate_pieces_place(const struct annotate_pieces *pieces,
			   const char *file, const char **directory,
			   const char **binary);
/* Extends *first and *last to the first and last line of the function in a
 * file; unchanged if it has none there. */
void annotate_pieces_lines(const struct annotate_pieces *pieces,
			   const char *file, unsigned *first, unsigned *last);
void annotate_pieces_free(struct annotate_pieces *pieces);

struct annotate_instruction {
	uint64_t address;
	unsigned size;
	unsigned label;		/* a branch target; 0: none */
	bool named;		/* the text names the callee */
	char text[160];		/* "": invalid bytes */
	const struct annotate_call *call;	/* returns after it */
};

struct annotate_listing {
	struct annotate_instruction *list;
	size_t count;
	size_t capacity;
	unsigned labels;
};

/* Puts the function's name into a call by register whose target is known. */
void annotate_name_call(struct annotate_instruction *at, const char *symbol);
/* Names the targets of calls in MIPS code; labels must be known. */
void annotate_name_mips(const struct annotate_piece *piece,
			struct annotate_listing *listing);
/* NULL, or the reason why there are no instructions. */
const char *annotate_disassemble(const struct annotate_piece *piece,
				 struct annotate_listing *listing);
void annotate_listing_free(struct annotate_listing *listing);

/* ---- output ---- */

void annotate_text(struct annotate *annotate,
		   const struct annotate_options *options, FILE *out);
void annotate_json(struct annotate *annotate,
		   const struct annotate_options *options, FILE *out);

#endif
