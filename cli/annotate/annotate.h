/*
 * annotate.h: what `gnomon annotate` is made of: which functions are meant and
 * what their lines and calls cost (annotate_costs.c), the text of their source
 * (annotate_source.c), their instructions (annotate_code.c), and how all that
 * is shown (annotate_text.c, annotate_json.c).
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

/* Blocks that were allocated by something: its own calls of allocators (with
 * only the language's library between), and with what it calls. A context
 * counts once, however often it comes by. */
struct annotate_sum {
	struct figures self;
	struct figures all;
	uint32_t last;		/* context that was counted last, + 1 */
};

struct annotate_line {
	const char *file;	/* NULL: not known */
	unsigned line;
	struct annotate_sum sum;
};

/* By the return address, which stands behind the call. */
struct annotate_call {
	uint32_t image;		/* IMAGE_NONE: code made at run time */
	uint32_t node;		/* one of those it stands for */
	uint64_t address;
	bool exact;		/* no call: a signal came in there */
	bool inlined;		/* the function is, in what lies there */
	const char *callee;	/* "": it had none; NULL: not known, or several */
	struct annotate_sum sum;
};

struct annotate_function {
	const char *name;
	bool exact;		/* of just the name that was wanted */
	const char *library;	/* NULL: code made at run time */
	struct annotate_sum sum;
	struct annotate_line *lines;
	size_t line_count;
	size_t line_capacity;
	struct annotate_call *calls;	/* by address, once all are there */
	size_t call_count;
	size_t call_capacity;
};

struct annotate {
	const struct query *query;	/* of which the predicate counts */
	struct model *model;
	struct frames *frames;
	struct stack_filter *filter;	/* NULL: all stacks */
	const char *wanted;
	struct annotate_function *functions;	/* largest first, once sorted */
	size_t count;
	size_t capacity;
	struct figures total;	/* of all stacks that the filter keeps */
	uint64_t contexts;	/* how many they are */
	/* annotate_costs.c's own */
	struct pattern *pattern;
	struct intern names, keys;
	struct table by_name;	/* interned name and library -> function */
	struct table spots;	/* interned key -> line or call */
	uint32_t *place_of;	/* of each node; TABLE_NONE: no cost is there */
	bool *at;		/* of each node: a function is at it, */
	bool *through;		/* or at a node around it */
	bool exact;		/* functions of just this name are there */
	/* A place in a library: its function, whatever its name. */
	uint32_t image;
	struct code_range range;
};

/* Finds the functions and their costs. False: none, which was said. */
bool annotate_find(struct annotate *annotate,
		   const struct debugfile_places *places);
/* Largest first, by this cost; one that holds nothing at all last. */
void annotate_sort(struct annotate *annotate, enum figure key);
void annotate_free(struct annotate *annotate);

/* ---- how it is shown ---- */

struct annotate_options {
	enum figure key;
	bool key_given;
	unsigned around;	/* lines shown before and behind one that costs */
	bool whole;		/* all lines of the function */
	bool every;		/* all functions that match */
	bool disassembly;
	bool no_own_peaks;	/* of JSON */
	bool full;		/* names and lines are not cut */
	const char *newest;	/* the trace, if no operand named it; or NULL */
	const struct debugfile_places *places;
	const char *const *roots;	/* DIR, or OLD=NEW */
	size_t root_count;
	bool only_roots;	/* source files are under these, or not read */
};

/* ---- source ---- */

struct annotate_source {
	char *path;		/* where it was found; NULL: nowhere */
	bool newer;		/* than the program or library */
	struct buffer text;
	size_t *start;		/* of each line in the text, and its end */
	size_t lines;
	size_t capacity;
};

/*
 * A file of the trace. `directory`: what it is relative to, or NULL;
 * `binary`: the file of the code, whose age it is compared with, or NULL.
 * Where there is none, source->path is NULL.
 */
void annotate_source_read(struct annotate_source *source,
			  const struct annotate_options *options,
			  const char *file, const char *directory,
			  const char *binary);
void annotate_source_free(struct annotate_source *source);
/*
 * A text of one line for people, appended: tabs expanded, no more than `width`
 * columns, what is not UTF-8 or controls a terminal replaced. `dedent` blanks
 * at its start are left out; no more than it has.
 */
void annotate_printable(struct buffer *out, const char *text, size_t size,
			size_t dedent, size_t width);
/* A line of a file, from 1, not above source->lines. */
void annotate_source_line(const struct annotate_source *source, size_t line,
			  size_t dedent, size_t width, struct buffer *out);
/* Blanks at the start of a line, tabs expanded; SIZE_MAX: nothing else. */
size_t annotate_indent(const char *text, size_t size);

/* Lines of a whole file, from 1; 0: from its first, to its last. */
struct annotate_lines {
	const char *file;	/* as frames name it; NULL: none is wanted */
	uint64_t first, last;
};

/* False: it is none of the trace's, or not found, which was said. */
bool annotate_file_json(struct frames *frames,
			const struct annotate_options *options,
			const struct annotate_lines *wanted, FILE *out);

/* ---- code ---- */

/* A function of the machine's in which calls of an annotated one are, which
 * may be inlined there. */
struct annotate_piece {
	struct code *code;	/* annotate_pieces' */
	struct code_range range;
	uint32_t image;		/* IMAGE_NONE: code made at run time */
	uint64_t bias;
	const char *library;	/* or NULL */
	const struct annotate_function *function;
};

struct annotate_pieces {
	struct annotate *annotate;
	const struct annotate_options *options;
	struct code **codes;	/* by image; NULL: not opened */
	/* Of code made at run time. */
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
/* What a file of a function's line table is relative to, and the path of the
 * program or library; NULL: not known. */
void annotate_pieces_place(const struct annotate_pieces *pieces,
			   const char *file, const char **directory,
			   const char **binary);
/* The first and the last line that the function has in a file; of those known
 * already, *first and *last, if it has none. */
void annotate_pieces_lines(const struct annotate_pieces *pieces,
			   const char *file, unsigned *first, unsigned *last);
void annotate_pieces_free(struct annotate_pieces *pieces);

struct annotate_instruction {
	uint64_t address;
	unsigned size;
	unsigned label;		/* a branch leads here; 0: none */
	bool named;		/* the text says what it calls */
	char text[160];		/* "" : bytes that are none */
	const struct annotate_call *call;	/* that returns behind it */
};

struct annotate_listing {
	struct annotate_instruction *list;
	size_t count;
	size_t capacity;
	unsigned labels;
};

/* The text of a call of a register that is known to have this function. */
void annotate_name_call(struct annotate_instruction *at, const char *symbol);
/* Names what calls of MIPS' code go to; labels are known. */
void annotate_name_mips(const struct annotate_piece *piece,
			struct annotate_listing *listing);
/* NULL, or why there are no instructions. */
const char *annotate_disassemble(const struct annotate_piece *piece,
				 struct annotate_listing *listing);
void annotate_listing_free(struct annotate_listing *listing);

/* ---- output ---- */

void annotate_text(struct annotate *annotate,
		   const struct annotate_options *options, FILE *out);
void annotate_json(struct annotate *annotate,
		   const struct annotate_options *options, FILE *out);

#endif
