/*
 * measure_words.c: see measure_words.h. Called by the main thread.
 */
#include "cli/command/measure_words.h"

#include "unwind/base/assertion.h"

/* The n-th measure that has all of these uses. */
static const char *nth(size_t n, unsigned uses, const char **meaning)
{
	for (unsigned key = 0; key < measure_count; key++) {
		if (!figures_have((enum measure)key, uses) || n-- > 0)
			continue;
		*meaning = measure_kinds[key].help;
		return measure_kinds[key].name;
	}
	return NULL;
}

const char *measure_words_all(size_t n, const char **meaning)
{
	return nth(n, 0, meaning);
}

const char *measure_words_sums(size_t n, const char **meaning)
{
	return nth(n, MEASURE_SUMS, meaning);
}

const char *measure_words_exported(size_t n, const char **meaning)
{
	return nth(n, MEASURE_EXPORTED, meaning);
}

const char *measure_words_lines(size_t n, const char **meaning)
{
	return nth(n, MEASURE_LINES, meaning);
}

enum measure measure_words_take(const char *name)
{
	enum measure measure = MEASURE_LIVE;
	bool found = figures_find(name, &measure);

	DEBUG_ASSERT(found);
	(void)found;
	return measure;
}

void measure_words_list(struct buffer *text, unsigned uses)
{
	const char *word, *after, *meaning;

	for (size_t n = 0; (word = nth(n, uses, &meaning)) != NULL; n++) {
		after = nth(n + 1, uses, &meaning);
		buffer_printf(text, "%s%s", n == 0 ? "" : after != NULL ?
			      ", " : " or ", word);
	}
}
