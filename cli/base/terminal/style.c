/*
 * style.c: see style.h. Called by the main thread.
 */
#include "cli/base/terminal/style.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COLUMNS_DEFAULT 80
/* Tables have up to this many columns before their texts. */
#define COLUMNS_MIN 60
#define EIGHTHS 8		/* of a cell that a block can fill */

static struct {
	enum style_color color;
	size_t columns;
	struct style style;
} now = { .columns = COLUMNS_DEFAULT };

static const struct style plain = { "", "", "", "", "", "", "", 0 };

static const struct style coloured = {
	.title = "\033[1m",
	.share = "\033[1;36m",
	.name = "\033[1m",
	.dim = "\033[2m",
	.warn = "\033[1;33m",
	.bar = "\033[36m",
	.off = "\033[0m",
};

void style_set_color(const char *word)
{
	now.color = strcmp(word, "always") == 0 ? STYLE_ALWAYS :
		strcmp(word, "never") == 0 ? STYLE_NEVER : STYLE_AUTO;
}

/* An environment variable's value; NULL if unset or empty. */
static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && value[0] != 0 ? value : NULL;
}

static bool has_colours(bool terminal)
{
	const char *clicolor = variable("CLICOLOR");
	const char *force = variable("CLICOLOR_FORCE");
	const char *kind = getenv("TERM");

	if (now.color != STYLE_AUTO)
		return now.color == STYLE_ALWAYS;
	if (variable("NO_COLOR") != NULL)
		return false;
	if (force != NULL && strcmp(force, "0") != 0)
		return true;
	return terminal && kind != NULL && strcmp(kind, "dumb") != 0 &&
		(clicolor == NULL || strcmp(clicolor, "0") != 0);
}

/* Whether setlocale(LC_CTYPE, "") would choose a UTF-8 locale. */
static bool is_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *locale = NULL, *set;

	for (unsigned i = 0; i < 3 && locale == NULL; i++)
		locale = variable(names[i]);
	set = locale != NULL ? strchr(locale, '.') : NULL;
	return set != NULL && (strncasecmp(set, ".utf-8", 6) == 0 ||
			       strncasecmp(set, ".utf8", 5) == 0);
}

static size_t find_columns(FILE *out, bool terminal)
{
	struct winsize size;

	if (!terminal || ioctl(fileno(out), TIOCGWINSZ, &size) != 0 ||
	    size.ws_col == 0)
		return COLUMNS_DEFAULT;
	return size.ws_col < COLUMNS_MIN ? COLUMNS_MIN : size.ws_col;
}

const struct style *style_of(FILE *out)
{
	bool terminal = isatty(fileno(out)) == 1;
	bool bars = now.color == STYLE_AUTO ? terminal :
		now.color == STYLE_ALWAYS;

	now.columns = find_columns(out, terminal);
	now.style = has_colours(terminal) ? coloured : plain;
	now.style.bars = !bars ? STYLE_NO_BARS :
		is_utf8() ? STYLE_BLOCK_BARS : STYLE_ASCII_BARS;
	return &now.style;
}

size_t style_columns(void)
{
	return now.columns - 1;
}

void style_put_bar(const struct style *style, FILE *out, double part,
		   double whole, unsigned cells)
{
	/* of an eighth of a cell to a whole one */
	static const char *const blocks[] = {
		"\u258f", "\u258e", "\u258d", "\u258c", "\u258b", "\u258a",
		"\u2589", "\u2588",
	};
	bool smooth = style->bars == STYLE_BLOCK_BARS;
	unsigned steps = smooth ? EIGHTHS : 1, filled = 0;

	if (style->bars == STYLE_NO_BARS)
		return;
	if (part > 0 && whole > 0)
		filled = (unsigned)((part < whole ? part / whole : 1) * cells *
				    steps + .5);
	fputs(style->bar, out);
	for (unsigned cell = 0; cell < cells; cell++) {
		unsigned left = filled > cell * steps ?
			filled - cell * steps : 0;

		fputs(left == 0 ? " " : !smooth ? "#" :
		      blocks[left < EIGHTHS ? left - 1 : EIGHTHS - 1], out);
	}
	fputs(style->off, out);
}
