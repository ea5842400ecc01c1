/*
 * filters.h: filters, which select blocks and stacks. The same words are
 * options of commands, parameters of REST requests and part of the page's
 * address. A word given twice means either value; different words must all
 * hold.
 *
 * A filter is made once, from words. Any number of models may use it, one after
 * the other or at the same time: each model stores the meaning of the words in
 * its own trace (selection.h).
 *
 * Words about blocks are applied while the trace is read: struct model_options.
 * Words about stacks need names of functions, so they are applied afterwards,
 * by callers that use filter_word(). Commands pass a filter on as the predicate
 * of a query (cli/query/query.h).
 */
#ifndef GNOMON_FILTERS_H
#define GNOMON_FILTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/notes.h"
#include "cli/base/terminal/command.h"
#include "cli/model/moment.h"

enum filter_id {
	FILTER_FIRST = 1000,
	/* about blocks */
	FILTER_FROM = FILTER_FIRST,
	FILTER_TO,
	FILTER_ALIVE_AT,
	FILTER_ALIVE_AT_2,
	FILTER_SIZE_MIN,
	FILTER_SIZE_MAX,
	FILTER_LIFETIME_MIN,
	FILTER_LIFETIME_MAX,
	FILTER_FATE,
	FILTER_FREE_CONTEXT,
	FILTER_THREAD,
	FILTER_PROCESS,
	FILTER_ADDRESS_MIN,
	FILTER_ADDRESS_MAX,
	FILTER_ALLOCATOR,
	FILTER_ARENA,
	FILTER_MMAPPED,
	FILTER_HEAP,
	FILTER_MARKER,
	FILTER_MAP,
	FILTER_CHAIN_LENGTH_MIN,
	FILTER_CHAIN_LENGTH_MAX,
	FILTER_CHAIN_LIFETIME_MIN,
	FILTER_CHAIN_LIFETIME_MAX,
	FILTER_CHAIN_POSITION_MIN,
	FILTER_CHAIN_POSITION_MAX,
	FILTER_FIRST_SIZE_MIN,
	FILTER_FIRST_SIZE_MAX,
	FILTER_LAST_SIZE_MIN,
	FILTER_LAST_SIZE_MAX,
	/* about stacks */
	FILTER_STACKS,
	FILTER_FUNCTION = FILTER_STACKS,
	FILTER_NOT_FUNCTION,
	FILTER_SOURCE,
	FILTER_NOT_SOURCE,
	FILTER_LIBRARY,
	FILTER_NOT_LIBRARY,
	FILTER_PASSES_THROUGH,
	FILTER_DEPTH_MIN,
	FILTER_DEPTH_MAX,
	FILTER_CONTEXT,
	FILTER_GROUP_COUNT_MIN,
	FILTER_GROUP_COUNT_MAX,
	FILTER_GROUP_LIVE_MIN,
	FILTER_GROUP_LIVE_MAX,
	FILTER_GROUP_INTERVAL_MIN,
	FILTER_GROUP_INTERVAL_MAX,
	FILTER_GROUP_PEAK_TIME_MIN,
	FILTER_GROUP_PEAK_TIME_MAX,
	FILTER_END
};

enum filter_fate {
	FILTER_FATE_LIVE,	/* never freed */
	FILTER_FATE_FREED,	/* by free or realloc */
	FILTER_FATE_TEMPORARY,	/* freed, and temporary */
	FILTER_FATE_CHAIN_LIVE,	/* the block realloc made of it was never
				 * freed */
	FILTER_FATE_GROUP_LIVE	/* some block of its context was never freed */
};

/* A word as given, and the meaning of its value. */
struct filter_word {
	enum filter_id id;
	const char *text;	/* the value */
	uint64_t number;	/* size, count, address, duration in ns; or the
				 * index of a choice in the `value` of its
				 * option */
	struct moment moment;	/* if the value is a moment */
	struct pattern *pattern;	/* if the value is a regular
					 * expression */
	/* If the value is a name or a number: some trace has it. */
	_Atomic bool matched;
};

extern const struct command_group filter_options;

/* `notes`: gets what is wrong with a word, where an errno does not say enough;
 * borrowed. */
struct filter *filter_new(struct notes *notes);
void filter_free(struct filter *filter);	/* NULL is allowed */

/* Whether an option's id is a filter word. */
bool filter_is_option(int id);
/* Add an option with its value, which is copied. 0; -EINVAL or -ERANGE if the
 * value is wrong; -ECANCELED, after a note, for an error in a regular
 * expression; -ENOENT if there is no such option. */
int filter_take(struct filter *filter, int id, const char *value);

/* The words as options, as given: " --size-min 64k"; "" if there are none.
 * Printable on a terminal; valid until the next filter_take. */
const char *filter_text(const struct filter *filter);

/* Whether the filter has conditions on blocks, on stacks. NULL has none. */
bool filter_has_blocks(const struct filter *filter);
bool filter_has_stacks(const struct filter *filter);
/* Whether the filter has conditions on how blocks end, or on chains. */
bool filter_needs_ends(const struct filter *filter);
/* Whether the filter has one of the ids from `first` to `last`. */
bool filter_has(const struct filter *filter, enum filter_id first,
		enum filter_id last);
/* The i-th word of this id, or NULL. */
const struct filter_word *filter_word(const struct filter *filter,
				      enum filter_id id, size_t i);
/* Record that the word matched something; several models may do so at the same
 * time. */
void filter_matched(const struct filter *filter,
		    const struct filter_word *word);

/* ---- filters_report.c ---- */

/* False: some words exclude each other, which is noted. */
bool filter_fits(const struct filter *filter, struct notes *notes);
/* Notes each name and number that nothing in the traces has. */
void filter_report_unmatched(const struct filter *filter, struct notes *notes);

#endif
