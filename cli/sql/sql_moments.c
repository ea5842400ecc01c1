/*
 * sql_moments.c: see sql_moments.h.
 */
#include "cli/sql/sql_moments.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/terminal/log.h"
#include "cli/model/moment.h"

/* The name in a filter's value; NULL: the value is not a name. */
static const char *name_of(const struct sql_word *word)
{
	const struct command_option *option =
		&filter_options.options[word->id - FILTER_FIRST];

	if (word->id == FILTER_MARKER)
		return word->text;
	return strcmp(option->value, "MOMENT") == 0 && word->text[0] == '@' ?
		word->text + 1 : NULL;
}

static bool has_name(const struct sql_trace *trace, const char *name)
{
	struct moment_name *names;
	size_t count = moment_names(trace->outline, &names), i = 0;

	while (i < count && strcmp(names[i].name, name) != 0)
		i++;
	free(names);
	return i < count;
}

bool sql_moments_known(const struct sql_traces *traces,
		       const struct sql_word *word)
{
	const char *name = name_of(word);

	for (size_t i = 0; i < traces->count && name != NULL; i++)
		if (has_name(&traces->list[i], name))
			return true;
	return false;
}

bool sql_moments_here(const struct sql_trace *trace,
		      const struct sql_word *word)
{
	return has_name(trace, name_of(word));
}

void sql_moments_report(struct sql_trace *trace, const struct sql_word *word)
{
	const char *name = name_of(word);
	size_t before = trace->lacked.count;

	intern_string(&trace->lacked, name);
	if (trace->lacked.count > before)
		log_note("%s: has no marker or snapshot `%s`: none of its "
			 "rows match", trace->path, name);
}
