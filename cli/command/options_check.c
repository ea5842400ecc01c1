/*
 * options_check.c: see options_check.h.
 */
#include "cli/command/options_check.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cli/model/stats/figures.h"
#include "preload/base/signal_list.h"

/* Reads the next value of a list; *list moves to the comma after it. */
static int options_next(const char **list, char *value, size_t size)
{
	size_t n = 0;

	for (; **list && **list != ','; (*list)++) {
		if (n == size - 1)
			return -EINVAL;
		value[n++] = **list;
	}
	value[n] = '\0';
	return 0;
}

static int options_rss(const char *text, struct options_rss *rss)
{
	uint64_t whole, part;
	const char *at = text;

	memset(rss, 0, sizeof(*rss));
	if (options_number(&at, &whole, &part))
		return -EINVAL;
	if (strcmp(at, "%") != 0)
		return options_size(text, &rss->bytes) || !rss->bytes ?
			       -EINVAL : 0;
	if (whole > 100)
		return -EINVAL;
	rss->millionths = whole * 10000 + part / 100;
	return rss->millionths && rss->millionths <= 1000000 ? 0 : -EINVAL;
}

int options_rss_list(const char *text,
		     struct options_rss list[OPTIONS_RSS_MAX])
{
	static const char key[] = "RSS=";
	int count = 0;

	if (!*text)
		return 0;
	for (;; text++) {
		char value[32];

		if (count == OPTIONS_RSS_MAX ||
		    options_next(&text, value, sizeof(value)) ||
		    strncmp(value, key, sizeof(key) - 1) != 0 ||
		    options_rss(value + sizeof(key) - 1, &list[count++]))
			return -EINVAL;
		if (!*text)
			return count;
	}
}

/* Whether each value of a list is a key to sort a report by. */
static bool options_keys(const char *list)
{
	enum measure key;
	char value[16];

	for (;; list++) {
		if (options_next(&list, value, sizeof(value)) ||
		    !figures_find(value, &key))
			return false;
		if (!*list)
			return true;
	}
}

bool options_fit(enum option_id id, const char *text)
{
	struct options_rss list[OPTIONS_RSS_MAX];
	struct signal_action_wanted wishes[SIGNAL_LIST_MAX];

	switch (id) {
	case OPTION_OUTPUT:
	case OPTION_CHOWN:
	case OPTION_INCLUDE:
		return text[0] != '\0';
	case OPTION_SIGNAL:
		return signal_list_read(text, wishes) >= 0;
	case OPTION_SNAPSHOT_AT:
		return options_rss_list(text, list) >= 0;
	case OPTION_SORT:
		return options_keys(text);
	default:
		return true;
	}
}

const char *options_misfit(char *const *environment)
{
	for (; *environment; environment++) {
		const char *text = *environment;
		unsigned id;

		for (id = 0; id < OPTION_COUNT; id++) {
			const char *name = options_table[id].variable;
			size_t n = strlen(name);

			if (strncmp(text, name, n) == 0 && text[n] == '=' &&
			    !options_fit(id, text + n + 1))
				return text;
		}
	}
	return NULL;
}

/* Whether the trace goes to a descriptor of the program, from which it cannot
 * be read again. */
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

const char *options_disagree(const struct options *options)
{
	const uint64_t *number = options->number;

	if (number[OPTION_MIN_SIZE] > number[OPTION_MAX_SIZE])
		return "--min-size is above --max-size: no block would be "
		       "recorded: give a smaller one";
	if (options->given[OPTION_REPORT] && options_to_descriptor(options))
		return "--report needs a trace in a file, and --output is "
		       "none: name a file";
	if (number[OPTION_LIMIT] && options_to_descriptor(options))
		return "--limit keeps parts of the trace in files, and "
		       "--output is none: name a file";
	return NULL;
}
