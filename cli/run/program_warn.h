/*
 * program_warn.h: checks a program's file before the start, and warns if
 * nothing can be recorded.
 *
 * Called by the main thread, but for program_is_elf: anywhere.
 */
#ifndef GNOMON_PROGRAM_WARN_H
#define GNOMON_PROGRAM_WARN_H

#include <stdbool.h>

/* Warn if the program cannot be recorded: static, set-user-ID, truncated, of
 * another architecture than the library. False: its child programs cannot be
 * recorded either, so do not change its environment. */
bool program_warn(const char *program, const char *library);

/* The same for an emulated program for which there is a library. */
void program_warn_emulated(const char *program);

/* Whether no library can be preloaded, as the program has no loader. */
bool program_is_static(const char *program);

/* Whether the file is an ELF file, not a script. */
bool program_is_elf(const char *path);

#endif
