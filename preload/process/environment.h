/*
 * environment.h: the environment variables that cause a program to be recorded.
 * The recorded program does not see them. Programs that it starts get them
 * again, if they are to be recorded (option follow).
 */
#ifndef GNOMON_ENVIRONMENT_H
#define GNOMON_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

/* Copies our variables from the environment as the kernel passed it. Once,
 * before any other function of this file; library: our path, as given to the
 * loader. */
void environment_init(char *const *environment, const char *library);

/*
 * Removes the variables from the program's environment, when arch/ enters its
 * main. Later changes by the program are not tracked. envp: main's third
 * argument; the result replaces it.
 */
char **environment_hide(char **envp);

/* The value of a variable; `name` ends with "=". NULL: there is none. */
const char *environment_value(char *const *envp, const char *name);

/*
 * The environment to pass to exec in place of envp (NULL is an empty
 * environment). environment_room: the bytes needed; 0 if envp can be used as it
 * is, or if files must not be read. environment_make: the environment, built in
 * `room`; for a foreign program (exec_file.h) without our library. Any thread,
 * also in a child that shares our memory: only `room` is written.
 */
size_t environment_room(char *const *envp);
char *const *environment_make(char *const *envp, void *room, size_t size,
			      bool foreign);

/* Allocates the state that a forked child finds zeroed (area_place). */
void environment_alloc(void);

/*
 * Around functions that start a program with the current environment (system,
 * popen): environment_show adds our variables, environment_conceal, which gets
 * its result, removes them. Any thread, also handlers; other threads may see
 * the variables meanwhile.
 */
int environment_show(void);
void environment_conceal(int copy);

#endif
