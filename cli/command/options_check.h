/*
 * options_check.h: checks the values of recording options beyond their types
 * (preload/base/options.h), and whether options contradict each other. The
 * command checks before it starts the program; the recorder checks for programs
 * started without the command. No state; any thread.
 */
#ifndef GNOMON_OPTIONS_CHECK_H
#define GNOMON_OPTIONS_CHECK_H

#include "preload/base/options.h"

/* Words of the choices, in the order of the table. */
enum { OPTION_EMBED_NONE, OPTION_EMBED_DEBUG, OPTION_EMBED_FULL };
enum {
	OPTION_LOG_OFF,
	OPTION_LOG_ERROR,
	OPTION_LOG_WARN,
	OPTION_LOG_INFO,
	OPTION_LOG_DEBUG
};

/* Whether this text is a valid value of the option. */
bool options_fit(enum option_id id, const char *text);

/* The first variable of the environment, "NAME=value", with an invalid value;
 * NULL if all are valid. */
const char *options_misfit(char *const *environment);

/* Why the options contradict each other, and what to do; NULL: they do not. */
const char *options_disagree(const struct options *options);

/* A value of SNAPSHOT_AT: bytes, or, if that is 0, millionths of a limit. */
struct options_rss {
	uint64_t bytes, millionths;
};
#define OPTIONS_RSS_MAX 16

/* Parses "RSS=64M,RSS=80%". Returns the number of values, or -EINVAL. */
int options_rss_list(const char *text,
		     struct options_rss list[OPTIONS_RSS_MAX]);

#endif
