/*
 * option_help.h: what the command says of the options of a recording
 * (preload/base/options.h): its help and manual are made of it.
 */
#ifndef GNOMON_OPTION_HELP_H
#define GNOMON_OPTION_HELP_H

#include "preload/base/options.h"

struct option_help {
	const char *name;	/* of the option; that of the variable in
				 * lower case, with - for _ */
	int letter;		/* short option, 0 for none */
	const char *value;	/* how it is written in help; "[=SIZE]" where it
				 * may be left out; NULL: a switch has none,
				 * of a choice the words say it */
	const char *bare;	/* what holds where it is left out */
	const char *text;
};

extern const struct option_help option_help[OPTION_COUNT];

#endif
