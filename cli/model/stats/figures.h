/*
 * figures.h: the measures of a set of blocks: of a context, a site, a thread, a
 * whole program. One table has all measures that tables can be sorted by;
 * commands take their texts and options from it. All are sums unless stated
 * otherwise; times are ns since the start of the recording.
 */
#ifndef GNOMON_FIGURES_H
#define GNOMON_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/text/quantity.h"

struct figures {
	uint64_t count;		/* allocations */
	uint64_t total_bytes;	/* of the allocations */
	uint64_t frees;
	uint64_t temporary;	/* of the frees: soon after the allocation */
	uint64_t live_blocks;	/* at the end, or at --alive-at */
	uint64_t live_bytes;
	uint64_t peak_blocks;	/* of the blocks live at the global peak */
	uint64_t peak_bytes;
	/* The set's own maximum of live bytes, and its blocks at that moment.
	 * For a union of sets, the sum of their peaks: an upper bound. */
	uint64_t own_peak_blocks;
	uint64_t own_peak_bytes;
	uint64_t own_peak_ns;	/* when; after figures_add, of the larger of the
				 * two peaks */
	double lifetime_ns;	/* sum over freed blocks */
	uint64_t first_ns;	/* first and last allocation; both 0 */
	uint64_t last_ns;	/* if there was none */
	uint64_t unrecorded_bytes;	/* of the total: only counted; whether
					 * they were freed is not known */
};

/* Sort keys of tables: an index of measure_kinds. Only kinds that code refers
 * to have a constant here; further kinds follow in the table. */
enum measure {
	MEASURE_LIVE,
	MEASURE_PEAK,
	MEASURE_OWN_PEAK,
	MEASURE_TOTAL,
	MEASURE_COUNT,
	MEASURE_TEMPORARY,
	MEASURE_LIFETIME,	/* mean */
	MEASURE_AGE		/* from its first allocation to `end_ns` */
};

/* Where a kind is offered; `gnomon report` can sort by each. */
enum measure_use {
	MEASURE_SUMS = 1, /* values add up: trees, shares, `gnomon diff` */
	MEASURE_OVERVIEW = 2, /* printed by default */
	MEASURE_EXPORTED = 4, /* formats of other tools, flame graphs */
	MEASURE_LINES = 8 /* `gnomon annotate` */
};

/* The moment for which live blocks are given. */
enum measure_moment {
	MEASURE_AT_END,
	MEASURE_THEN,		/* --alive-at */
	MEASURE_NOW,		/* the trace is being written */
	MEASURE_MOMENTS
};

typedef uint64_t measure_value(const struct figures *figures, uint64_t end_ns);

/* A number in JSON and in SQL. Names are only ever added. */
struct measure_member {
	const char *name;	/* NULL: end of the list */
	unsigned place;		/* index among all members of all kinds, from
				 * 0 */
	enum quantity_unit unit;
	measure_value *value;
};
#define MEASURE_KIND_MEMBERS 3
#define MEASURES_MAX 16		/* kinds */
#define MEASURE_MEMBERS_MAX (MEASURES_MAX * MEASURE_KIND_MEMBERS)

/* A text is NULL if the kind is not offered there. */
struct measure_kind {
	const char *name;	/* --sort, --cost */
	const char *help;	/* help text of these options */
	enum quantity_unit unit;
	unsigned uses;		/* enum measure_use */
	measure_value *value;
	measure_value *blocks;	/* how many blocks have this value; NULL: not
				 * printed */
	struct measure_member members[MEASURE_KIND_MEMBERS];
	const char *title;
	/* Heading of a table; if NULL, the title, or the one of
	 * MEASURE_AT_END. */
	const char *titles[MEASURE_MOMENTS];
	const char *meanings[MEASURE_MOMENTS];	/* a sentence below the
						 * heading */
	/* Format of a row: "{live_bytes} in {live_blocks} block{s}". Braces
	 * hold a member; {s} is the plural of the number before it; text in
	 * brackets is emphasised. */
	const char *row;
	const char *tree;	/* title of a call tree */
	const char *change;	/* a verb phrase for what grew or shrank */
	const char *amount[MEASURE_MOMENTS];	/* text after a number */
	const char *label;	/* in other tools */
};

extern const struct measure_kind measure_kinds[];
extern const unsigned measure_count;	/* number of kinds */

/* Does the kind have all of these uses? */
bool figures_have(enum measure measure, unsigned uses);
/* Finds a kind by name. */
bool figures_find(const char *name, enum measure *measure);

/* The value of the kind; `end_ns`: end of the recording. */
uint64_t figures_value(const struct figures *figures, enum measure measure,
		       uint64_t end_ns);
/* The number of blocks for that value; 0 for kinds without blocks. */
uint64_t figures_blocks(const struct figures *figures, enum measure measure);
/* Is the value not zero? Blocks of zero bytes count, too. */
bool figures_any(const struct figures *figures, enum measure measure,
		 uint64_t end_ns);
/* The texts of the kind for this moment. */
const char *figures_title(enum measure measure, enum measure_moment moment);
const char *figures_meaning(enum measure measure, enum measure_moment moment);
const char *figures_amount(enum measure measure, enum measure_moment moment);
/* The mean lifetime of the freed blocks in ns; 0: none was freed. */
uint64_t figures_mean_lifetime(const struct figures *figures);
/* The member with this name, or NULL. */
const struct measure_member *figures_member(const char *name, size_t size);
/* Calls `each` for each member, always in the same order. */
void figures_each(const struct figures *figures, uint64_t end_ns,
		  void (*each)(void *owner, const char *name, uint64_t value),
		  void *owner);
/* Add `more` to `sum`. A zeroed struct figures is the empty set. */
void figures_add(struct figures *sum, const struct figures *more);

#endif
