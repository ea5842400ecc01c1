/*
 * completion.c: completion scripts for bash, zsh and fish, made from the same
 * tables as the manual. Called at build time, by the main thread.
 */
#include <string.h>

#include "cli/base/terminal/manual.h"

static bool is_choice(const struct command_option *option)
{
	return option->value != NULL && strchr(option->value, '|') != NULL;
}

/* The words of a choice. */
static void put_choice(FILE *out, const struct command *command,
		       const struct command_option *option)
{
	struct buffer made = { 0 };
	const char *value = command_value(command, option, &made);

	for (; *value != 0 && *value != ','; value++)
		putc(*value == '|' ? ' ' : *value, out);
	buffer_free(&made);
}

/* Whether the value is a file or folder, which a shell can complete. */
static bool is_path(const struct command_option *option)
{
	static const char *const words[] = { "FILE", "DIR", "PATH", "TRACE" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (option->value != NULL &&
		    strstr(option->value, words[i]) != NULL)
			return true;
	return false;
}

/* ---- bash ---- */

static void bash_command(FILE *out, const struct command *command)
{
	const struct command_option *option;
	const char *title;

	fprintf(out, "\t%s)\n\t\tcase $previous in\n", command->name);
	for (size_t i = 0; (option = command_option_at(command, i, &title));
	     i++) {
		if (option->value == NULL || command_is_optional(option) ||
		    (is_path(option) && !is_choice(option)))
			continue;	/* files are offered by default */
		fprintf(out, "\t\t--%s", option->name);
		if (option->letter != 0)
			fprintf(out, "|-%c", option->letter);
		if (!is_choice(option)) {
			fputs(") return ;;\n", out);
			continue;
		}
		fputs(") COMPREPLY=($(compgen -W \"", out);
		put_choice(out, command, option);
		fputs("\" -- \"$word\")); return ;;\n", out);
	}
	fputs("\t\tesac\n\t\toptions=\"", out);
	for (size_t i = 0; (option = command_option_at(command, i, &title));
	     i++)
		fprintf(out, "%s--%s", i ? " " : "", option->name);
	fprintf(out, "\"\n\t\tprogram=%d ;;\n", command->stops_at_operand);
}

static void bash_print(FILE *out, const struct command *const *commands,
		       size_t count)
{
	fputs("# bash completion for gnomon\n_gnomon()\n{\n"
	      "\tlocal word=${COMP_WORDS[COMP_CWORD]}\n"
	      "\tlocal previous=${COMP_WORDS[COMP_CWORD-1]}\n"
	      "\tlocal options program=0\n"
	      "\t# --name=value comes as three words\n"
	      "\tif [[ $word == = ]]; then\n"
	      "\t\tword=\n"
	      "\telif [[ $previous == = ]]; then\n"
	      "\t\tprevious=${COMP_WORDS[COMP_CWORD-2]}\n"
	      "\tfi\n"
	      "\tCOMPREPLY=()\n"
	      "\tif ((COMP_CWORD == 1)); then\n"
	      "\t\tCOMPREPLY=($(compgen -W \"", out);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s ", commands[i]->name);
	fputs("--help --version\" -- \"$word\"))\n\t\treturn\n\tfi\n"
	      "\tcase ${COMP_WORDS[1]} in\n", out);
	for (size_t i = 0; i < count; i++)
		bash_command(out, commands[i]);
	fputs("\tesac\n"
	      "\tif [[ $word == -* ]]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
	      "\telif ((program)); then\n"
	      "\t\tCOMPREPLY=($(compgen -c -f -- \"$word\"))\n"
	      "\telse\n"
	      "\t\tCOMPREPLY=($(compgen -f -- \"$word\"))\n"
	      "\tfi\n}\ncomplete -o filenames -F _gnomon gnomon\n", out);
}

/* ---- zsh ---- */

/* Inside '…[help]…': escapes quotes and brackets. */
static void zsh_text(FILE *out, const char *text)
{
	for (; *text != 0; text++)
		if (*text == '\'')
			fputs("'\\''", out);
		else if (strchr("[]:\\", *text) != NULL)
			fprintf(out, "\\%c", *text);
		else
			putc(*text, out);
}

static void zsh_command(FILE *out, const struct command *command)
{
	const struct command_option *option;
	struct buffer made = { 0 };
	const char *title;

	fprintf(out, "\t%s)\n\t\t_arguments", command->name);
	for (size_t i = 0; (option = command_option_at(command, i, &title));
	     i++) {
		fprintf(out, " \\\n\t\t\t'--%s%s[", option->name,
			option->value ? "=" : "");
		zsh_text(out, command_help(command, option, &made));
		putc(']', out);
		if (is_choice(option)) {
			fputs(":value:(", out);
			put_choice(out, command, option);
			putc(')', out);
		} else if (option->value != NULL) {
			fputs(is_path(option) ? ":file:_files" : ":value: ",
			      out);
		}
		putc('\'', out);
	}
	fputs(command->stops_at_operand ?
	      " \\\n\t\t\t'1:program:_command_names -e' '*::argument:_normal'"
	      : " \\\n\t\t\t'*:trace:_files'", out);
	fputs(" ;;\n", out);
	buffer_free(&made);
}

static void zsh_print(FILE *out, const struct command *const *commands,
		      size_t count)
{
	fputs("#compdef gnomon\n_gnomon()\n{\n\tlocal -a commands\n"
	      "\tcommands=(\n", out);
	for (size_t i = 0; i < count; i++) {
		fprintf(out, "\t\t'%s:", commands[i]->name);
		zsh_text(out, commands[i]->summary);
		fputs("'\n", out);
	}
	fputs("\t)\n\tif ((CURRENT == 2)); then\n"
	      "\t\t_describe command commands\n\t\treturn\n\tfi\n"
	      "\tshift words\n\t((CURRENT--))\n\tcase $words[1] in\n", out);
	for (size_t i = 0; i < count; i++)
		zsh_command(out, commands[i]);
	fputs("\tesac\n}\n_gnomon \"$@\"\n", out);
}

/* ---- fish ---- */

static void fish_text(FILE *out, const char *text)
{
	putc('\'', out);
	for (; *text != 0; text++)
		if (*text == '\'' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else
			putc(*text, out);
	putc('\'', out);
}

static void fish_option(FILE *out, const struct command *command,
			const struct command_option *option)
{
	struct buffer made = { 0 };

	fprintf(out, "complete -c gnomon -n "
		"'__fish_seen_subcommand_from %s' -l %s", command->name,
		option->name);
	if (option->letter != 0)
		fprintf(out, " -s %c", option->letter);
	if (option->value != NULL && !command_is_optional(option))
		fputs(" -r", out);
	if (is_choice(option)) {
		fputs(" -f -a '", out);
		put_choice(out, command, option);
		putc('\'', out);
	} else if (option->value != NULL && !is_path(option)) {
		fputs(" -f", out);
	}
	fputs(" -d ", out);
	fish_text(out, command_help(command, option, &made));
	putc('\n', out);
	buffer_free(&made);
}

static void fish_print(FILE *out, const struct command *const *commands,
		       size_t count)
{
	const struct command_option *option;
	const char *title;

	fputs("# fish completion for gnomon\n", out);
	for (size_t i = 0; i < count; i++) {
		fprintf(out, "complete -c gnomon -n __fish_use_subcommand -f "
			"-a %s -d ", commands[i]->name);
		fish_text(out, commands[i]->summary);
		putc('\n', out);
	}
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; (option = command_option_at(commands[i], k,
							       &title)); k++)
			fish_option(out, commands[i], option);
}

void completion_print(FILE *out, const char *shell,
		      const struct command *const *commands, size_t count)
{
	if (strcmp(shell, "bash") == 0)
		bash_print(out, commands, count);
	else if (strcmp(shell, "zsh") == 0)
		zsh_print(out, commands, count);
	else
		fish_print(out, commands, count);
}
