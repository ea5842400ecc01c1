/*
 * budget.h: the recorder's memory budget in this process.
 */
#ifndef GNOMON_BUDGET_H
#define GNOMON_BUDGET_H

#include <stdint.h>

#include "preload/base/options.h"

struct budget {
	uint64_t memory;	/* as the option --memory */
	uint64_t area;		/* addresses for private memory (area.h) */
};

/*
 * The option --memory, if given. Else its default, or less if memory or address
 * space of the process is limited (RLIMIT_AS, RLIMIT_DATA). -ENOMEM: the limit
 * is so low that the program needs all of it.
 */
int budget_make(const struct options *options, struct budget *budget);

/* The same for a limit of this many bytes; UINT64_MAX: none. */
int budget_limited(const struct options *options, uint64_t limit,
		   struct budget *budget);

#endif
