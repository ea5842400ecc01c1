/*
 * embed_seen.h: files that need not be embedded, because they were: in this
 * trace, or in that of the process it was forked from. The writer only.
 */
#ifndef GNOMON_EMBED_SEEN_H
#define GNOMON_EMBED_SEEN_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/recorder/base/recording.h"
#include "cli/recorder/embed/embed_open.h"

#define EMBED_SEEN_MOST 512	/* files that are remembered */

struct embed_seen {
	uint64_t hash[EMBED_SEEN_MOST];	/* of build-ids */
	uint32_t count;
};

/* Whether a file was asked about before, or is one too many. */
bool embed_seen_before(struct embed_seen *seen,
		       const struct embed_wanted *wanted);

/* That the trace at this path has it, for forked children; and whether the
 * parent's trace does. */
void embed_seen_tell(const struct embed_wanted *wanted,
		     const struct recording *r, const char *trace);
bool embed_seen_by_parent(const struct embed_wanted *wanted,
			  const struct recording *r);

#endif
