/*
 * filters_report.c: reports words of a filter that no block can match, and
 * names that matched nothing.
 *
 * Called by the main thread.
 */
#include <assert.h>
#include <string.h>

#include "cli/model/filters.h"

static const char *name_of(enum filter_id id)
{
	assert(id >= FILTER_FIRST && id < FILTER_END);
	return filter_options.options[id - FILTER_FIRST].name;
}

/* ---- words that no block can match ---- */

/* < 0: x is before y. Moments of different kinds cannot be compared without a
 * trace: 0. */
static int compare(const struct filter_word *x, const struct filter_word *y)
{
	const struct moment *a = &x->moment, *b = &y->moment;

	if (a->kind == MOMENT_SHARE && b->kind == MOMENT_TIME && b->ns == 0)
		return a->share > 0;	/* `start` */
	if (a->kind != b->kind || a->kind == MOMENT_NAME)
		return -1;
	if (a->kind == MOMENT_SHARE)
		return a->share < b->share ? -1 : a->share > b->share;
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/*
 * Whether some value may be between `min` and `max`. For words given several
 * times, between any pair of them. `open`: the maximum is not included.
 */
static bool may_lie_between(const struct filter *filter, enum filter_id min,
			    enum filter_id max, bool open,
			    struct notes *notes)
{
	const struct filter_word *low = NULL, *high = NULL;

	for (size_t i = 0; (low = filter_word(filter, min, i)); i++)
		for (size_t j = 0; (high = filter_word(filter, max, j)); j++)
			if (compare(low, high) < (open ? 0 : 1))
				return true;
	low = filter_word(filter, min, 0);
	high = filter_word(filter, max, 0);
	if (low == NULL || high == NULL)
		return true;
	notes_error(notes, "--%s %s --%s %s: nothing lies between: exchange "
		    "them, or leave one out", name_of(min), low->text,
		    name_of(max), high->text);
	return false;
}

bool filter_fits(const struct filter *filter, struct notes *notes)
{
	if (!may_lie_between(filter, FILTER_FROM, FILTER_TO, true,
			     notes))
		return false;
	for (int id = FILTER_FIRST; id + 1 < FILTER_END; id++) {
		const char *name = name_of((enum filter_id)id);
		size_t size = strlen(name);

		/* Each "-max" follows its "-min". */
		assert(size <= 4 || strcmp(name + size - 4, "-min") != 0 ||
		       strncmp(name, name_of((enum filter_id)(id + 1)),
			       size - 2) == 0);
		if (size > 4 && strcmp(name + size - 4, "-min") == 0 &&
		    !may_lie_between(filter, (enum filter_id)id,
				     (enum filter_id)(id + 1), false,
				     notes))
			return false;
	}
	return true;
}

/* ---- words that matched nothing ---- */

static const struct {
	enum filter_id id;
	const char *what;
	bool of_stacks;		/* searched only in blocks that other words
				 * select */
} names[] = {
	{ FILTER_THREAD, "no thread has this number or name", false },
	{ FILTER_PROCESS, "no process has this number, program or command", false },
	{ FILTER_HEAP, "no heap has this name", false },
	{ FILTER_MAP, "no mapping has this address or path",
	  false },
	{ FILTER_FUNCTION, "no function in any call stack matches", true },
	{ FILTER_NOT_FUNCTION, "no function in any call stack matches", true },
	{ FILTER_PASSES_THROUGH, "no function in any call stack matches", true },
	{ FILTER_SOURCE, "no source file in any call stack matches", true },
	{ FILTER_NOT_SOURCE, "no source file in any call stack matches", true },
	{ FILTER_LIBRARY, "no library in any call stack matches", true },
	{ FILTER_NOT_LIBRARY, "no library in any call stack matches", true },
	{ FILTER_CONTEXT, "no call stack has this number", true },
	{ FILTER_FREE_CONTEXT, "no call stack with this number has freed any "
	  "of these blocks", false },
};

void filter_report_unmatched(const struct filter *filter, struct notes *notes)
{
	const struct filter_word *word;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (size_t n = 0; (word = filter_word(filter, names[i].id,
						       n)); n++) {
			if (word->matched)
				continue;
			notes_hint(notes, "--%s %s: %s%s",
				   name_of(word->id), word->text, names[i].what,
				  names[i].of_stacks &&
				  filter_has_blocks(filter) ? " among those that "
				  "the other filters select" : "");
		}
}
