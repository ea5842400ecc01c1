/*
 * environment.h: the variables that make a program recorded. The program that
 * was started with them does not see them, and what it starts gets them all
 * the same, if it is to be recorded (option follow).
 */
#ifndef GNOMON_ENVIRONMENT_H
#define GNOMON_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

/* Takes copies of ours, from the environment as the kernel left it. Once,
 * before anything else here; library: our path, as the loader was given it. */
void environment_init(char *const *environment, const char *library);

/*
 * Takes them out of the program's environment, as arch/ enters its main; what
 * the program does to its environment later is its own affair. envp: main's
 * third argument; the answer takes its place.
 */
char **environment_hide(char **envp);

/* The value of a variable; `name` ends with its =. NULL: there is none. */
const char *environment_value(char *const *envp, const char *name);

/*
 * What to pass to exec in place of envp (NULL is an empty environment). First
 * the bytes that takes, 0 if envp will do, or files may not be read; then the
 * environment made in so many bytes, for a foreign program (exec_file.h) without
 * our library. Any thread, also in a child that shares our memory: nothing but
 * that room is written.
 */
size_t environment_room(char *const *envp);
char *const *environment_make(char *const *envp, void *room, size_t size,
			      bool foreign);

/* Where it has what a forked child finds zero (area_place). */
void environment_place(void);

/*
 * Around functions that start a program with the environment as it is
 * (system, popen): ours are in it from the first to the second, which gets what
 * the first returned. Any thread, also handlers; others may see them meanwhile.
 */
int environment_show(void);
void environment_conceal(int copy);

#endif
