/*
 * process_files.h: files as a process sees them that lives still: in its own
 * mount namespace, or deleted since it mapped them.
 *
 * Thread context: any. What they give need not be the file that was meant: a
 * process id may be another's by now. Compare the build-id.
 */
#ifndef GNOMON_PROCESS_FILES_H
#define GNOMON_PROCESS_FILES_H

/* The path from here, to be freed; NULL if it is not absolute. */
char *process_files_path(int pid, const char *path);
/* A descriptor of what it has mapped under this name; -1: nothing, or this
 * user may not (it takes CAP_CHECKPOINT_RESTORE). */
int process_files_mapped(int pid, const char *path);

#endif
