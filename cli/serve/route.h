/*
 * route.h: the calls of the API that are commands of gnomon: which ones, and how
 * the parameters of a URL become words of a command line.
 *
 *	GET /api/v1/traces/ID/report?by=stack&sort=live&size-min=4k
 *	gnomon report --json --by=stack --sort=live --size-min=4k -- TRACE
 *
 * What a parameter may be is an allow-list: the options that a route names, and
 * the groups of options that only select (filters.h, reading.h). Nothing that
 * names a file can be said, so neither can anything be read or written that
 * was not named when the server was started. No state; any thread.
 */
#ifndef GNOMON_ROUTE_H
#define GNOMON_ROUTE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/base/terminal/command.h"
#include "cli/base/text/buffer.h"

struct route_parameter {
	const char *name;
	const char *value;	/* NULL: it has none, as in ?threads */
};

struct route {
	const char *name;	/* "report", "export/pprof", behind …/ID/ */
	const struct command *command;
	const char *fixed[3];	/* words that are always there; to a NULL */
	const char *options;	/* of its own that may be given: " by sort " */
	/* Parameters that are options of other names, in pairs; or NULL. Then no
	 * option of a group is a parameter. */
	const char *const *renamed;
	const char *operand;	/* the parameter that is its last operand */
	bool reads_sources;	/* takes --source-root */
	bool takes_statement;	/* reads its standard input: SQL */
	const char *type;	/* of what it prints, as HTTP has it */
	const char *saved_as;	/* a download: the end of its name; or NULL */
};

/* By name; NULL: there is none. */
const struct route *route_find(const char *name);
/* Of two traces: "diff" and "diff/flame"; NULL: there is none. Of two moments of
 * one they are as all others. */
const struct route *route_find_diff(const char *name);

/* Parameters that are the server's own are no words: "ticket" and the like. */
bool route_is_own(const char *name);

/*
 * The words of a call, each ended by a NUL: the command, what is fixed, and the
 * parameters in their order; *operand is the value of that, or NULL. False: one
 * of them is not allowed, and `why` says which.
 */
bool route_words(const struct route *route,
		 const struct route_parameter *parameters, size_t count,
		 struct buffer *words, const char **operand,
		 struct buffer *why);

/* Whether the command looks up symbols: takes -d and the like. */
bool route_has_symbols(const struct route *route);

#endif
