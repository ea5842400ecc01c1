/*
 * options_agree.c: see options_agree.h.
 */
#include "preload/base/options_agree.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The trace goes to a descriptor of the program's, which nobody can read it
 * from once more. */
static bool options_to_descriptor(const struct options *options)
{
	static const char *const places[] = { "/dev/stdout", "/dev/stderr",
					      "/dev/fd/", "/proc/self/fd/" };
	const char *output = options_text(options, OPTION_OUTPUT);
	unsigned i;

	for (i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (strncmp(output, places[i], strlen(places[i])) == 0)
			return true;
	return strcmp(output, "-") == 0;
}

int options_descriptor(const char *pattern)
{
	static const char *const prefixes[] = { "/dev/fd/", "/proc/self/fd/" };
	unsigned i;

	if (strcmp(pattern, "/dev/stdout") == 0 || strcmp(pattern, "-") == 0)
		return 1;
	if (strcmp(pattern, "/dev/stderr") == 0)
		return 2;
	for (i = 0; i < 2; i++) {
		size_t n = strlen(prefixes[i]);
		const char *number = pattern + n;
		uint64_t fd = 0;

		if (strncmp(pattern, prefixes[i], n) != 0 || !*number)
			continue;
		for (; *number >= '0' && *number <= '9' && fd < INT32_MAX;
		     number++)
			fd = fd * 10 + (uint64_t)(*number - '0');
		if (!*number && fd < INT32_MAX)
			return (int)fd;
	}
	return -1;
}

const char *options_disagree(const struct options *options)
{
	const uint64_t *number = options->number;

	if (number[OPTION_MIN_SIZE] > number[OPTION_MAX_SIZE])
		return "--min-size is above --max-size, so that no block is "
		       "recorded: give a smaller one";
	if (options->given[OPTION_REPORT] && options_to_descriptor(options))
		return "--report is made of a trace in a file, and --output "
		       "is none: name a file with it";
	if (number[OPTION_LIMIT] && options_to_descriptor(options))
		return "--limit keeps parts of a trace in files, and --output "
		       "is none: name a file with it";
	return NULL;
}
