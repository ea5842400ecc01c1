/*
 * proc.h: what the kernel says about a process in /proc. Any thread.
 */
#ifndef GNOMON_PROC_H
#define GNOMON_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fields of /proc/PID/stat, by their number in proc(5). */
enum {
	PROC_STAT_STATE = 3,
	PROC_STAT_PPID = 4,
	PROC_STAT_MINFLT = 10,
	PROC_STAT_MAJFLT = 12,
	PROC_STAT_THREADS = 20,
	PROC_STAT_STARTTIME = 22,
	PROC_STAT_VSIZE = 23,
	PROC_STAT_SIGIGNORE = 33,
	PROC_STAT_EXIT_CODE = 52
};

/* The first n bytes of a file, ended by a NUL; their number or -errno. */
long proc_read(const char *path, char *to, size_t n);

/*
 * Whether /proc is of our namespace of process ids: else the processes in it
 * have the ids of others, and of a process it is as if there were no /proc.
 */
bool proc_is_ours(void);

/* The same as proc_read of /proc/PID/NAME. */
long proc_read_of(int pid, const char *name, char *to, size_t n);

/* A field of a text that /proc/PID/stat had, as a number (the state as its
 * letter). False: it has none. */
bool proc_stat_field(const char *stat, unsigned field, uint64_t *value);

/* The same, of the file. False: not readable. */
bool proc_stat(int pid, unsigned field, uint64_t *value);

#endif
