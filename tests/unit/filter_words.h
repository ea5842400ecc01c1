/*
 * filter_words.h: filters of tests: a word of theirs by its name.
 */
#ifndef GNOMON_FILTER_WORDS_H
#define GNOMON_FILTER_WORDS_H

#include <errno.h>
#include <string.h>

#include "cli/model/filters.h"

/* filter_take of the option `name` (`size-min`). */
static inline int filter_take_word(struct filter *filter, const char *name,
				   const char *value)
{
	for (size_t i = 0; i < filter_options.count; i++)
		if (strcmp(filter_options.options[i].name, name) == 0)
			return filter_take(filter, filter_options.options[i].id,
					   value);
	return -ENOENT;
}

#endif
