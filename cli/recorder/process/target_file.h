/*
 * target_file.h: files about the target. Those that the recorder has inherited
 * (preload/start/launch.c) the target has opened itself, so they can be read
 * whatever becomes of its rights; those about its memory give nothing from the
 * moment on when it has none, or that of another program. What was not
 * inherited, because too few descriptors were allowed, is opened when it is
 * wanted.
 */
#ifndef GNOMON_TARGET_FILE_H
#define GNOMON_TARGET_FILE_H

#include "cli/recorder/base/proc_lines.h"
#include "preload/ring/shared.h"

/* Takes the descriptors over; what is none is -1 from then on. pid: of the
 * target. Once. */
void target_file_init(const int32_t file[GL_FILES], int pid);

/* Once, when the target is there: it has this file mapped at the address `at`. If
 * the kernel says otherwise, the target runs under an emulator that moves all
 * addresses, and those of lines are moved back (proc_lines_moved). */
void target_file_mapped(int fd, uint64_t at);

/* The inherited descriptor, or -1. */
int target_file(enum gl_file which);

/* One for the caller to close, at the file's start; -errno. Not of
 * GL_FILE_PIDFD. One reader of a file at a time. */
int target_file_open(enum gl_file which);

/* Lines of one of them, for proc_lines_next. 0 or -errno. */
int target_file_lines(struct proc_lines *lines, enum gl_file which,
		      char *buffer, size_t size);

/* Whether the next line is here already, so that no file is read for it. */
bool target_lines_ready(const struct proc_lines *lines);

/* At the end of a file that says what a process has in memory: whether that was
 * all. Once the process has ended, or is another program, such a file ends
 * early, and is empty. */
bool target_lines_last(const struct proc_lines *lines);

/* One mapping of something that has a path. */
struct target_map {
	uint64_t start, end;
	const char *path;	/* as it is, without the kernel's escapes */
};

/* Calls fn for each of the target, in order of address. */
void target_file_maps(void (*fn)(const struct target_map *map, void *arg),
		      void *arg);

/* A path that leads to the file for open and readlink. */
void target_file_path(enum gl_file which, char *path, size_t size);

#endif
