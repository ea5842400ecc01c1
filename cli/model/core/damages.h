/*
 * damages.h: writes outside of blocks, as found by --guard. The contexts that
 * allocated and freed the block next to them are known.
 */
#ifndef GNOMON_DAMAGES_H
#define GNOMON_DAMAGES_H

#include <stddef.h>
#include <stdint.h>

#include "cli/model/core/contexts.h"
#include "cli/trace/decode/records.h"

/* For programs that damage memory in a loop: further damages are only
 * counted. */
#define DAMAGES_MAX 4096

struct damage {
	uint64_t stamp;		/* when it was found */
	uint64_t address, size;	/* of the block */
	int64_t offset;		/* of the first damaged byte, from its start */
	uint64_t bytes;		/* damaged bytes; 0: the block was freed
				 * before */
	uint32_t thread;	/* that found it */
	uint32_t allocated_by;	/* node */
	uint32_t found_by;	/* node of its stack; 0: not found by a free */
	uint8_t when;		/* enum gt_damage, or more */
};

struct damages {
	struct damage *list;	/* in the order of the events */
	size_t count, capacity;
	uint64_t all;		/* with those that are not in the list */
};

/* Adds a GT_EXTRA_DAMAGE; ignores other events. */
void damages_extra(struct damages *damages, struct contexts *contexts,
		   uint32_t thread, const struct trace_event *event);
void damages_forget(struct damages *damages);
void damages_free(struct damages *damages);

#endif
