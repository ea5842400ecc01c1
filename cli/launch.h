/*
 * launch.h: start a program under the recorder, and end as it ended.
 */
#ifndef GNOMON_LAUNCH_H
#define GNOMON_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

enum launch_status {
	LAUNCH_OWN_FAILURE = 125,
	LAUNCH_NOT_EXECUTABLE = 126,
	LAUNCH_NOT_FOUND = 127
};

/*
 * The file that `name` means, as a shell finds it, to be freed; or NULL after
 * a message, and *status is the exit status.
 */
char *launch_find_program(const char *name, int *status);

/* The preload library that belongs to this command, to be freed; or NULL
 * after a message. */
char *launch_find_library(void);

/* Say so if the program cannot be recorded: static, set-user-ID, of another
 * architecture than the library. False if nothing that it starts can be
 * either, and it is to find nothing of ours in its environment. */
bool launch_warn(const char *program, const char *library);

/*
 * Start it, with LD_PRELOAD set if a library is given; its environment is
 * ours otherwise. From now on all signals are the program's (forward.h).
 * Returns its pid, or -1 after a message, with *status.
 */
pid_t launch_start(const char *program, char **argv, const char *library,
		   int *status);

/* Wait until it ends; it stays a zombie until launch_reap. */
void launch_wait(siginfo_t *end);
void launch_reap(pid_t pid);

/* Let Ctrl-C end us from now on, as the program ended. */
void launch_interruptible(const siginfo_t *end);

/* Exit with its status, or die by its signal. */
_Noreturn void launch_end_as(const siginfo_t *end);

#endif
