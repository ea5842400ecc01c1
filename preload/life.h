/*
 * life.h: the C library's functions by which a process changes what it is:
 * what it may do, who it is, where it lives, what program it runs. Those
 * behind ours (real.h), and what calling one takes.
 */
#ifndef GNOMON_LIFE_H
#define GNOMON_LIFE_H

#include "preload/base.h"

/* X(name): looked up with all others (real_resolve). */
#define LIFE_FUNCTIONS(X)                                                  \
	X(__errno_location) X(prctl) X(syscall) X(capset) X(unshare)       \
	X(setns) X(setuid) X(seteuid) X(setreuid) X(setresuid) X(setgid)   \
	X(setegid) X(setregid) X(setresgid) X(setgroups) X(initgroups)     \
	X(execve) X(execvpe) X(fexecve) X(posix_spawn) X(posix_spawnp)     \
	X(system) X(popen) X(__libc_start_main) X(_exit) X(_Exit) X(wait)  \
	X(waitpid) X(wait3) X(wait4) X(waitid) X(fork) X(_Fork)

enum life_function {
#define LIFE_ENUM(name) LIFE_##name,
	LIFE_FUNCTIONS(LIFE_ENUM)
#undef LIFE_ENUM
	LIFE_COUNT
};

extern BASE_HIDDEN void *real_life[LIFE_COUNT];
extern BASE_HIDDEN const char *const real_life_names[LIFE_COUNT];

/* The real one; NULL: the C library has none, or it is too early. */
void *life_real(enum life_function which);

/* What a call returns whose real function does not exist: -1, ENOSYS. */
long life_missing(void);

/* As arch/ enters main: takes the program's, gives the real
 * __libc_start_main; takes main's third argument, gives what it is to be. */
void *life_start(void *program_main);
char **life_environment(char **envp);
extern BASE_HIDDEN void *life_main;

/* As an entry in arch/ jumps on: what answers this raw system call. a, b: its
 * first two arguments. */
void *life_entry(long number, long a, long b);

#endif
