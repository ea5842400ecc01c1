/*
 * keys.h: the keys that group the allocations of a query: one table, from which
 * options, headings and JSON members are made.
 *
 * An exclusive key partitions blocks: each block has one value. With an
 * inclusive key, a block may have several values, one for each frame of its
 * stack: the groups add up to more than the whole, and own peaks of such groups
 * are unknown.
 */
#ifndef GNOMON_QUERY_KEYS_H
#define GNOMON_QUERY_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/base/text/buffer.h"
#include "cli/base/text/members.h"
#include "cli/model/block_keys.h"
#include "cli/model/model.h"
#include "cli/stack/frames.h"
#include "cli/stack/profile_groups.h"

/* Where a key's value comes from. */
enum query_of {
	QUERY_OF_STACK,		/* the whole stack */
	QUERY_OF_SITE,		/* the innermost line of the program's own */
	QUERY_OF_FRAME,		/* the site's frame, or all frames */
	QUERY_OF_BLOCK,		/* the block */
	QUERY_OF_PROCESS	/* the process, of several traces */
};

struct query_process {
	uint64_t pid;		/* 0: unknown */
	const char *program;	/* "": unknown. Borrowed */
};

/* A value of a key, to be printed. */
struct query_value {
	const struct model *model;	/* NULL: several traces */
	uint64_t value;			/* with QUERY_OF_BLOCK */
	const struct query_process *process;	/* with QUERY_OF_PROCESS */
	struct frame frame;		/* with QUERY_OF_FRAME; */
	bool known;			/* false: no such frame */
	/* Print these, because no other key does. */
	bool with_library, with_file;
	bool full;			/* do not shorten names */
	size_t width;			/* else: available columns */
};

struct query_key {
	const char *name;		/* of the option */
	const char *noun, *plural;	/* of rows */
	const char *help;		/* "what a row stands for" */
	enum query_of of;
	bool inclusive;			/* with QUERY_OF_FRAME */
	enum profile_by by;		/* except for QUERY_OF_BLOCK */
	enum block_key block;
	/* Except for QUERY_OF_STACK and QUERY_OF_SITE: append the value's name,
	 * and a note; write its members, for an inclusive key those of an
	 * object `within`. */
	void (*text)(const struct query_value *value, struct buffer *name,
		     struct buffer *more);
	void (*members)(const struct query_value *value,
			const struct members *to);
};

extern const struct query_key query_keys[];
extern const unsigned query_key_count;

/* The frame of a group, for a key of QUERY_OF_FRAME. */
void query_value_frame(const struct profile *profile,
		       const struct profile_group *group,
		       struct query_value *value);
/* By name; NULL: no such key. */
const struct query_key *query_key_find(const char *name, size_t size);
/* The n-th key as a word of an option (command.h); NULL after the last. */
const char *query_key_word(size_t n, const char **meaning);
/* The keys "stack" and "site". */
const struct query_key *query_key_stack(void);
const struct query_key *query_key_site(void);

#endif
