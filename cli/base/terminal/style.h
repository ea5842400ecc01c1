/*
 * style.h: colours of results, where a person looks at them.
 */
#ifndef GNOMON_STYLE_H
#define GNOMON_STYLE_H

#include <stdio.h>

/* What to print before a part of a line, and `off` behind it: escape
 * sequences of a terminal, or "" for each. */
struct style {
	const char *title;	/* a section's heading */
	const char *share;	/* the figure that a row is there for */
	const char *name;	/* the function that a row is about */
	const char *dim;	/* where it is, notes */
	const char *warn;	/* something is missing */
	const char *off;
};

/* Colours if `out` is a terminal that has them, and the environment has no
 * NO_COLOR (https://no-color.org). */
const struct style *style_of(FILE *out);

#endif
