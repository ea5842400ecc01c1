/*
 * dump_stacks.h: merges, sorts and prints stacks with their measures as text.
 * The recorder only.
 */
#ifndef GNOMON_DUMP_STACKS_H
#define GNOMON_DUMP_STACKS_H

#include <stddef.h>
#include <stdint.h>

#include "cli/recorder/dump/dump_frames.h"
#include "preload/ring/dump_request.h"

/* Number of measures of enum gnomon_field. They are in the order of its
 * bits. */
#define DUMP_FIELDS 5

struct dump_row {
	uint32_t context;
	uint64_t field[DUMP_FIELDS];
};

/* The program's request. */
struct dump_how {
	struct dump_options options;
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
	size_t reported;			/* of them */
	char *line;			/* the next line, */
	size_t line_max, line_size, line_reported;
};

/* Fills in defaults. 0 or -EINVAL: an impossible request. */
int dump_how_complete(struct dump_how *how);

/* The members above the line are set. This and later functions return 0 or
 * -ENOMEM. */
int dump_stacks_begin(struct dump_stacks *stacks);

/* Adds a row. Its frames have been named. */
int dump_stacks_add(struct dump_stacks *stacks, const struct dump_row *row);

/* Call after the last row. stacks->count: how many stacks will be printed. */
int dump_stacks_sort(struct dump_stacks *stacks);

/* Writes as many lines as fit, or a piece of a long line. Returns their bytes;
 * 0: no more. Each part ends at a line's end, or is a piece of a single
 * line. */
size_t dump_stacks_lines(struct dump_stacks *stacks, char *to, size_t room);

#endif
