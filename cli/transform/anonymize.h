/*
 * anonymize.h: replaces names in a trace by keyed hashes: the same name and key
 * give the same result.
 *
 * A name becomes a few letters and digits of its HMAC-SHA256 (RFC 2104).
 * Without the key, a guess cannot be verified. Each directory of a path is
 * replaced separately, so that files of one directory stay together.
 */
#ifndef GNOMON_ANONYMIZE_H
#define GNOMON_ANONYMIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <nettle/hmac.h>

#include "cli/trace/write/repack.h"

struct anonymize {
	struct hmac_sha256_ctx keyed;	/* with the key, nothing hashed yet */
	bool keep_build_ids;
};

/* `key` of any length; NULL: a random one. 0, or -errno. */
int anonymize_init(struct anonymize *anonymize, const char *key, size_t size);
/* Fill in the functions that change each name in a trace; also sets
 * `change->owner`. */
void anonymize_change(struct anonymize *anonymize,
		      struct repack_change *change);

/* The new form of a path; for tests, too. */
void anonymize_path(const struct anonymize *anonymize, const char *path,
		    size_t size, struct buffer *out);

#endif
