/*
 * anonymize.h: names that say nothing, the same for the same name and key.
 *
 * A name becomes a few letters and digits out of HMAC-SHA256 (RFC 2104) of it;
 * who does not have the key cannot tell whether a guess is right. Paths are
 * changed directory by directory, so that what lies in one place still does.
 */
#ifndef GNOMON_ANONYMIZE_H
#define GNOMON_ANONYMIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <nettle/hmac.h>

#include "cli/trace/write/repack.h"

struct anonymize {
	struct hmac_sha256_ctx keyed;	/* nothing hashed yet */
	bool keep_build_ids;
};

/* `key` of any length; NULL: a random one. 0, or -errno. */
int anonymize_init(struct anonymize *anonymize, const char *key, size_t size);
/* How all that a trace has is changed; `change->owner` is set, too. */
void anonymize_change(struct anonymize *anonymize,
		      struct repack_change *change);

/* The new form of a path: for tests, too. */
void anonymize_path(const struct anonymize *anonymize, const char *path,
		    size_t size, struct buffer *out);

#endif
