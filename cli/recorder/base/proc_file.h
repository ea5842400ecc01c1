/*
 * proc_file.h: short files of /proc as a whole. Any thread.
 */
#ifndef GNOMON_PROC_FILE_H
#define GNOMON_PROC_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* The first size - 1 bytes of a file, ended by a NUL; their number or
 * -errno. */
long proc_file_read(const char *path, char *to, size_t size);

/*
 * Whether /proc is of our namespace of process ids: else the processes in it
 * have the ids of others, and of a process it is as if there were no /proc.
 */
bool proc_file_is_ours(void);

/* As proc_file_read of /proc/PID/NAME. */
long proc_file_read_of(int pid, const char *name, char *to, size_t size);

#endif
