/*
 * prepare.h: makes the rule file of a binary: unwind rules for code that none
 * of its own tables covers.
 */
#ifndef GNOMON_PREPARE_H
#define GNOMON_PREPARE_H

#include "cli/symbol/cfi/rule_file.h"

struct prepare_result {
	char *path;		/* NULL: no code needs rules */
	size_t functions;	/* examined */
	uint64_t code_bytes, ruled_bytes;	/* without a table; with rules
						 * now */
};

/* The directory for rule files: GNOMON_CFI_DIR, else gnomon/cfi in
 * $XDG_CACHE_HOME or ~/.cache. The caller frees it; NULL: none of them is
 * set. */
char *prepare_directory(void);

/* Makes a directory and its parents. 0 or -errno. */
int prepare_make_directory(const char *directory);

/* Returns NULL, or an error text. Call prepare_free in any case. */
const char *prepare_binary(const struct binary *binary, const char *directory,
			   struct prepare_result *result);
void prepare_free(struct prepare_result *result);

#endif
