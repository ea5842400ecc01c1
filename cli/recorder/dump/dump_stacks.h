/*
 * dump_stacks.h: stacks with their numbers as text. The writer only.
 */
#ifndef GNOMON_DUMP_STACKS_H
#define GNOMON_DUMP_STACKS_H

#include <stddef.h>
#include <stdint.h>

#include "cli/recorder/dump/dump_frames.h"
#include "preload/ring/dump_part.h"

/* What enum gnomon_field speaks of, in the order of its bits. */
#define DUMP_FIELDS 5

struct dump_row {
	uint32_t context;
	uint64_t field[DUMP_FIELDS];
};

/* What the program wishes. */
struct dump_how {
	struct dump_wish wish;
	const char *word[DUMP_WORDS];
};

struct dump_stack;

struct dump_stacks {
	const struct dump_how *how;
	struct dump_frames *frames;
	struct scratch *memory;
	const struct dump_frames_one *from;	/* GNOMON_HERE */
	/* ---- below: zero at first ---- */
	const struct dump_frames_one **path;	/* innermost first */
	size_t path_max;
	struct dump_stack **buckets;
	size_t count;
	struct dump_stack **list;	/* in order */
	size_t told;			/* of them */
	char *line;			/* the next one, */
	size_t line_max, line_size, line_told;
};

/* Fills in what was left out. 0 or -EINVAL: that cannot be. */
int dump_how_complete(struct dump_how *how);

/* The upper part is set. Here and below: 0 or -ENOMEM. */
int dump_stacks_begin(struct dump_stacks *stacks);

/* Another one, whose frames have their names. */
int dump_stacks_add(struct dump_stacks *stacks, const struct dump_row *row);

/* There are no more. stacks->count: how many are to be told. */
int dump_stacks_sort(struct dump_stacks *stacks);

/* Lines, as many as there is room for, or a piece of one; their bytes, 0: that
 * was all. A part ends with a line, or is of one alone. */
size_t dump_stacks_lines(struct dump_stacks *stacks, char *to, size_t room);

#endif
