/*
 * proc.h: reads files of /proc. Any thread.
 */
#ifndef GNOMON_PROC_H
#define GNOMON_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads the first n bytes of a file, ended by a NUL; their number or -errno. */
long proc_read(const char *path, char *to, size_t n);

/*
 * Whether /proc shows our namespace of process ids. If not, its ids belong to
 * other processes, and proc_read_of fails as without /proc.
 */
bool proc_is_ours(void);

/* Like proc_read of /proc/PID/NAME. */
long proc_read_of(int pid, const char *name, char *to, size_t n);

#endif
