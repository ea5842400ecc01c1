/*
 * route.c: see route.h.
 */
#include "cli/serve/route.h"

#include <string.h>

#include "cli/command/trace_args.h"
#include "cli/commands.h"
#include "cli/model/filters.h"

#define JSON_TYPE "application/json"
#define BINARY_TYPE "application/octet-stream"
#define TEXT_TYPE "text/plain; charset=utf-8"
#define CSV_TYPE "text/csv; charset=utf-8"
#define HTML_TYPE "text/html; charset=utf-8"
#define SVG_TYPE "image/svg+xml"

#define REPORT_OPTIONS " sort by tree top groups-max sizes pages timeline " \
	"steps frame-table no-own-peaks no-heap "
#define EXPORT(format, mime, end)					\
	{ .name = "export/" format, .command = &cmd_export,		\
	  .fixed = { "--format=" format }, .options = " cost by threads ", \
	  .type = mime, .saved_as = end }

static const char *const lines_renamed[] = {
	"file", "lines-of", "from", "first-line", "to", "last-line", NULL
};

static const struct route routes[] = {
	{ .name = "diff", .command = &cmd_diff, .fixed = { "--json" },
	  .options = " cost sort by top threshold ", .type = JSON_TYPE },
	{ .name = "diff/flame", .command = &cmd_flamegraph,
	  .fixed = { "--json", "--diff" }, .options = " cost layout ",
	  .type = JSON_TYPE },
	{ .name = "report", .command = &cmd_report, .fixed = { "--json" },
	  .options = REPORT_OPTIONS, .type = JSON_TYPE },
	{ .name = "report.csv", .command = &cmd_report, .fixed = { "--csv" },
	  .options = " sort by tree top groups-max ", .type = CSV_TYPE,
	  .saved_as = ".csv" },
	{ .name = "info", .command = &cmd_info, .fixed = { "--json" },
	  .options = " sizes ", .type = JSON_TYPE },
	{ .name = "check", .command = &cmd_check, .fixed = { "--json" },
	  .options = " max-live max-peak max-total max-count max-temporary ",
	  .type = JSON_TYPE },
	{ .name = "annotate", .command = &cmd_annotate,
	  .fixed = { "--json" }, .operand = "of",
	  .options = " cost all every lines disassembly no-own-peaks ",
	  .reads_sources = true,
	  .type = JSON_TYPE },
	{ .name = "source", .command = &cmd_annotate,
	  .fixed = { "--json" }, .options = " lines-of first-line last-line ",
	  .renamed = lines_renamed, .reads_sources = true,
	  .type = JSON_TYPE },
	{ .name = "flame", .command = &cmd_flamegraph, .fixed = { "--json" },
	  .options = " cost layout no-timeline ", .type = JSON_TYPE },
	{ .name = "graph", .command = &cmd_graph,
	  .fixed = { "--format=json" },
	  .options = " cost by top steps ", .type = JSON_TYPE },
	{ .name = "sql", .command = &cmd_sql, .fixed = { "--json" },
	  .options = " no-summary ", .takes_statement = true,
	  .type = JSON_TYPE },
	{ .name = "sql.csv", .command = &cmd_sql, .fixed = { "--csv" },
	  .options = "", .takes_statement = true, .type = CSV_TYPE,
	  .saved_as = ".csv" },
	{ .name = "export/flamegraph.svg", .command = &cmd_flamegraph,
	  .fixed = { "--svg" }, .options = " cost layout ",
	  .type = SVG_TYPE, .saved_as = ".flamegraph.svg" },
	{ .name = "export/flamegraph.html", .command = &cmd_flamegraph,
	  .fixed = { "--html" }, .options = " cost layout ",
	  .type = HTML_TYPE, .saved_as = ".flamegraph.html" },
	{ .name = "export/graph.svg", .command = &cmd_graph,
	  .fixed = { "--format=svg" }, .options = " cost by top steps layout ",
	  .type = SVG_TYPE, .saved_as = ".graph.svg" },
	{ .name = "export/graph.html", .command = &cmd_graph,
	  .fixed = { "--format=html" }, .options = " cost by top steps layout ",
	  .type = HTML_TYPE, .saved_as = ".graph.html" },
	EXPORT("pprof", BINARY_TYPE, ".pb.gz"),
	EXPORT("collapsed", TEXT_TYPE, ".folded"),
	EXPORT("speedscope", JSON_TYPE, ".speedscope.json"),
	EXPORT("heaptrack", BINARY_TYPE, ".heaptrack.zst"),
	EXPORT("replay", BINARY_TYPE, ".replay"),
	EXPORT("json", JSON_TYPE, ".json"),
	EXPORT("ndjson", "application/x-ndjson", ".ndjson"),
	EXPORT("csv", CSV_TYPE, ".csv"),
	EXPORT("dhat", JSON_TYPE, ".dhat.json"),
	EXPORT("massif", TEXT_TYPE, ".massif.out"),
	EXPORT("callgrind", TEXT_TYPE, ".callgrind.out"),
	EXPORT("firefox", JSON_TYPE, ".firefox.json"),
};

