/*
 * pattern.h: regular expressions (PCRE2), as everywhere in gnomon. A text
 * matches if the expression matches any part of it.
 */
#ifndef GNOMON_PATTERN_H
#define GNOMON_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

struct pattern;

/* NULL if the expression is wrong; then `why`, of `size` bytes, has the
 * reason. */
struct pattern *pattern_new(const char *expression, char *why, size_t size);
/* A match that takes too many steps counts as none. */
bool pattern_matches(const struct pattern *pattern, const char *text);
void pattern_free(struct pattern *pattern);	/* NULL is allowed */

#endif
