/*
 * proc_lines.h: long files of /proc line by line, in a buffer of the
 * caller's; and the line that describes a mapping, in maps as in smaps.
 * Nothing is allocated. Any thread that has a buffer.
 */
#ifndef GNOMON_PROC_LINES_H
#define GNOMON_PROC_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line of maps: addresses and numbers, and a path of 4096 bytes whose line
 * feeds are written as \012. */
#define PROC_LINES_BUFFER 32768

struct proc_lines {
	int fd;			/* -1: not open */
	char *buffer;
	size_t size;
	size_t at, end;		/* what is held and not yet given out */
	bool skipping;		/* the rest of a line that was cut */
	uint64_t cut;		/* lines that did not fit, and were cut */
};

/* The buffer (some bytes at least) is used until the file is closed. 0 or
 * -errno. */
int proc_lines_open(struct proc_lines *lines, const char *path, char *buffer,
		    size_t size);

/* The next line without its line feed, NUL at its end; valid until the next
 * call. NULL: that was all, or what is there cannot be read. */
char *proc_lines_next(struct proc_lines *lines);

void proc_lines_close(struct proc_lines *lines);

/* Decimal number at *s, which moves behind it. */
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
	const char *path;	/* as the kernel writes it; "" for none */
};

/* Where an emulator runs the target it may have all addresses moved: by so much,
 * which is taken off them from then on. Before other threads read lines. */
void proc_lines_moved(uint64_t by);

/* False: the line describes no mapping, or none that the target could reach.
 * `path` points into the line. */
bool proc_lines_mapping(const char *line, struct proc_lines_mapping *mapping);

#endif
