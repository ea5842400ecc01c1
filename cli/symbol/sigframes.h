/*
 * sigframes.h: where the kernel returns to from a handler: the functions whose
 * unwind tables say so (an augmentation with an S).
 *
 * Thread context: made by one thread, asked by any.
 */
#ifndef GNOMON_SIGFRAMES_H
#define GNOMON_SIGFRAMES_H

#include "cli/symbol/elffile.h"

#define SIGFRAMES_MAX 16	/* a C library has one or two */

struct sigframes {
	struct { uint64_t low, high; } list[SIGFRAMES_MAX];
	size_t count;
};

void sigframes_read(struct sigframes *frames, struct elffile *file);
bool sigframes_has(const struct sigframes *frames, uint64_t address);

#endif
