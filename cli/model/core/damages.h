/*
 * damages.h: what --guard found: somebody wrote where no block is. Who
 * allocated the block beside it, and who freed it, is known.
 */
#ifndef GNOMON_DAMAGES_H
#define GNOMON_DAMAGES_H

#include <stddef.h>
#include <stdint.h>

#include "cli/model/core/contexts.h"
#include "cli/trace/decode/records.h"

/* A program that does it in a loop: what comes later is only counted. */
#define DAMAGES_MAX 4096

struct damage {
	uint64_t stamp;		/* when it was found */
	uint64_t address, size;	/* of the block */
	int64_t offset;		/* of the first damaged byte, from its start */
	uint64_t bytes;		/* damaged; 0: the block was freed before */
	uint32_t thread;	/* that found it */
	uint32_t allocated_by;	/* node */
	uint32_t found_by;	/* node of who frees; 0: nobody does */
	uint8_t when;		/* enum gt_damage, or more */
};

struct damages {
	struct damage *list;	/* in the order of the events */
	size_t count, capacity;
	uint64_t all;		/* also those that are not in the list */
};

/* A GT_EXTRA_DAMAGE; other events are left alone. */
void damages_extra(struct damages *damages, struct contexts *contexts,
		   uint32_t thread, const struct trace_event *event);
void damages_forget(struct damages *damages);
void damages_free(struct damages *damages);

#endif
