/*
 * style.c: see style.h. Called by the main thread.
 */
#include "cli/base/terminal/style.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct style plain = { "", "", "", "", "", "" };

/* Of the sixteen colours that every theme has made readable. */
static const struct style coloured = {
	.title = "\033[1m",
	.share = "\033[1;36m",
	.name = "\033[1m",
	.dim = "\033[2m",
	.warn = "\033[1;31m",
	.off = "\033[0m",
};

const struct style *style_of(FILE *out)
{
	const char *no_color = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");

	if ((no_color != NULL && no_color[0] != 0) || terminal == NULL ||
	    strcmp(terminal, "dumb") == 0 || !isatty(fileno(out)))
		return &plain;
	return &coloured;
}
