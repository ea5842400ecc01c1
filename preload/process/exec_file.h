/*
 * exec_file.h: which program exec would start, as far as its file says. A
 * program for another processor cannot load our library, and its loader would
 * print an error to the program's standard error. Foreign programs occur with
 * emulators, which start programs for another processor and are started by
 * them, and with kernels that run several kinds of programs.
 *
 * All functions: false for files that cannot be read. Any thread, also in
 * handlers and in children that share our memory; only the stack is written.
 */
#ifndef GNOMON_EXEC_FILE_H
#define GNOMON_EXEC_FILE_H

#include <stdbool.h>

/* Whether the program at a path, or the interpreter if it is a script, is
 * foreign. from: as for execveat, AT_FDCWD, or a descriptor of the file if the
 * path is "". Paths relative to another directory give false. */
bool exec_file_foreign(int from, const char *path);

/* The same for a name, searched in the directories of a list such as $PATH
 * (NULL: the C library's default) if it has no slash. */
bool exec_file_foreign_in(const char *list, const char *name);

#endif
