/*
 * heaptrack_stacks.h: the tables of a heaptrack file: strings, places,
 * stacks, and pairs of a size and a stack. Each line is written when it is
 * needed first. Called by the main thread.
 */
#ifndef GNOMON_HEAPTRACK_STACKS_H
#define GNOMON_HEAPTRACK_STACKS_H

#include <stdint.h>

#include "cli/base/intern.h"
#include "cli/base/pairset.h"
#include "cli/base/table.h"
#include "cli/base/text/buffer.h"
#include "cli/export/packed.h"
#include "cli/stack/inward.h"

struct heaptrack_pair {
	uint64_t size;
	uint32_t trace;
	uint32_t next;		/* with the same key; TABLE_NONE: none */
};

struct heaptrack_stacks {
	struct packed *out;
	struct frames *frames;
	struct inward inward;
	struct intern strings;	/* numbers begin at 1, as those of ... */
	struct table ip_of;	/* place, or NO_PLACE | stop -> number */
	uint32_t ips;
	struct pairset traces;	/* outer, ip; their numbers begin at 1, too */
	struct table pair_of;	/* mixed size and trace -> the last pair */
	struct heaptrack_pair *pairs;	/* from first_pair on */
	uint32_t first_pair;
	size_t pair_count, pair_capacity;
	struct buffer scratch;
};

void heaptrack_stacks_init(struct heaptrack_stacks *stacks,
			   struct frames *frames, struct packed *out);
/* The number of blocks of this size from the stack of a node: not 0. */
uint32_t heaptrack_pair(struct heaptrack_stacks *stacks, uint64_t size,
			uint32_t node);
void heaptrack_stacks_free(struct heaptrack_stacks *stacks);

/* " " and a number as the file has them all. */
void heaptrack_number(struct packed *out, uint64_t number);

#endif
