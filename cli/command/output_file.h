/*
 * output_file.h: opens a command's output: standard output or a file. An
 * existing file is overwritten, but never a trace: a typing mistake must not
 * destroy a recording. Where the file system allows, the file gets its name, or
 * replaces the old one, only when it is complete: if the process dies before,
 * the old file stays.
 */
#ifndef GNOMON_OUTPUT_FILE_H
#define GNOMON_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

/* NULL: standard output. Returns NULL after a message. */
FILE *output_file_open(const char *path);
/* Returns `status`, or EXIT_NOTHING after a message if the result could not be
 * written in full. Leaves standard output open. */
int output_file_close(FILE *out, const char *path, int status);
/* Whether a name has this ending: ".svg", ignoring case. */
bool output_file_ends(const char *path, const char *end);
/* The ending of a picture format that users may expect but no command writes;
 * NULL if the name has none. */
const char *output_file_picture(const char *path);

#endif
