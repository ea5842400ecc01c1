/*
 * heaptrack_stacks.h: the tables of a heaptrack file: strings, places in code,
 * stacks, and pairs of size and stack. Each entry is written when it is first
 * used. Called by the main thread.
 */
#ifndef GNOMON_HEAPTRACK_STACKS_H
#define GNOMON_HEAPTRACK_STACKS_H

#include <stdint.h>

#include "cli/base/intern.h"
#include "cli/base/pairset.h"
#include "cli/base/table.h"
#include "cli/base/text/buffer.h"
#include "cli/export/compressed_file.h"
#include "cli/stack/context_value.h"

struct heaptrack_pair {
	uint64_t size;
	uint32_t trace;
	uint32_t next;		/* with the same key, or TABLE_NONE */
};

struct heaptrack_stacks {
	struct compressed_file *out;
	struct frames *frames;
	struct context_value context_value;
	struct intern strings;	/* numbered from 1, as are ips */
	struct table ip_of;	/* place, or NO_PLACE | stop -> number */
	uint32_t ips;
	struct pairset traces;	/* (outer, ip); numbered from 1 */
	struct table pair_of;	/* mixed size and trace -> the last pair */
	struct heaptrack_pair *pairs;	/* from first_pair on */
	uint32_t first_pair;
	size_t pair_count, pair_capacity;
	struct buffer scratch;
};

void heaptrack_stacks_init(struct heaptrack_stacks *stacks,
			   struct frames *frames, struct compressed_file *out);
/* The number of the pair of this size and the node's stack; never 0. */
uint32_t heaptrack_pair(struct heaptrack_stacks *stacks, uint64_t size,
			uint32_t node);
void heaptrack_stacks_free(struct heaptrack_stacks *stacks);

/* Write " " and a number in the file's number format. */
void heaptrack_number(struct compressed_file *out, uint64_t number);

#endif
