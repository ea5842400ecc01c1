/*
 * fdes.h: functions according to a file's .eh_frame: their ranges, and which of
 * them are signal frames, to which the kernel returns from a handler
 * (augmentation S). In a stripped file only these tables separate functions.
 *
 * Thread context: one thread opens and frees; any reads.
 */
#ifndef GNOMON_FDES_H
#define GNOMON_FDES_H

#include <pthread.h>

#include "cli/symbol/elf/elffile.h"

#define FDES_SIGNAL_MAX 16	/* a C library has one or two */

/* Addresses in the file; `high` is exclusive. */
struct fdes_range {
	uint64_t low, high;
};

struct fdes {
	struct span section;
	uint64_t address;
	unsigned pointer_size;
	struct fdes_range signals[FDES_SIGNAL_MAX];
	size_t signal_count;
	pthread_mutex_t lock;	/* of the members below */
	bool made;
	struct fdes_range *list;	/* sorted */
	size_t count;
};

/* The file has to stay open. One pass over the section, which keeps only the
 * signal frames. */
void fdes_open(struct fdes *fdes, struct elffile *file);
void fdes_free(struct fdes *fdes);
bool fdes_is_signal(const struct fdes *fdes, uint64_t address);
/* The function around an address; false: unknown. The first call makes the
 * list. */
bool fdes_find(struct fdes *fdes, uint64_t address, struct fdes_range *found);

#endif
