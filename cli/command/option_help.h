/*
 * option_help.h: help texts of the recording options (preload/base/options.h),
 * for --help and the manual.
 */
#ifndef GNOMON_OPTION_HELP_H
#define GNOMON_OPTION_HELP_H

#include "preload/base/options.h"

struct option_help {
	const char *name;	/* the variable's name in lower case, with - for
				 * _ */
	int letter;		/* short option, 0 for none */
	const char *value;	/* as written in help; "[=SIZE]" if it may be
				 * left out; NULL: a switch, or a choice, which
				 * lists its words */
	const char *bare;	/* the value if it is left out */
	const char *text;
};

extern const struct option_help option_help[OPTION_COUNT];

#endif
