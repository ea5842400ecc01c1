/*
 * manual.c: pages in the man macros (groff_man(7)), with the sections of
 * man-pages(7) in its order. Called at build time, by the main thread.
 */
#include "cli/base/terminal/manual.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/base/grow.h"
#include "cli/base/terminal/manual_notes.h"

#define STATUS "Exit status: "

/* Text with what roff would take for its own escaped. What is between
 * backticks is bold. */
static void put_text(FILE *out, const char *text)
{
	static const char *const escaped[][2] = {
		{ "\\", "\\e" }, { "-", "\\-" }, { "^", "\\(ha" },
		{ "~", "\\(ti" }, { "'", "\\(aq" },
		{ "|", "|\\:" },	/* a line may break there */
	};
	const size_t count = sizeof(escaped) / sizeof(escaped[0]);
	bool bold = false;

	if (*text == '.')
		fputs("\\&", out);
	for (; *text != 0; text++) {
		size_t i = 0;

		while (i < count && escaped[i][0][0] != *text)
			i++;
		if (i < count) {
			fputs(escaped[i][1], out);
		} else if (*text == '`') {
			bold = !bold;
			fputs(bold ? "\\fB" : "\\fR", out);
		} else {
			putc(*text, out);
		}
	}
}

static void put_item(FILE *out, const char *name, const char *meaning)
{
	fputs(".TP\n\\fB", out);
	put_text(out, name);
	fputs("\\fR\n", out);
	put_text(out, meaning);
	putc('\n', out);
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

/* Paragraphs, without the exit statuses; returns those, or NULL. */
static const char *put_description(FILE *out, const struct command *command)
{
	const char *statuses = NULL;

	fputs("\n.SH DESCRIPTION\n", out);
	for (size_t i = 0; command->description[i] != NULL; i++) {
		const char *text = command->description[i];
		const char *found = strstr(text, STATUS);
		size_t size = found ? (size_t)(found - text) : strlen(text);
		char *before;

		if (found != NULL)
			statuses = found + strlen(STATUS);
		while (size > 0 && text[size - 1] == ' ')
			size--;
		if (size == 0)
			continue;
		before = grow_format("%.*s", (int)size, text);
		fputs(i ? ".PP\n" : "", out);
		put_text(out, before);
		putc('\n', out);
		free(before);
	}
	return statuses;
}

/* "0: meaning; 2: meaning": an item for each. What has no number in front is a
 * paragraph. */
static void put_statuses(FILE *out, const char *text)
{
	fputs(".SH \"EXIT STATUS\"\n", out);
	while (*text != 0) {
		const char *end = text, *colon;
		char *one;

		while (*end != 0 && (strncmp(end, "; ", 2) != 0 ||
				     !isdigit((unsigned char)end[2])))
			end++;
		one = grow_format("%.*s", (int)(end - text - (*end == 0)),
				  text);	/* without the full stop */
		colon = strstr(one, ": ");
		if (isdigit((unsigned char)*one) && colon != NULL) {
			one[colon - one] = 0;
			put_item(out, one, colon + 2);
		} else {
			put_text(out, one);
			putc('\n', out);
		}
		free(one);
		text = *end != 0 ? end + 2 : end;
	}
}

static void put_notes(FILE *out, const char *title,
		      const struct manual_note *note,
		      const struct command *command)
{
	for (; note->name != NULL; note++) {
		if (!manual_note_is_for(note, command))
			continue;
		if (title != NULL)
			fprintf(out, ".SH %s\n", title);
		title = NULL;
		put_item(out, note->name, note->meaning);
	}
}

static void put_examples(FILE *out, const struct command *command)
{
	for (size_t i = 0; command->examples[i] != NULL; i += 2) {
		fputs(i ? "" : ".SH EXAMPLES\n", out);
		fputs(".PP\n\\fB", out);
		put_text(out, command->examples[i]);
		fputs("\\fR\n.RS 4\n", out);
		put_text(out, command->examples[i + 1]);
		fputs("\n.RE\n", out);
	}
}

/* "gnomon-run(1) ld.so(8)", as names in bold with sections. */
static void put_related(FILE *out, const struct command *command)
{
	const char *page = manual_related(command->name);

	fputs(".SH \"SEE ALSO\"\n", out);
	if (command->name[0] != 0)
		fputs("\\fBgnomon\\fR(1),\n", out);
	while (*page != 0) {
		size_t size = strcspn(page, " "), name = strcspn(page, "(");
		char *word = grow_format("%.*s", (int)name, page);

		fputs("\\fB", out);
		put_text(out, word);
		fprintf(out, "\\fR%.*s%s\n", (int)(size - name), page + name,
			page[size] ? "," : "");
		free(word);
		page += size + (page[size] == ' ');
	}
}

static void put_heading(FILE *out, const struct command *command)
{
	const char *dash = command->name[0] ? "\\-" : "";
	const char *space = command->name[0] ? " " : "";

	fputs(".TH GNOMON", out);
	fputs(dash, out);
	for (const char *at = command->name; *at != 0; at++)
		putc(toupper((unsigned char)*at), out);
	fprintf(out, " 1 \"\" \"gnomon %s\" \"gnomon manual\"\n.nh\n.ad l\n",
		GNOMON_VERSION);
	fprintf(out, ".SH NAME\ngnomon%s%s \\- ", dash, command->name);
	put_text(out, command->summary);
	fprintf(out, "\n.SH SYNOPSIS\n\\fBgnomon%s%s\\fR [\\fIoptions\\fR] "
		"\\fI", space, command->name);
	put_text(out, command->operands);
	fputs("\\fR", out);
}

static void put_page(FILE *out, const struct command *command,
		     const struct command *const *commands, size_t count)
{
	const struct command_option *option;
	const char *title, *statuses;

	put_heading(out, command);
	statuses = put_description(out, command);
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
	if (statuses != NULL)
		put_statuses(out, statuses);
	put_notes(out, "ENVIRONMENT", manual_environment, command);
	put_notes(out, "FILES", manual_files, command);
	put_examples(out, command);
	put_related(out, command);
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
