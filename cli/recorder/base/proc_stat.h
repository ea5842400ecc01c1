/*
 * proc_stat.h: fields of /proc/PID/stat. Any thread.
 */
#ifndef GNOMON_PROC_STAT_H
#define GNOMON_PROC_STAT_H

#include <stdbool.h>
#include <stdint.h>

/* By their number in proc(5). */
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

/* A field of text read from /proc/PID/stat, as a number (the state as its
 * letter). False: the field is missing. */
bool proc_stat_field(const char *stat, unsigned field, uint64_t *value);

/* The same, read from the file now. False: not readable. */
bool proc_stat(int pid, unsigned field, uint64_t *value);

#endif
