/*
 * command.c: parses options by table, with the syntax of getopt_long:
 * --name=value, --name value, -xvalue, -x value, switches bundled after one
 * dash, -- ends them. getopt itself keeps its state in globals and prints
 * messages in its own style.
 *
 * Called by the main thread.
 */
#include "cli/base/terminal/command.h"

#include <errno.h>
#include <string.h>

#include "cli/base/terminal/style.h"
#include "cli/base/terminal/log.h"
#include "cli/base/text/nearest.h"

#define HELP_COLUMN 28
#define COMMAND_COLUMN 14
#define HELP_WIDTH 78

struct parse {
	const struct command *command;
	int argc;
	char **argv;
	int next;
	int (*take)(void *owner, int id, const char *value);
	void *owner;
	int *status;
};

static const char *space(const struct command *command)
{
	return command->name[0] ? " " : "";
}

static bool refuse(const struct parse *parse, const char *what,
		   const char *argument)
{
	log_error("%s%s: try `gnomon%s%s --help`", what, argument,
		  space(parse->command), parse->command->name);
	*parse->status = parse->command->wrong_use;
	return false;
}

/* Whether the `size` bytes of `value` are one of "a|b|c" or "a|b|c,...". */
static bool is_word(const char *words, const char *value, size_t size)
{
	size_t n;

	for (;; words += n + 1) {
		n = strcspn(words, "|,");
		if (n == size && memcmp(words, value, n) == 0)
			return true;
		if (words[n] != '|')
			return false;
	}
}

/* Whether `value` is a valid choice: a word, or a list of words. */
static bool is_choice(const char *words, const char *value)
{
	bool list = strchr(words, ',') != NULL;
	size_t n;

	for (;; value += n + 1) {
		n = list ? strcspn(value, ",") : strlen(value);
		if (!is_word(words, value, n))
			return false;
		if (value[n] == 0)
			return true;
	}
}

/* The table of the option's words; NULL: its value lists them, or it has
 * none. */
static const struct command_words *words_of(const struct command *command,
					    const struct command_option *option)
{
	const struct command_words *words = command->words;

	if (option->value == NULL ||
	    (strcmp(option->value, COMMAND_WORDS) != 0 &&
	     strcmp(option->value, COMMAND_LIST) != 0))
		return NULL;
	while (words->id != option->id)
		words++;
	return words;
}

const char *command_value(const struct command *command,
			  const struct command_option *option,
			  struct buffer *made)
{
	const struct command_words *words = words_of(command, option);
	const char *word, *meaning;

	if (words == NULL)
		return option->value;
	buffer_clear(made);
	for (size_t n = 0; (word = words->word(n, &meaning)) != NULL; n++)
		buffer_printf(made, "%s%s", n ? "|" : "", word);
	buffer_string(made, option->value + strlen(COMMAND_WORDS));
	return made->data;
}

const char *command_shown_value(const struct command *command,
				const struct command_option *option,
				struct buffer *made)
{
	bool list = option->value != NULL &&
		strcmp(option->value, COMMAND_LIST) == 0;

	return list ? "WORD,..." : command_value(command, option, made);
}

const char *command_help(const struct command *command,
			 const struct command_option *option,
			 struct buffer *made)
{
	const struct command_words *words = words_of(command, option);
	const char *at = words ? strstr(option->help, "%s") : NULL;
	const char *word, *meaning;

	if (at == NULL)
		return option->help;
	buffer_clear(made);
	buffer_add(made, option->help, (size_t)(at - option->help));
	for (size_t n = 0; (word = words->word(n, &meaning)) != NULL; n++)
		buffer_printf(made, "%s%s: %s", n ? "; " : "", word, meaning);
	buffer_string(made, at + 2);
	return made->data;
}

/* Whether the value is not one of the option's words. */
static bool is_no_choice(const struct command *command,
			 const struct command_option *option, const char *value)
{
	struct buffer made = { 0 };
	bool is_none = option->value != NULL && value != NULL &&
		strchr(option->value, '|') != NULL &&
		!is_choice(command_value(command, option, &made), value);

	buffer_free(&made);
	return is_none;
}

/* The word of a choice that is nearest to `value`; its `word` may be NULL. */
static struct nearest nearest_word(const char *words, const char *value)
{
	struct nearest nearest = { .wanted = value };
	size_t n = strcspn(words, "|");

	if (words[n] == 0)	/* no choice */
		return nearest;
	for (;; words += n + 1) {
		n = strcspn(words, "|,");
		nearest_try(&nearest, words, n);
		if (words[n] != '|')
			return nearest;
	}
}

/* What a value of a kind may look like; "" for others. */
static const char *example_of(const char *kind)
{
	static const char *const examples[][2] = {
		{ "SIZE", ", as 512, 64k or 1.5M" },
		{ "[=SIZE]", ", as 512, 64k or 1.5M" },
		{ "DURATION", ", as 250ms, 10s or 1h" },
		{ "[=DURATION]", ", as 250ms, 10s or 1h" },
		{ "MOMENT", ", as 250ms, 30%, @NAME, start or end" },
		{ "N", ", a whole number" },
	};

	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
		if (kind != NULL && strcmp(kind, examples[i][0]) == 0)
			return examples[i][1];
	return "";
}

