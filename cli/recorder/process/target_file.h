/*
 * target_file.h: files of /proc about the target. The target opened most of
 * them itself and the recorder inherits them (preload/start/launch.c). So they
 * stay readable if the target's privileges change. Files about its memory read
 * as empty once the process has ended or executed another program. Files that
 * were not inherited, because of a low limit on descriptors, are opened on
 * demand.
 */
#ifndef GNOMON_TARGET_FILE_H
#define GNOMON_TARGET_FILE_H

#include "cli/recorder/base/proc_lines.h"
#include "preload/ring/shared.h"

/* Takes over the descriptors; invalid ones become -1. pid: of the target.
 * Once. */
void target_file_init(const int32_t file[GL_FILES], int pid);

/* Once, when the target is known: the target has this file mapped at its
 * address `at`. If the kernel reports another address, an emulator shifts all
 * addresses of the target, and addresses in lines are shifted back
 * (proc_lines_moved). */
void target_file_mapped(int fd, uint64_t at);

/* The inherited descriptor, or -1. */
int target_file(enum gl_file which);

/* A descriptor at the file's start, for the caller to close; or -errno. Not for
 * GL_FILE_PIDFD. One reader of a file at a time. */
int target_file_open(enum gl_file which);

/* Opens one of them for proc_lines_next. 0 or -errno. */
int target_file_lines(struct proc_lines *lines, enum gl_file which,
		      char *buffer, size_t size);

/* Whether the next line is in the buffer, so that proc_lines_next does not
 * read. */
bool target_lines_ready(const struct proc_lines *lines);

/* At the end of a file about a process's memory: whether it was read in full.
 * Once the process has ended or executed another program, such a file ends
 * early or is empty. */
bool target_lines_last(const struct proc_lines *lines);

/* One mapping that has a path. */
struct target_map {
	uint64_t start, end;
	const char *path;	/* without the kernel's escapes */
};

/* Calls fn for each such mapping of the target, in order of address. */
void target_file_maps(void (*fn)(const struct target_map *map, void *arg),
		      void *arg);

/* Gives a path to the file, for open and readlink. */
void target_file_path(enum gl_file which, char *path, size_t size);

#endif
