/*
 * figures.h: what is known of a set of blocks that belong together: those of
 * a context, a site, a thread, a whole program; and all that tables can be
 * sorted by, in one table: what commands print and offer of it comes from
 * there. Sums but where it says otherwise; times in nanoseconds since the start
 * of the recording.
 */
#ifndef GNOMON_FIGURES_H
#define GNOMON_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/text/quantity.h"

struct figures {
	uint64_t count;		/* allocations */
	uint64_t total_bytes;	/* of them */
	uint64_t frees;
	uint64_t temporary;	/* of the frees: soon after the allocation */
	uint64_t live_blocks;	/* at the end, or at --alive-at */
	uint64_t live_bytes;
	uint64_t peak_blocks;	/* of those live at the global peak */
	uint64_t peak_bytes;
	/* The set's own maximum of live bytes, and its blocks then. Of a set
	 * that was put together from others, the sum of theirs: a bound. */
	uint64_t own_peak_blocks;
	uint64_t own_peak_bytes;
	uint64_t own_peak_ns;	/* when; of a sum, of the larger of the two
				 * that were added */
	double lifetime_ns;	/* sum over the freed blocks */
	uint64_t first_ns;	/* its first and last allocation; both 0 */
	uint64_t last_ns;	/* if there was none */
	uint64_t unrecorded_bytes;	/* of the total: counted only; whether
					 * they were freed nobody knows */
};

/* What tables are sorted by: an index of figure_kinds. Those that code has to
 * name; kinds behind them have no name here. */
enum figure {
	FIGURE_LIVE,
	FIGURE_PEAK,
	FIGURE_OWN_PEAK,
	FIGURE_TOTAL,
	FIGURE_COUNT,
	FIGURE_TEMPORARY,
	FIGURE_LIFETIME,	/* mean */
	FIGURE_AGE		/* from its first allocation to `end_ns` */
};

/* Where a kind is offered; each can be sorted by in `gnomon report`. */
enum figure_use {
	FIGURE_SUMS = 1,	/* values add up: trees, shares, `gnomon diff` */
	FIGURE_OVERVIEW = 2,	/* what is told where none was chosen */
	FIGURE_EXPORTED = 4,	/* formats of other tools, flame graphs */
	FIGURE_LINES = 8	/* `gnomon annotate` */
};

/* When blocks are live that are said to be. */
enum figure_moment {
	FIGURE_AT_END,
	FIGURE_THEN,		/* --alive-at */
	FIGURE_NOW,		/* the trace is being written */
	FIGURE_MOMENTS
};

typedef uint64_t figure_value(const struct figures *figures, uint64_t end_ns);

/* A number in JSON and in tables of other programs. Names are only added. */
struct figure_member {
	const char *name;	/* NULL: behind the last of a kind */
	unsigned place;		/* among all members of all kinds, from 0 */
	enum quantity_unit unit;
	figure_value *value;
};
#define FIGURE_KIND_MEMBERS 3
#define FIGURES_MAX 16		/* kinds */
#define FIGURE_MEMBERS_MAX (FIGURES_MAX * FIGURE_KIND_MEMBERS)

/* Texts are NULL where the kind is not offered. */
struct figure_kind {
	const char *name;	/* --sort, --cost */
	const char *help;	/* of these options */
	enum quantity_unit unit;
	unsigned uses;		/* enum figure_use */
	figure_value *value;
	figure_value *blocks;	/* how many have this value; NULL: not said */
	struct figure_member members[FIGURE_KIND_MEMBERS];
	const char *title;
	/* Over a table; where there is none, title and the one of the end. */
	const char *titles[FIGURE_MOMENTS];
	const char *meanings[FIGURE_MOMENTS];	/* a sentence below it */
	/* What a row says: "{live_bytes} in {live_blocks} block{s}". In braces
	 * is a member; {s} is the plural of the number before; what is in
	 * brackets is emphasised. */
	const char *row;
	const char *tree;	/* what a tree of calls is of */
	const char *change;	/* what grew or shrank */
	const char *amount[FIGURE_MOMENTS];	/* behind a number */
	const char *label;	/* in other tools */
};

extern const struct figure_kind figure_kinds[];
extern const unsigned figure_count;	/* of them */

/* Has the kind all of these uses? */
bool figures_have(enum figure key, unsigned uses);
/* By its name. */
bool figures_find(const char *name, enum figure *key);

/* Its value; `end_ns`: of the recording. */
uint64_t figures_value(const struct figures *figures, enum figure key,
		       uint64_t end_ns);
/* How many blocks that is; of keys without blocks, 0. */
uint64_t figures_blocks(const struct figures *figures, enum figure key);
/* Is there anything of it? Blocks of no bytes are blocks, too. */
bool figures_any(const struct figures *figures, enum figure key,
		 uint64_t end_ns);
/* Its texts, as of this moment. */
const char *figures_title(enum figure key, enum figure_moment moment);
const char *figures_meaning(enum figure key, enum figure_moment moment);
const char *figures_amount(enum figure key, enum figure_moment moment);
/* The mean lifetime of the freed blocks in ns; 0: none was freed. */
uint64_t figures_mean_lifetime(const struct figures *figures);
/* The member of this name; NULL: there is none. */
const struct figure_member *figures_member(const char *name, size_t size);
/* Each member by its name, always in the same order. */
void figures_each(const struct figures *figures, uint64_t end_ns,
		  void (*each)(void *owner, const char *name, uint64_t value),
		  void *owner);
/* Put `more` to `sum`. A zeroed struct figures is the empty set. */
void figures_add(struct figures *sum, const struct figures *more);

#endif
