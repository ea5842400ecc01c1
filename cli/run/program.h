/*
 * program.h: start the program to record, and exit with its status.
 */
#ifndef GNOMON_PROGRAM_H
#define GNOMON_PROGRAM_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

enum program_status {
	PROGRAM_OWN_FAILURE = 125,
	PROGRAM_NOT_EXECUTABLE = 126,
	PROGRAM_NOT_FOUND = 127
};

/*
 * The file of command `name`, found as by a shell, to be freed; or NULL after a
 * message, with the exit status in *status.
 */
char *program_find(const char *name, int *status);

/* The preload library that belongs to this command, to be freed; or NULL
 * after a message. */
char *program_library(void);

/*
 * Start it with our environment, plus LD_PRELOAD if a library is given. Signals
 * are forwarded from now on (forward.h). Returns its pid, or -1 after a
 * message, with the exit status in *status.
 */
pid_t program_start(const char *program, char **argv, const char *library,
		   int *status);

/* Wait until it ends; it stays a zombie until program_reap. */
void program_wait(siginfo_t *end);
void program_reap(pid_t pid);

/* Let Ctrl-C end this process from now on, with the program's exit status. */
void program_interruptible(const siginfo_t *end);

/* Exit with its status, or die by its signal. */
_Noreturn void program_end_as(const siginfo_t *end);

#endif
