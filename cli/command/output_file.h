/*
 * output_file.h: where a command's result goes: standard output or a file,
 * which may be there already, but may be no trace: a slip of the hand must not
 * cost a recording. Where the file system can, the file gets its name, or takes
 * the place of the old one, when it is whole: what is there stays as it was if
 * something ends us before.
 */
#ifndef GNOMON_OUTPUT_FILE_H
#define GNOMON_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

/* NULL: standard output. Returns NULL after a message. */
FILE *output_file_open(const char *path);
/* `status`, or EXIT_NOTHING after a message if not all of the result got out.
 * Standard output is left open. */
int output_file_close(FILE *out, const char *path, int status);
/* Whether a name ends like this: ".svg", in letters of any case. */
bool output_file_ends(const char *path, const char *end);
/* A kind of pictures that people may hope for and that no command makes, by
 * what the name ends with; or NULL. */
const char *output_file_picture(const char *path);

#endif
