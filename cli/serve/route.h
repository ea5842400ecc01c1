/*
 * route.h: the API calls that run gnomon commands, and the translation of URL
 * parameters into a command line.
 *
 *	GET /api/v1/traces/ID/report?by=stack&sort=live&size-min=4k
 *	gnomon report --json --by=stack --sort=live --size-min=4k -- TRACE
 *
 * Parameters are an allow-list: the options that a route names, and the option
 * groups that only select (filters.h, trace_args.h). No parameter can name a
 * file, so a client can only read the traces named when the server was started,
 * and write none. No state; any thread.
 */
#ifndef GNOMON_ROUTE_H
#define GNOMON_ROUTE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/base/terminal/command.h"
#include "cli/base/text/buffer.h"

struct route_parameter {
	const char *name;
	const char *value;	/* NULL: no value, as in ?threads */
};

struct route {
	const char *name;	/* "report", "export/pprof": after …/ID/ */
	const struct command *command;
	const char *fixed[3];	/* words that are always added; up to a NULL */
	const char *options;	/* options of the command that are allowed: " by
				 * sort " */
	/* Parameters renamed to options, in pairs; or NULL. If set, options of
	 * groups are not allowed. */
	const char *const *renamed;
	const char *operand;	/* the parameter that becomes the last
				 * operand */
	bool reads_sources;	/* takes --source-root */
	bool takes_statement;	/* reads its standard input: SQL */
	const char *type;	/* MIME type of its output */
	const char *saved_as;	/* suffix of a download's file name; or NULL */
};

/* By name, or NULL. */
const struct route *route_find(const char *name);
/* Routes of two traces, "diff" and "diff/flame"; or NULL. A diff of two moments
 * of one trace is an ordinary route. */
const struct route *route_find_diff(const char *name);

/* Whether the server itself uses the parameter ("ticket" …): it does not become
 * a word. */
bool route_is_own(const char *name);

/*
 * The words of a call, each NUL-terminated: the command, the fixed words, and
 * the parameters in their order. *operand: the value of the operand's
 * parameter, or NULL. False: a parameter is not allowed; `why` names it.
 */
bool route_words(const struct route *route,
		 const struct route_parameter *parameters, size_t count,
		 struct buffer *words, const char **operand,
		 struct buffer *why);

/* Whether the command looks up symbols: takes -d and the like. */
bool route_has_symbols(const struct route *route);

#endif
