/*
 * served.h: the list of served traces: files named on the command line, files
 * of named directories, and traces of processes. Each has an id for URLs, which
 * stays the same for the same file, and a generation, which changes when the
 * file changes. One thread.
 */
#ifndef GNOMON_SERVED_H
#define GNOMON_SERVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "cli/base/text/buffer.h"

#define SERVED_ID 13		/* characters and a NUL */
/* More traces are left out, with a message. */
#define SERVED_MAX 4096

struct served {
	char id[SERVED_ID];
	char *path;		/* absolute */
	char program[64];	/* file name of the program; "" if unknown */
	pid_t pid;		/* 0: unknown */
	uint64_t size, generation;
	uint64_t begin_ns;	/* start of the recording, since 1970; 0:
				 * unknown */
	uint64_t changed_ns;	/* mtime, since 1970 */
	bool live;		/* still being recorded */
	/* While the trace is being recorded, its generation does not change
	 * before next_ms: reading a long trace must not take all the time. */
	uint64_t next_ms;
	uint64_t reported;	/* generation and `live` that were sent to */
	bool reported_live;		/* event listeners */
	int error;		/* errno; 0: the file exists and is a trace */
	/* The result of reading generation `read`. */
	uint64_t read;		/* 0: not read yet */
	int status;		/* an exit status */
	char *said;		/* messages, as lines; NULL: none */
	bool named;		/* named on the command line */
	unsigned users;		/* jobs and readers; it stays in the list while
				 * > 0 */
};

struct served_directory {
	char *path;		/* absolute */
	struct timespec looked;	/* its mtime when it was last listed */
	bool truncated;		/* some of its files are not in the list */
};

struct served_list {
	struct served **list;	/* by path; an entry's address is stable until
				 * its file is gone and its slot is reused */
	size_t count, capacity;
	struct served_directory *directories;	/* watched */
	size_t directory_count, directory_capacity;
	bool truncated;		/* more than SERVED_MAX were given */
};

/* Add a file, or all files of a directory, now and later. False: no such file;
 * errno says why. */
bool served_add(struct served_list *list, const char *path);
/* Rescan the directories and check each file. True: something has changed. */
bool served_refresh(struct served_list *list);
/* Check one file. True: it has changed. */
bool served_poll(struct served *trace);
/* The same, but ignores next_ms of a trace that is being recorded. */
bool served_poll_now(struct served *trace);
/* By its id, which is untrusted; or NULL. */
struct served *served_find(const struct served_list *list, const char *id);
/* The trace written to last; NULL: none. */
struct served *served_newest(const struct served_list *list);
/* The answer to GET /api/v1/traces. */
void served_json(const struct served_list *list, struct buffer *out);
void served_free(struct served_list *list);

#endif