static void refuse_value(const struct parse *parse,
			 const struct command_option *option,
			 const char *value, int error)
{
	struct buffer made = { 0 };
	const char *wanted = command_value(parse->command, option, &made);
	struct nearest nearest = { 0 };

	if (wanted != NULL && value != NULL)
		nearest = nearest_word(wanted, value);
	log_error("--%s: `%s` is %s: %s%.*s%sgive %s%s", option->name,
		  value ? value : "",
		  error == -ERANGE ? "outside the limits" : "not understood",
		  nearest.word ? "did you mean " : "", (int)nearest.size,
		  nearest.word ? nearest.word : "", nearest.word ? "? " : "",
		  wanted ? wanted : "no value", example_of(wanted));
	*parse->status = parse->command->wrong_use;
	buffer_free(&made);
}

static bool give(const struct parse *parse, const struct command_option *option,
		 const char *value)
{
	int error = 0;

	switch (option->id) {
	case COMMAND_HELP:
		command_print_help(parse->command, stdout);
		*parse->status = 0;
		return false;
	case COMMAND_VERSION:
		printf("gnomon %s\n", GNOMON_VERSION);
		*parse->status = 0;
		return false;
	case COMMAND_QUIET:
		log_set_quiet(true);
		return true;
	default:
		break;
	}
	if (is_no_choice(parse->command, option, value))
		error = -EINVAL;
	else if (option->id == COMMAND_COLOR)
		style_set_color(value);
	else
		error = parse->take(parse->owner, option->id, value);
	if (error == -ECANCELED)
		*parse->status = parse->command->wrong_use;
	else if (error != 0)
		refuse_value(parse, option, value, error);
	return error == 0;
}

const struct command_option *command_option_at(const struct command *command,
					       size_t i, const char **title)
{
	const struct command_group *const *group = command->groups;

	*title = NULL;
	if (i < command->option_count)
		return &command->options[i];
	i -= command->option_count;
	for (; group != NULL && *group != NULL; group++) {
		if (i == 0)
			*title = (*group)->title;
		if (i < (*group)->count)
			return &(*group)->options[i];
		i -= (*group)->count;
	}
	return NULL;
}

/* By its name of `size` bytes, or by its letter if `name` is NULL. */
static const struct command_option *find_option(const struct command *command,
						const char *name, size_t size,
						int letter)
{
	const struct command_option *option;
	const char *title;

	for (size_t i = 0; (option = command_option_at(command, i, &title));
	     i++)
		if (name == NULL ? option->letter == letter :
		    strlen(option->name) == size &&
		    strncmp(option->name, name, size) == 0)
			return option;
	return NULL;
}

/* Options that are tried for another of a more distant name. */
static const struct {
	const char *tried, *name;
} synonyms[] = {
	{ "max-leak", "max-live" },
	{ "max-leaks", "max-live" },
	{ "max-leaked", "max-live" },
};

/* The option of this command that is meant by `name`; NULL: no synonym. */
static const char *synonym(const struct command *command, const char *name)
{
	for (size_t i = 0; i < sizeof(synonyms) / sizeof(synonyms[0]); i++)
		if (strcmp(synonyms[i].tried, name) == 0 &&
		    find_option(command, synonyms[i].name,
				strlen(synonyms[i].name), 0) != NULL)
			return synonyms[i].name;
	return NULL;
}

/* Refuses an unknown option; its name has `size` bytes. */
static bool refuse_option(const struct parse *parse, const char *name,
			  size_t size)
{
	char wanted[NEAREST_MAX + 1] = "";
	struct nearest nearest = { .wanted = wanted };
	const struct command_option *option;
	const char *title, *meant;

	if (size < sizeof(wanted))
		memcpy(wanted, name, size);
	for (size_t i = 0; (option = command_option_at(parse->command, i,
						       &title)); i++)
		nearest_try(&nearest, option->name, strlen(option->name));
	meant = synonym(parse->command, wanted);
	if (meant == NULL)
		meant = nearest.word;
	if (meant == NULL)
		return refuse(parse, "unknown option --", name);
	log_error("unknown option --%s: did you mean --%s?", name, meant);
	*parse->status = parse->command->wrong_use;
	return false;
}

bool command_is_optional(const struct command_option *option)
{
	return option->value != NULL && strncmp(option->value, "[=", 2) == 0;
}

