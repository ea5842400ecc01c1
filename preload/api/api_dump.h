/*
 * api_dump.h: stacks with their numbers as text. One thread of the target at a
 * time, outside of hooks.
 */
#ifndef GNOMON_API_DUMP_H
#define GNOMON_API_DUMP_H

#include <stddef.h>
#include <stdint.h>

#include "library/gnomon/gnomon.h"
#include "preload/base/scratch.h"
#include "preload/ring/recorder.h"

/* What enum gnomon_field speaks of, in the order of its bits. */
#define API_FIELDS 5

struct api_row {
	uint32_t context;
	uint64_t field[API_FIELDS];
};

struct api_dump {
	struct recorder *r;
	struct scratch *memory;
	struct gnomon_dump how;	/* nothing left out */
	uintptr_t caller;	/* return address of the call; GNOMON_HERE */
	gnomon_writer write;
	void *data;
};

/* Fills in what `how` leaves out (NULL: all). 0 or -EINVAL. */
int api_dump_how(struct gnomon_dump *to, const struct gnomon_dump *how);

/* How many stacks were printed, or an error. */
int api_dump_rows(const struct api_dump *dump, const struct api_row *rows,
		  size_t count);

#endif
