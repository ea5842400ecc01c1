/*
 * style.h: colours, bars and width of results, where a person looks at them.
 *
 * Colours are those of the sixteen that every theme has made readable, and never
 * all that tells two things apart: who cannot see them misses nothing.
 */
#ifndef GNOMON_STYLE_H
#define GNOMON_STYLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum style_bars { STYLE_NO_BARS, STYLE_ASCII_BARS, STYLE_BLOCK_BARS };

/* What to print before a part of a line, and `off` behind it: escape
 * sequences of a terminal, or "" for each. */
struct style {
	const char *title;	/* a section's heading */
	const char *share;	/* the figure that a row is there for */
	const char *name;	/* the function that a row is about */
	const char *dim;	/* where it is, notes */
	const char *warn;	/* something is missing */
	const char *bar;
	const char *off;
	enum style_bars bars;
};

/* The words of --color. */
enum style_color { STYLE_AUTO, STYLE_ALWAYS, STYLE_NEVER };

/* From now on, instead of STYLE_AUTO; "auto", "always" or "never". */
void style_set_color(const char *word);
/*
 * Colours and bars if `out` is a terminal. Colours not with TERM=dumb, NO_COLOR
 * (https://no-color.org) or CLICOLOR=0; but always with CLICOLOR_FORCE
 * (https://bixense.com/clicolors). --color goes before all of these. Bars are
 * of block characters where the locale's are UTF-8.
 */
const struct style *style_of(FILE *out);
/* Columns that a line of it may have: one less than the terminal, 79 where it
 * is none. Of the last style_of. */
size_t style_columns(void);

/* A bar as long as `part` is of `whole`, and blanks up to so many cells;
 * nothing where there are no bars. */
void style_put_bar(const struct style *style, FILE *out, double part,
		   double whole, unsigned cells);

#endif
