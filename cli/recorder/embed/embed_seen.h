/*
 * embed_seen.h: remembers files that are embedded already, in this trace or in
 * the trace of the parent process. The recorder only.
 */
#ifndef GNOMON_EMBED_SEEN_H
#define GNOMON_EMBED_SEEN_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/recorder/base/recording.h"
#include "cli/recorder/embed/embed_open.h"

#define EMBED_SEEN_MAX 512	/* files remembered at most */

struct embed_seen {
	uint64_t hash[EMBED_SEEN_MAX];	/* of build-ids */
	uint32_t count;
};

/* Whether this function was called for the file before, or the table is
 * full. */
bool embed_seen_before(struct embed_seen *seen,
		       const struct embed_wanted *wanted);

/* The first publishes to forked children that the trace at this path has the
 * file. The second tells whether the parent's trace has it. */
void embed_seen_report(const struct embed_wanted *wanted,
		       const struct recording *r, const char *trace);
bool embed_seen_by_parent(const struct embed_wanted *wanted,
			  const struct recording *r);

#endif
