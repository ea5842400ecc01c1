/*
 * manual.c: pages in the man macros (groff_man(7)). Called at build time, by
 * the main thread.
 */
#include "cli/base/terminal/manual.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/base/grow.h"

#include <stdlib.h>

/* Text with what roff would take for its own escaped. */
static void put_text(FILE *out, const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", out);
	for (; *text != 0; text++)
		if (*text == '\\')
			fputs("\\e", out);
		else if (*text == '-')
			fputs("\\-", out);
		else
			putc(*text, out);
}

static void put_option(FILE *out, const struct command *command,
		       const struct command_option *option)
{
	struct buffer made = { 0 };

	fputs(".TP\n", out);
	if (option->letter != 0)
		fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
	fputs("\\fB\\-\\-", out);
	put_text(out, option->name);
	fputs("\\fR", out);
	if (option->value != NULL) {
		fputs(command_is_optional(option) ? "\\fI" : " \\fI", out);
		put_text(out, command_shown_value(command, option, &made));
		fputs("\\fR", out);
	}
	putc('\n', out);
	put_text(out, command_help(command, option, &made));
	if (option->fallback != NULL && option->fallback[0] != 0) {
		fputs(" (", out);
		put_text(out, option->fallback);
		putc(')', out);
	}
	putc('\n', out);
	buffer_free(&made);
}

static void put_page(FILE *out, const struct command *command,
		     const struct command *const *commands, size_t count)
{
	const char *dash = command->name[0] ? "\\-" : "";
	const char *space = command->name[0] ? " " : "", *title;
	const struct command_option *option;

	fprintf(out, ".TH GNOMON%s%s 1 \"\" \"gnomon %s\"\n", dash,
		command->name, GNOMON_VERSION);
	fprintf(out, ".SH NAME\ngnomon%s%s \\- ", dash, command->name);
	put_text(out, command->summary);
	fprintf(out, "\n.SH SYNOPSIS\n\\fBgnomon%s%s\\fR [\\fIoptions\\fR] ",
		space, command->name);
	put_text(out, command->operands);
	fputs("\n.SH DESCRIPTION\n", out);
	for (size_t i = 0; command->description[i] != NULL; i++) {
		fputs(i ? ".PP\n" : "", out);
		put_text(out, command->description[i]);
		putc('\n', out);
	}
	for (size_t i = 0; i < count; i++) {
		fprintf(out, "%s.TP\n\\fBgnomon\\-%s\\fR(1)\n",
			i ? "" : ".SH COMMANDS\n", commands[i]->name);
		put_text(out, commands[i]->summary);
		putc('\n', out);
	}
	fputs(".SH OPTIONS\n", out);
	for (size_t i = 0; (option = command_option_at(command, i, &title));
	     i++) {
		if (title != NULL)
			fprintf(out, ".SS %s\n", title);
		put_option(out, command, option);
	}
	for (size_t i = 0; command->examples[i] != NULL; i += 2) {
		fputs(i ? "" : ".SH EXAMPLES\n", out);
		fputs(".TP\n\\fB", out);
		put_text(out, command->examples[i]);
		fputs("\\fR\n", out);
		put_text(out, command->examples[i + 1]);
		putc('\n', out);
	}
}

static int close_file(FILE *file)
{
	int error = ferror(file) ? -EIO : 0;

	if (fclose(file) != 0 && error == 0)
		error = -errno;
	return error;
}

static int make_directory(const char *directory, const char *name)
{
	char *path = grow_format("%s/%s", directory, name);
	int error = mkdir(path, 0777) != 0 && errno != EEXIST ? -errno : 0;

	free(path);
	return error;
}

static int write_page(const char *directory, const struct command *command,
		      const struct command *const *commands, size_t count)
{
	char *path = grow_format("%s/man/gnomon%s%s.1", directory,
				 command->name[0] ? "-" : "", command->name);
	FILE *out = fopen(path, "w");

	free(path);
	if (out == NULL)
		return -errno;
	put_page(out, command, commands, count);
	return close_file(out);
}

static int write_completion(const char *directory, const char *name,
			    const char *shell,
			    const struct command *const *commands,
			    size_t count)
{
	char *path = grow_format("%s/completion/%s", directory, name);
	FILE *out = fopen(path, "w");

	free(path);
	if (out == NULL)
		return -errno;
	completion_print(out, shell, commands, count);
	return close_file(out);
}

int manual_write(const char *directory, const struct command *top,
		 const struct command *const *commands, size_t count)
{
	static const char *const files[][2] = {
		{ "gnomon.bash", "bash" }, { "_gnomon", "zsh" },
		{ "gnomon.fish", "fish" },
	};
	int error = make_directory(directory, "man");

	if (error == 0)
		error = make_directory(directory, "completion");
	if (error == 0)
		error = write_page(directory, top, commands, count);
	for (size_t i = 0; i < count && error == 0; i++)
		error = write_page(directory, commands[i], NULL, 0);
	for (size_t i = 0; i < 3 && error == 0; i++)
		error = write_completion(directory, files[i][0], files[i][1],
					 commands, count);
	return error;
}
