/*
 * program_warn.h: what a program's file says before it is started: that nothing
 * will be recorded of it, and why.
 *
 * Called by the main thread, but for program_is_elf: anywhere.
 */
#ifndef GNOMON_PROGRAM_WARN_H
#define GNOMON_PROGRAM_WARN_H

#include <stdbool.h>

/* Say so if the program cannot be recorded: static, set-user-ID, cut short, of
 * another architecture than the library. False if nothing that it starts can be
 * either, and it is to find nothing of ours in its environment. */
bool program_warn(const char *program, const char *library);

/* The same of what an emulator runs, which there is a library for. */
void program_warn_emulated(const char *program);

/* Whether no library can be put in front of it, as no loader maps it. */
bool program_is_static(const char *program);

/* No script. */
bool program_is_elf(const char *path);

#endif
