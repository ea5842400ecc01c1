/*
 * command.h: commands and their options, in one table each, from which the
 * command line is parsed, and --help, the manual and shell completion are made
 * (manual.h).
 */
#ifndef GNOMON_COMMAND_H
#define GNOMON_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/base/text/buffer.h"

/* The value of an option whose words are in a table of the command. */
#define COMMAND_WORDS "|"
/* The same, for one or several words, separated by commas. */
#define COMMAND_LIST "|,..."

struct command_option {
	int id;			/* handed to `take` */
	const char *name;	/* without the dashes */
	int letter;		/* 0: none */
	/* The value's syntax. NULL: a switch; "[=SIZE]": optional, and `take`
	 * gets NULL without it. Words separated by | are a choice, checked
	 * before `take` is called; ",..." at the end allows several, separated
	 * by commas. COMMAND_WORDS, COMMAND_LIST: the words of the command's
	 * `words`. */
	const char *value;
	const char *fallback;	/* shown in help; NULL: none */
	const char *help;	/* "%s" in it is replaced by the words of the
				 * command's table and their meanings */
};

/* The words of a choice. */
struct command_words {
	int id;			/* of the option */
	/* The n-th word and its meaning; NULL after the last. */
	const char *(*word)(size_t n, const char **meaning);
};

/* Options that several commands share, with ids of their own. */
struct command_group {
	const char *title;	/* heading in help and manual */
	const struct command_option *options;
	size_t count;
};

struct command {
	const char *name;	/* "" for gnomon itself */
	const char *operands;	/* "[TRACE]" */
	const char *summary;
	const char *const *description;	/* paragraphs, NULL-terminated */
	const char *const *examples;	/* command, meaning, …, NULL */
	const struct command_option *options;
	size_t option_count;
	const struct command_group *const *groups;	/* NULL-terminated, or
							 * NULL: none */
	const struct command_words *words;	/* ends with a NULL `word`;
						 * NULL: none */
	/* For gnomon itself: its commands, NULL-terminated; else NULL. */
	const struct command *const *commands;
	bool stops_at_operand;	/* words after it belong to a program */
	int wrong_use;		/* exit status */
	int (*main)(const struct command *command, int argc, char **argv);
};

/* Ids of the options that every command has; own ids start at 1. */
enum { COMMAND_HELP = -1, COMMAND_VERSION = -2, COMMAND_QUIET = -3,
       COMMAND_COLOR = -4 };
#define COMMAND_COMMON_OPTIONS						\
	{ COMMAND_QUIET, "quiet", 'q', NULL, NULL,			\
	  "print only errors" },					\
	{ COMMAND_HELP, "help", 'h', NULL, NULL,			\
	  "print this help and exit" },					\
	{ COMMAND_VERSION, "version", 'V', NULL, NULL,			\
	  "print the version and exit" }

/* For commands with coloured results; parsing it sets the colours (style.h). */
#define COMMAND_COLOR_OPTION						\
	{ COMMAND_COLOR, "color", 0, "auto|always|never", "auto",	\
	  "colours and bars; auto: if the result goes to a terminal, "	\
	  "without colours if NO_COLOR is set" }

/*
 * Parse argv[1 …]; move operands to the front of argv, from argv[1], and set
 * *operands to their number. Each option is passed to `take`, which returns 0,
 * or -EINVAL or -ERANGE for a wrong value, or -ECANCELED after a message of its
 * own; other messages are printed here, as are help and version. Returns true to
 * continue; else *status is the exit status.
 */
bool command_parse(const struct command *command, int argc, char **argv,
		   int (*take)(void *owner, int id, const char *value),
		   void *owner, int *operands, int *status);

/* Options of a command by number: its own, then those of its groups; NULL after
 * the last. At the first option of a group, *title is the group's title. */
const struct command_option *command_option_at(const struct command *command,
					       size_t i, const char **title);

/* An option's value syntax and help, with words of the command's tables
 * inserted; `made` holds the text if needed. */
const char *command_value(const struct command *command,
			  const struct command_option *option,
			  struct buffer *made);
/* The value as help shows it: "WORD,..." for a list, whose words the help
 * has. */
const char *command_shown_value(const struct command *command,
				const struct command_option *option,
				struct buffer *made);
const char *command_help(const struct command *command,
			 const struct command_option *option,
			 struct buffer *made);

/* Whether the value may be left out; the next argument is never its value
 * then. */
bool command_is_optional(const struct command_option *option);

/* Prints the text of --help. */
void command_print_help(const struct command *command, FILE *out);

#endif
