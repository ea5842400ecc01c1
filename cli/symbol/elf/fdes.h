/*
 * fdes.h: what a file's .eh_frame says of its code: where functions begin and
 * end, and which of them the kernel returns to from a handler (an augmentation
 * with an S). Of a stripped file nothing else tells functions apart.
 *
 * Thread context: opened and freed by one thread, asked by any.
 */
#ifndef GNOMON_FDES_H
#define GNOMON_FDES_H

#include <pthread.h>

#include "cli/symbol/elf/elffile.h"

#define FDES_SIGNAL_MAX 16	/* a C library has one or two */

/* Addresses in the file, the end excluded. */
struct fdes_range {
	uint64_t low, high;
};

struct fdes {
	struct span section;
	uint64_t address;
	unsigned pointer_size;
	struct fdes_range signals[FDES_SIGNAL_MAX];
	size_t signal_count;
	pthread_mutex_t lock;	/* of what follows */
	bool made;
	struct fdes_range *list;	/* sorted */
	size_t count;
};

/* The file has to stay open. One pass over the section, which keeps nothing
 * but the signal frames. */
void fdes_open(struct fdes *fdes, struct elffile *file);
void fdes_free(struct fdes *fdes);
bool fdes_is_signal(const struct fdes *fdes, uint64_t address);
/* The function around an address; false: none is known. The first question
 * makes the list. */
bool fdes_find(struct fdes *fdes, uint64_t address, struct fdes_range *found);

#endif
