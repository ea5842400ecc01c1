/*
 * command.h: commands and their options, each in one table. The command line
 * is parsed by it, and --help, the manual and shell completion are made from
 * it (manual.h, completion.h).
 */
#ifndef GNOMON_COMMAND_H
#define GNOMON_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/base/text/buffer.h"

/* The value of an option whose words are in another table. */
#define COMMAND_WORDS "|"
/* The same, one or several of them, separated by commas. */
#define COMMAND_LIST "|,..."

struct command_option {
	int id;			/* handed to `take` */
	const char *name;	/* without the dashes */
	int letter;		/* 0: none */
	/* How the value is written, NULL for a switch; "[=SIZE]": it may be
	 * left out, and `take` gets NULL then. Words separated by | are a
	 * choice, which is checked before `take` sees it; with ",..." at
	 * the end, one of them or several, separated by commas. COMMAND_WORDS,
	 * COMMAND_LIST: those of the command's `words`. */
	const char *value;
	const char *fallback;	/* shown in help; NULL: nothing to say */
	const char *help;	/* with words of another table, "%s" in it is
				 * each of them and what it means */
};

/* Where a choice has its words from. */
struct command_words {
	int id;			/* of options */
	/* The n-th and what it means; NULL behind the last. */
	const char *(*word)(size_t n, const char **meaning);
};

/* Options that several commands have in common, with ids of their own. */
struct command_group {
	const char *title;	/* over them in help and manual */
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
	const struct command_words *words;	/* the last has no `word`; NULL:
						 * none */
	/* Of gnomon itself: its commands, NULL-terminated; else NULL. */
	const struct command *const *commands;
	bool stops_at_operand;	/* what follows belongs to a program */
	int wrong_use;		/* exit status */
	int (*main)(const struct command *command, int argc, char **argv);
};

/* Ids of the options that every command has; own ids start at 1. */
enum { COMMAND_HELP = -1, COMMAND_VERSION = -2, COMMAND_QUIET = -3,
       COMMAND_COLOR = -4 };
#define COMMAND_COMMON_OPTIONS						\
	{ COMMAND_QUIET, "quiet", 'q', NULL, NULL,			\
	  "say nothing but errors" },					\
	{ COMMAND_HELP, "help", 'h', NULL, NULL, "print this and end" }, \
	{ COMMAND_VERSION, "version", 'V', NULL, NULL,			\
	  "print the version and end" }

/* Of commands whose results have colours; parsing it sets them (style.h). */
#define COMMAND_COLOR_OPTION						\
	{ COMMAND_COLOR, "color", 0, "auto|always|never", "auto",	\
	  "colours and bars; auto: where the result goes to a terminal, " \
	  "without colours if NO_COLOR is set" }

/*
 * Parse argv[1 …]; operands are moved to the front of argv, from argv[1], and
 * *operands is set to their number. Each option is given to `take`, which
 * returns 0, or -EINVAL or -ERANGE if the value is wrong; the message about
 * that is printed here. Help and version are printed here, too.
 * Returns true to go on; else *status is the exit status.
 */
bool command_parse(const struct command *command, int argc, char **argv,
		   int (*take)(void *owner, int id, const char *value),
		   void *owner, int *operands, int *status);

/* Options of a command by number: its own, then those of its groups; NULL
 * behind the last. If it is the first of a group, *title is the group's. */
const struct command_option *command_option_at(const struct command *command,
					       size_t i, const char **title);

/* How its value is written, as in the option, and its help; each with the words
 * of other tables, which are put into `made`. */
const char *command_value(const struct command *command,
			  const struct command_option *option,
			  struct buffer *made);
/* As help shows it: of a list, whose words follow there, "WORD,...". */
const char *command_shown_value(const struct command *command,
				const struct command_option *option,
				struct buffer *made);
const char *command_help(const struct command *command,
			 const struct command_option *option,
			 struct buffer *made);

/* May the value be left out? Then it never is the next word. */
bool command_is_optional(const struct command_option *option);

/* For --help. */
void command_print_help(const struct command *command, FILE *out);

#endif
