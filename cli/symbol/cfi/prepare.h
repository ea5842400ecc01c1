/*
 * prepare.h: makes the rule file of a binary: for code that none of its own
 * unwind tables covers.
 */
#ifndef GNOMON_PREPARE_H
#define GNOMON_PREPARE_H

#include "cli/symbol/cfi/rule_file.h"

struct prepare_result {
	char *path;		/* NULL: there is nothing to make rules for */
	size_t functions;	/* that were looked at */
	uint64_t code_bytes, ruled_bytes;	/* without a table; ruled now */
};

/* The directory that the user means: GNOMON_CFI_DIR, else gnomon/cfi in
 * $XDG_CACHE_HOME or ~/.cache. To be freed; NULL: none of them is set. */
char *prepare_directory(void);

/* Makes a directory and those above it. 0 or -errno. */
int prepare_make_directory(const char *directory);

/* To be freed with prepare_free in any case. NULL, or what is wrong. */
const char *prepare_binary(const struct binary *binary, const char *directory,
			   struct prepare_result *result);
void prepare_free(struct prepare_result *result);

#endif
