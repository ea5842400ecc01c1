/*
 * proc_lines.h: reads long files of /proc line by line into the caller's
 * buffer, and parses lines of maps and smaps that describe a mapping. Allocates
 * nothing. Any thread that has a buffer.
 */
#ifndef GNOMON_PROC_LINES_H
#define GNOMON_PROC_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for a line of maps: addresses, numbers, and a path of 4096 bytes whose
 * line feeds are written as \012. */
#define PROC_LINES_BUFFER 32768

struct proc_lines {
	int fd;			/* -1: not open */
	char *buffer;
	size_t size;
	size_t at, end;		/* bytes not yet returned */
	bool skipping;		/* the rest of a truncated line */
	uint64_t cut;		/* lines truncated to fit */
};

/* The buffer (some bytes at least) is used until the file is closed. 0 or
 * -errno. */
int proc_lines_open(struct proc_lines *lines, const char *path, char *buffer,
		    size_t size);

/* The next line without its line feed, NUL at its end; valid until the next
 * call. NULL: end of file, or a read error. */
char *proc_lines_next(struct proc_lines *lines);

void proc_lines_close(struct proc_lines *lines);

/* Parses the decimal number at *s and moves *s behind it. */
uint64_t proc_lines_number(const char **s);

enum proc_lines_flags {
	PROC_LINES_READ = 1,
	PROC_LINES_WRITE = 2,
	PROC_LINES_EXECUTE = 4,
	PROC_LINES_SHARED = 8
};

struct proc_lines_mapping {
	uint64_t start, end;
	unsigned flags;		/* enum proc_lines_flags */
	uint64_t offset;
	uint32_t major, minor;	/* of the device */
	uint64_t inode;
	const char *path;	/* as the kernel prints it; "" for none */
};

/* An emulator may run the target with all addresses shifted. Sets that offset,
 * which is subtracted from then on. Before other threads read lines. */
void proc_lines_moved(uint64_t by);

/* False: the line describes no mapping, or one that the target cannot reach.
 * `path` points into the line. */
bool proc_lines_mapping(const char *line, struct proc_lines_mapping *mapping);

#endif
