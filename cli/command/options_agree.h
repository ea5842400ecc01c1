/*
 * options_agree.h: what options of a recording have to be like, beyond what
 * their types say (preload/base/options.h), and beside each other. The command
 * looks before it starts the program, the recorder for programs that were
 * started without it. No state; any thread.
 */
#ifndef GNOMON_OPTIONS_AGREE_H
#define GNOMON_OPTIONS_AGREE_H

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

/* Whether a text of this option is one that it can have. */
bool options_fit(enum option_id id, const char *text);

/* The first variable of the environment, "NAME=value", that has another; NULL:
 * none has. */
const char *options_misfit(char *const *environment);

/* What is wrong with them together, and what to do; NULL: nothing. */
const char *options_disagree(const struct options *options);

/* What SNAPSHOT_AT has: bytes, or, if that is 0, parts of a limit. */
struct options_rss {
	uint64_t bytes, millionths;
};
#define OPTIONS_RSS_MAX 16

/* "RSS=64M,RSS=80%". How many there are, or -EINVAL. */
int options_rss_list(const char *text,
		     struct options_rss list[OPTIONS_RSS_MAX]);

#endif
