/*
 * exec_file.h: what exec would start, as far as its file says: a program for
 * another processor cannot load our library, and its loader would complain to the
 * program's standard error. An emulator and the program that it runs start each
 * other's; so does a kernel that runs programs of several kinds.
 *
 * Each: of what cannot be read, false. Any thread, also in handlers and in children
 * that share our memory; nothing but the stack is written.
 */
#ifndef GNOMON_EXEC_FILE_H
#define GNOMON_EXEC_FILE_H

#include <stdbool.h>

/* Whether the program at a path, or what runs it if it is a script, is foreign.
 * from: as for execveat, AT_FDCWD, or a descriptor of the file if the path is "";
 * of a path relative to another directory, false. */
bool exec_file_foreign(int from, const char *path);

/* The same of a name that is looked for in the directories of a list, as $PATH is
 * one (NULL: the C library's), if there is no slash in it. */
bool exec_file_foreign_in(const char *list, const char *name);

#endif
