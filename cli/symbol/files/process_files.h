/*
 * process_files.h: files as a live process sees them: in its own mount
 * namespace, or deleted since it mapped them.
 *
 * Thread context: any. The file found may be another one: process ids are
 * reused. Compare the build-id.
 */
#ifndef GNOMON_PROCESS_FILES_H
#define GNOMON_PROCESS_FILES_H

/* The path under /proc/PID/root; the caller frees it. NULL if `path` is not
 * absolute. */
char *process_files_path(int pid, const char *path);
/* A descriptor of the file that it has mapped under this name; -1: none, or no
 * permission (it takes CAP_CHECKPOINT_RESTORE). */
int process_files_mapped(int pid, const char *path);

#endif
