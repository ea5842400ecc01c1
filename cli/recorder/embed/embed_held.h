/*
 * embed_held.h: keeps files open that only the target can reach: removed files,
 * and files below another root directory. The kernel shows them in
 * /proc/PID/map_files while the process lives. The final scan
 * opens them, and they stay open to be embedded after its end.
 */
#ifndef GNOMON_EMBED_HELD_H
#define GNOMON_EMBED_HELD_H

#include <stdint.h>

#define EMBED_HELD_MAX 64	/* more are not kept open */

struct embed_held {
	unsigned count;
	struct embed_held_file {
		uint64_t start, end;	/* addresses in the target */
		int fd;
	} file[EMBED_HELD_MAX];
};

/* Opens the files; closes files held before a failed exec. */
void embed_held_take(struct embed_held *held, int pid);

/* The descriptor of the file mapped at `address`, still owned by *held; or
 * -1. */
int embed_held_find(const struct embed_held *held, uint64_t address);

void embed_held_close(struct embed_held *held);

#endif
