/*
 * embed_held.h: files of the target that only it can reach: removed ones, and
 * those of another root directory. The kernel shows them in /proc/PID/map_files
 * as long as the process lives; so at its last look they are opened, and are
 * kept open for what is embedded after its end.
 */
#ifndef GNOMON_EMBED_HELD_H
#define GNOMON_EMBED_HELD_H

#include <stdint.h>

#define EMBED_HELD_MAX 64	/* more are not kept */

struct embed_held {
	unsigned count;
	struct embed_held_file {
		uint64_t start, end;	/* addresses in the target */
		int fd;
	} file[EMBED_HELD_MAX];
};

/* Opens them anew: those of an exec that failed are forgotten. */
void embed_held_take(struct embed_held *held, int pid);

/* The descriptor, which stays the holder's, of what is mapped there; -1. */
int embed_held_find(const struct embed_held *held, uint64_t address);

void embed_held_close(struct embed_held *held);

#endif
