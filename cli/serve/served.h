/*
 * served.h: the traces that are served: those that were named, those of
 * directories that were, and those of processes. Each has an id for URLs, which
 * is the same whenever the same file is served, and a generation, which changes
 * when the file does. One thread.
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
/* More are left out, and that is said. */
#define SERVED_MAX 4096

struct served {
	char id[SERVED_ID];
	char *path;		/* absolute */
	char program[64];	/* its file's name; "" if it is not known */
	pid_t pid;		/* 0: not known */
	uint64_t size, generation;
	uint64_t begin_ns;	/* of the recording, since 1970; 0: not known */
	uint64_t changed_ns;	/* mtime, since 1970 */
	bool live;		/* it is being written */
	/* While it is being written, its generation changes no sooner: reading
	 * one that is long must not be all that is done. */
	uint64_t next_ms;
	uint64_t told;		/* the generation, and `live`, that listeners */
	bool told_live;		/* know */
	int error;		/* errno; 0: it is there, and a trace */
	/* What reading it came to, of the generation `read`. */
	uint64_t read;		/* 0: it was not read yet */
	int status;		/* an exit status */
	char *said;		/* lines; NULL: nothing */
	bool named;		/* when the server was started */
	unsigned users;		/* jobs, readers: it stays in the list */
};

struct served_directory {
	char *path;		/* absolute */
	struct timespec looked;	/* its mtime when it was looked into */
	bool truncated;		/* not all that is in it is in the list */
};

struct served_list {
	struct served **list;	/* by path; each stays where it is until
				 * its file is gone, and its place is needed */
	size_t count, capacity;
	struct served_directory *directories;	/* watched */
	size_t directory_count, directory_capacity;
	bool truncated;		/* more than SERVED_MAX were named */
};

/* A file; of a directory all that are in it, now and later. False: there is no
 * such file, and errno says why. */
bool served_add(struct served_list *list, const char *path);
/* Look at directories again, and at each file. True: something has changed. */
bool served_refresh(struct served_list *list);
/* Look at one file again: true: it has changed. */
bool served_look(struct served *trace);
/* The same, but of one that is being written also if it was read just now. */
bool served_look_now(struct served *trace);
/* By its id, not trusted; or NULL. */
struct served *served_find(const struct served_list *list, const char *id);
/* The one that was written to last; NULL: there is none. */
struct served *served_newest(const struct served_list *list);
/* What GET /api/v1/traces answers. */
void served_json(const struct served_list *list, struct buffer *out);
void served_free(struct served_list *list);

#endif
