/*
 * keys.h: by what the allocations of a query are grouped: one table, of which
 * options, headings and JSON members are made.
 *
 * An exclusive key partitions blocks: each has one value of it. Of an
 * inclusive one a block may have several, one for each frame of its stack: its
 * groups add up to more than the whole, and the peak of such a group by itself
 * is told by nobody.
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

/* What a key's value is taken from. */
enum query_of {
	QUERY_OF_STACK,		/* the whole of it */
	QUERY_OF_SITE,		/* the innermost line of the program's own */
	QUERY_OF_FRAME,		/* of the site's frame, or of all frames */
	QUERY_OF_BLOCK,		/* the block */
	QUERY_OF_PROCESS	/* of several traces, which */
};

struct query_process {
	uint64_t pid;		/* 0: not known */
	const char *program;	/* "": not known. Borrowed */
};

/* A value of a key, to be told. */
struct query_value {
	const struct model *model;	/* NULL: of several traces */
	uint64_t value;			/* with QUERY_OF_BLOCK */
	const struct query_process *process;	/* with QUERY_OF_PROCESS */
	struct frame frame;		/* with QUERY_OF_FRAME; */
	bool known;			/* false: there is none */
	/* No other key tells that of it. */
	bool with_library, with_file;
	bool full;			/* names are not shortened */
	size_t width;			/* else: columns that there are */
};

struct query_key {
	const char *name;		/* of the option */
	const char *noun, *plural;	/* of rows */
	const char *help;		/* "a row is ..." */
	enum query_of of;
	bool inclusive;			/* with QUERY_OF_FRAME */
	enum profile_by by;		/* but for QUERY_OF_BLOCK */
	enum block_key block;
	/* But with QUERY_OF_STACK and QUERY_OF_SITE: appends what the value is,
	 * and what else is to be said of it; its members, of an inclusive key
	 * those of an object `within`. */
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
/* By its name; NULL: there is none. */
const struct query_key *query_key_find(const char *name, size_t size);
/* The n-th, as a word of an option (command.h); NULL behind the last. */
const char *query_key_word(size_t n, const char **meaning);
/* The one that is wanted, by what it is of. */
const struct query_key *query_key_stack(void);
const struct query_key *query_key_site(void);

#endif
