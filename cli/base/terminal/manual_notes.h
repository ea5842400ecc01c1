/*
 * manual_notes.h: what manual pages tell besides the tables of commands:
 * environment variables, files, related pages.
 */
#ifndef GNOMON_MANUAL_NOTES_H
#define GNOMON_MANUAL_NOTES_H

#include "cli/base/terminal/command.h"

/* A variable or a file. */
struct manual_note {
	/* Who uses it: names of commands, and options, whose commands all use
	 * it; with blanks between. */
	const char *users;
	const char *name;
	const char *meaning;
};

/* Each ends with a NULL name. */
extern const struct manual_note manual_environment[];
extern const struct manual_note manual_files[];

/* Whether the command uses it. */
bool manual_note_is_for(const struct manual_note *note,
			const struct command *command);

/* Related pages, "gnomon-run(1)", without gnomon(1), with blanks between;
 * gnomon itself has the name "". Every command of gnomon has some. */
const char *manual_related(const char *command);

#endif
