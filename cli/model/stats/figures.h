/*
 * figures.h: what is known of a set of blocks that belong together: those of
 * a context, a site, a thread, a whole program. Sums but where it says
 * otherwise; times in nanoseconds since the start of the recording.
 */
#ifndef GNOMON_FIGURES_H
#define GNOMON_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

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
};

/* What tables are sorted by. */
enum figure {
	FIGURE_LIVE,		/* bytes */
	FIGURE_PEAK,
	FIGURE_OWN_PEAK,
	FIGURE_TOTAL,
	FIGURE_COUNT,
	FIGURE_TEMPORARY,
	FIGURE_LIFETIME,	/* mean, ns */
	FIGURE_AGE,		/* ns from its first allocation to `end_ns` */
	FIGURE_KEYS
};
extern const char *const figure_names[FIGURE_KEYS];

/* Its value; `end_ns`: of the recording. */
uint64_t figures_value(const struct figures *figures, enum figure key,
		       uint64_t end_ns);
/* How many blocks that is; of keys without blocks, 0. */
uint64_t figures_blocks(const struct figures *figures, enum figure key);
/* Is there anything of it? Blocks of no bytes are blocks, too. */
bool figures_any(const struct figures *figures, enum figure key,
		 uint64_t end_ns);
/* The mean lifetime of the freed blocks in ns; 0: none was freed. */
uint64_t figures_mean_lifetime(const struct figures *figures);
/* Each by its name, as JSON and tables of other programs have it, always in the
 * same order. Names are only ever added. */
void figures_each(const struct figures *figures, uint64_t end_ns,
		  void (*each)(void *owner, const char *name, uint64_t value),
		  void *owner);
/* Put `more` to `sum`. A zeroed struct figures is the empty set. */
void figures_add(struct figures *sum, const struct figures *more);

#endif
