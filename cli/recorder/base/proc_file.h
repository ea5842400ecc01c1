/*
 * proc_file.h: reads short files of /proc in full. Any thread.
 */
#ifndef GNOMON_PROC_FILE_H
#define GNOMON_PROC_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Reads up to size - 1 bytes of a file and adds a NUL. Returns the number of
 * bytes or -errno. */
long proc_file_read(const char *path, char *to, size_t size);

/*
 * Whether /proc belongs to our PID namespace. If not, a pid means another
 * process there, and proc_file_read_of fails as if there were no /proc.
 */
bool proc_file_is_ours(void);

/* As proc_file_read of /proc/PID/NAME. */
long proc_file_read_of(int pid, const char *name, char *to, size_t size);

#endif
