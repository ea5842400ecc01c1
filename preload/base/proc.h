/*
 * proc.h: what the kernel says about a process in /proc. Any thread.
 */
#ifndef GNOMON_PROC_H
#define GNOMON_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first n bytes of a file, ended by a NUL; their number or -errno. */
long proc_read(const char *path, char *to, size_t n);

/*
 * Whether /proc is of our namespace of process ids: else the processes in it
 * have the ids of others, and of a process it is as if there were no /proc.
 */
bool proc_is_ours(void);

/* The same as proc_read of /proc/PID/NAME. */
long proc_read_of(int pid, const char *name, char *to, size_t n);

#endif
