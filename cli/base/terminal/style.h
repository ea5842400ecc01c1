/*
 * style.h: colours, bars and line width of results for people.
 *
 * Only colours of the sixteen that every theme makes readable. Colour never
 * carries information alone: readers who cannot see it miss nothing.
 */
#ifndef GNOMON_STYLE_H
#define GNOMON_STYLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum style_bars { STYLE_NO_BARS, STYLE_ASCII_BARS, STYLE_BLOCK_BARS };

/* Escape sequences of a terminal to print before a part of a line, and `off`
 * after it; all "" without colours. */
struct style {
	const char *title;	/* a section's heading */
	const char *share;	/* the measure that a row is about */
	const char *name;	/* the function that a row is about */
	const char *dim;	/* location, notes */
	const char *warn;	/* missing data */
	const char *bar;
	const char *off;
	enum style_bars bars;
};

/* The words of --color. */
enum style_color { STYLE_AUTO, STYLE_ALWAYS, STYLE_NEVER };

/* Replaces STYLE_AUTO from now on; "auto", "always" or "never". */
void style_set_color(const char *word);
/*
 * Colours and bars if `out` is a terminal. No colours with TERM=dumb, NO_COLOR
 * (https://no-color.org) or CLICOLOR=0; colours in any case with CLICOLOR_FORCE
 * (https://bixense.com/clicolors). --color overrides all of these. Bars use
 * block characters in UTF-8 locales.
 */
const struct style *style_of(FILE *out);
/* Columns of a line, for the stream of the last style_of: one less than the
 * terminal's; 79 without a terminal. */
size_t style_columns(void);

/* A bar of length part / whole, padded with blanks to `cells`; nothing if bars
 * are off. */
void style_put_bar(const struct style *style, FILE *out, double part,
		   double whole, unsigned cells);

#endif