#define ROUTES (sizeof(routes) / sizeof(routes[0]))

#define DIFFS 2			/* the first routes in the table */

const struct route *route_find(const char *name)
{
	for (size_t i = 0; i < ROUTES; i++)
		if (strcmp(routes[i].name, name) == 0)
			return &routes[i];
	return NULL;
}

const struct route *route_find_diff(const char *name)
{
	const struct route *route = route_find(name);

	return route != NULL && route < routes + DIFFS ? route : NULL;
}

bool route_is_own(const char *name)
{
	static const char *const own[] = { "ticket", "token", "old", "new",
					   "statement" };

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (strcmp(own[i], name) == 0)
			return true;
	return false;
}

/* Whether the word is in a list with a space before and after each word. */
static bool is_listed(const char *list, const char *word)
{
	size_t size = strlen(word);

	if (size == 0 || strchr(word, ' ') != NULL)
		return false;
	for (const char *at = list; (at = strstr(at, word)) != NULL; at++)
		if (at[-1] == ' ' && at[size] == ' ')
			return true;
	return false;
}

static bool has_group(const struct command *command,
		      const struct command_group *wanted)
{
	const struct command_group *const *group = command->groups;

	for (; group != NULL && *group != NULL; group++)
		if (*group == wanted)
			return true;
	return false;
}

bool route_has_symbols(const struct route *route)
{
	return has_group(route->command, &trace_args_symbols);
}

static const struct command_option *find_in(const struct command_option *list,
					    size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i].name, name) == 0)
			return &list[i];
	return NULL;
}

/* The option of a parameter; NULL: not allowed. */
static const struct command_option *find_option(const struct route *route,
						const char *name)
{
	const struct command *command = route->command;
	const struct command_group *const groups[] = {
		&filter_options, &trace_args_model_options,
	};
	const struct command_option *option;
	const char *const *pair = route->renamed;

	if (pair != NULL) {
		while (*pair != NULL && strcmp(*pair, name) != 0)
			pair += 2;
		return *pair == NULL ? NULL :
			find_in(command->options, command->option_count,
				pair[1]);
	}
	if (is_listed(route->options, name))
		return find_in(command->options, command->option_count, name);
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		option = find_in(groups[i]->options, groups[i]->count, name);
		if (option != NULL)
			return has_group(command, groups[i]) ? option : NULL;
	}
	if (strcmp(name, "full-names") == 0 && route_has_symbols(route))
		return find_in(trace_args_symbols.options,
			       trace_args_symbols.count, name);
	return NULL;
}

static void add_word(struct buffer *words, const char *word)
{
	buffer_add(words, word, strlen(word) + 1);
}

static bool add_option(struct buffer *words,
		       const struct command_option *option,
		       const struct route_parameter *given, struct buffer *why)
{
	bool has_value = given->value != NULL && given->value[0] != 0;

	if (option->value == NULL && has_value) {
		buffer_printf(why, "%s: takes no value: leave out `%s`",
			      given->name, given->value);
		return false;
	}
	buffer_printf(words, "--%s", option->name);
	if (option->value != NULL && (given->value != NULL ||
				      !command_is_optional(option)))
		buffer_printf(words, "=%s", given->value ? given->value : "");
	buffer_add(words, "", 1);
	return true;
}

bool route_words(const struct route *route,
		 const struct route_parameter *parameters, size_t count,
		 struct buffer *words, const char **operand,
		 struct buffer *why)
{
	*operand = NULL;
	add_word(words, route->command->name);
	for (size_t i = 0; route->fixed[i] != NULL; i++)
		add_word(words, route->fixed[i]);
	for (size_t i = 0; i < count; i++) {
		const struct route_parameter *given = &parameters[i];
		const struct command_option *option;

		if (route_is_own(given->name))
			continue;
		if (route->operand != NULL &&
		    strcmp(route->operand, given->name) == 0) {
			*operand = given->value;
			continue;
		}
		option = find_option(route, given->name);
		if (option == NULL) {
			buffer_printf(why, "%s: %s has no such parameter",
				      given->name, route->name);
			return false;
		}
		if (!add_option(words, option, given, why))
			return false;
	}
	if (route->operand == NULL || *operand != NULL)
		return true;
	buffer_printf(why, "%s: the parameter is missing", route->operand);
	return false;
}
