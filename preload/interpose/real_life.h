/*
 * real_life.h: the C library's functions by which a process changes what it
 * is: what it may do, who it is, where it lives, what program it runs. Those
 * behind ours (real.h).
 */
#ifndef GNOMON_REAL_LIFE_H
#define GNOMON_REAL_LIFE_H

#include "preload/base/base.h"

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

#endif