static bool parse_long(struct parse *parse, char *argument)
{
	char *name = argument + 2, *value = strchr(name, '=');
	size_t size = value ? (size_t)(value - name) : strlen(name);
	const struct command_option *option =
		find_option(parse->command, name, size, 0);

	if (option == NULL)
		return refuse_option(parse, name, size);
	if (option->value == NULL && value != NULL)
		return refuse(parse, "unexpected value in ", argument);
	if (value != NULL)
		return give(parse, option, value + 1);
	if (option->value == NULL || command_is_optional(option))
		return give(parse, option, NULL);
	if (parse->next == parse->argc)
		return refuse(parse, "missing value after ", argument);
	return give(parse, option, parse->argv[parse->next++]);
}

static bool parse_short(struct parse *parse, char *argument)
{
	for (char *p = argument + 1; *p != 0; p++) {
		const struct command_option *option =
			find_option(parse->command, NULL, 0, *p);

		if (option == NULL)
			return refuse(parse, "unknown option ", argument);
		if (option->value != NULL) {
			if (p[1] != 0)
				return give(parse, option, p + 1);
			if (parse->next == parse->argc)
				return refuse(parse, "missing value after ",
					      argument);
			return give(parse, option,
				    parse->argv[parse->next++]);
		}
		if (!give(parse, option, NULL))
			return false;
	}
	return true;
}

bool command_parse(const struct command *command, int argc, char **argv,
		   int (*take)(void *owner, int id, const char *value),
		   void *owner, int *operands, int *status)
{
	struct parse parse = { command, argc, argv, 1, take, owner, status };
	bool options = true;

	*operands = 0;
	while (parse.next < argc) {
		char *argument = argv[parse.next++];

		if (options && strcmp(argument, "--") == 0) {
			options = false;
		} else if (options && strncmp(argument, "--", 2) == 0) {
			if (!parse_long(&parse, argument))
				return false;
		} else if (options && argument[0] == '-' && argument[1]) {
			if (!parse_short(&parse, argument))
				return false;
		} else {
			argv[1 + (*operands)++] = argument;
			if (command->stops_at_operand)
				options = false;
		}
	}
	if (1 + *operands < argc)
		argv[1 + *operands] = NULL;
	return true;
}

/* ---- help ---- */

static void print_option(const struct command *command,
			 const struct command_option *option,
			 struct buffer *out)
{
	struct buffer help = { 0 }, made = { 0 };
	size_t start = out->size, width;

	if (option->letter != 0)
		buffer_printf(out, "  -%c, --%s", option->letter,
			      option->name);
	else
		buffer_printf(out, "      --%s", option->name);
	if (option->value != NULL)
		buffer_printf(out, "%s%s",
			      command_is_optional(option) ? "" : " ",
			      command_shown_value(command, option,
						  &made));
	width = out->size - start;
	buffer_string(&help, command_help(command, option, &made));
	if (option->fallback != NULL && option->fallback[0] != 0)
		buffer_printf(&help, " (%s)", option->fallback);
	start = out->size;
	buffer_wrap(out, help.data, HELP_COLUMN, HELP_WIDTH);
	buffer_free(&help);
	buffer_free(&made);
	/* The text starts on the option's line if there is room. */
	if (width + 2 <= HELP_COLUMN) {
		memmove(out->data + start, out->data + start + width,
			out->size - start - width + 1);
		out->size -= width;
	} else {
		buffer_string(&help, out->data + start);
		out->size = start;
		buffer_printf(out, "\n%s", help.data);
		buffer_free(&help);
	}
}

static void print_commands(const struct command *const *commands,
			   struct buffer *out)
{
	buffer_string(out, "commands:\n");
	for (; *commands != NULL; commands++) {
		struct buffer line = { 0 };
		size_t start;

		buffer_printf(&line, "  %-*s", COMMAND_COLUMN - 2,
			      (*commands)->name);
		start = out->size;
		buffer_wrap(out, (*commands)->summary, COMMAND_COLUMN,
			    HELP_WIDTH);
		memcpy(out->data + start, line.data, COMMAND_COLUMN);
		buffer_free(&line);
	}
	buffer_string(out, "\noptions:\n");
}

void command_print_help(const struct command *command, FILE *out)
{
	const struct command_option *option;
	struct buffer text = { 0 };
	const char *title;

	buffer_printf(&text, "usage: gnomon%s%s [options] %s\n\n",
		      space(command), command->name, command->operands);
	for (size_t i = 0; command->description[i] != NULL; i++) {
		buffer_wrap(&text, command->description[i], 0, HELP_WIDTH);
		buffer_string(&text, "\n");
	}
	if (command->commands != NULL)
		print_commands(command->commands, &text);
	for (size_t i = 0; (option = command_option_at(command, i, &title));
	     i++) {
		if (title != NULL)
			buffer_printf(&text, "\n%s:\n", title);
		print_option(command, option, &text);
	}
	for (size_t i = 0; command->examples[i] != NULL; i += 2)
		buffer_printf(&text, "%s  %s\n      %s\n",
			      i == 0 ? "\nexamples:\n" : "",
			      command->examples[i], command->examples[i + 1]);
	fwrite(text.data, 1, text.size, out);
	buffer_free(&text);
}
