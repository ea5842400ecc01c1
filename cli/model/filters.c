/*
 * filters.c: see filters.h. One table has all words; the kind of a word's value
 * selects its parser.
 *
 * Called by any thread, each with a filter of its own.
 */
#include "cli/model/filters.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/text/buffer.h"
#include "cli/base/text/pattern.h"
#include "cli/base/text/quantity.h"

struct filter {
	struct filter_word *words;	/* in the order given */
	size_t word_count, word_capacity;
	struct buffer text;		/* the same as text */
	struct notes *notes;
};

#define WORD(id, name, value, help)					\
	[FILTER_##id - FILTER_FIRST] =					\
		{ FILTER_##id, name, 0, value, NULL, help }

static const struct command_option options[] = {
	WORD(FROM, "from", "MOMENT", "allocated at this moment or later: "
	     "250ms after the start, 30% of the run, @NAME of a marker or "
	     "snapshot, start"),
	WORD(TO, "to", "MOMENT", "allocated before this moment"),
	WORD(ALIVE_AT, "alive-at", "MOMENT", "alive at this moment; live "
	     "bytes and blocks are those of this moment"),
	WORD(ALIVE_AT_2, "alive-at-2", "MOMENT", "also alive at this moment"),
	WORD(SIZE_MIN, "size-min", "SIZE", "of this size or larger"),
	WORD(SIZE_MAX, "size-max", "SIZE", "of this size or smaller"),
	WORD(LIFETIME_MIN, "lifetime-min", "DURATION", "that lived this long "
	     "or longer, until they were freed or the recording ended"),
	WORD(LIFETIME_MAX, "lifetime-max", "DURATION", "that lived this long "
	     "or shorter"),
	WORD(FATE, "fate", "live|freed|temporary|chain-live|group-live",
	     "never freed; freed; freed soon after (see --temporary); whose "
	     "realloc chain was never freed; whose call stack has a "
	     "block that was never freed"),
	WORD(FREE_CONTEXT, "free-context", "N", "freed from the call stack with "
	     "this number in --json output; needs a recording with "
	     "--free-stacks"),
	WORD(THREAD, "thread", "THREAD", "allocated by this thread: its "
	     "number, or a regular expression that matches a name it had"),
	WORD(PROCESS, "process", "PROCESS", "of this process: its number, or "
	     "a regular expression that matches its program or command"),
	WORD(ADDRESS_MIN, "address-min", "ADDRESS", "at this address or "
	     "above"),
	WORD(ADDRESS_MAX, "address-max", "ADDRESS", "at this address or "
	     "below"),
	WORD(ALLOCATOR, "allocator", "libc|other", "of glibc's allocator, as "
	     "the header before the block shows, or of another one"),
	WORD(ARENA, "arena", "main|other", "in glibc's main arena, or in "
	     "another arena"),
	WORD(MMAPPED, "mmapped", "yes|no", "whether glibc gave the block a "
	     "mapping of its own"),
	WORD(HEAP, "heap", "REGEX", "in a heap that the program "
	     "announced (gnomon.h), with a matching name; without this filter "
	     "such blocks are left out; the allocator's heap is called malloc"),
	WORD(MARKER, "marker", "NAME", "allocated between this marker or "
	     "snapshot and the next"),
	WORD(MAP, "map", "MAP", "in this mapping when they were allocated: an "
	     "address in it, or a regular expression that matches its path "
	     "('heap' for memory from brk, '^$' for memory of no file)"),
	WORD(CHAIN_LENGTH_MIN, "chain-length-min", "N", "whose realloc "
	     "chain has this many blocks or more; 1: no realloc"),
	WORD(CHAIN_LENGTH_MAX, "chain-length-max", "N", "this many or fewer"),
	WORD(CHAIN_LIFETIME_MIN, "chain-lifetime-min", "DURATION", "whose "
	     "chain lived this long or longer"),
	WORD(CHAIN_LIFETIME_MAX, "chain-lifetime-max", "DURATION", "this "
	     "long or shorter"),
	WORD(CHAIN_POSITION_MIN, "chain-position-min", "N", "at this "
	     "position in their chain or later; the first is 1"),
	WORD(CHAIN_POSITION_MAX, "chain-position-max", "N", "at this "
	     "position or earlier"),
	WORD(FIRST_SIZE_MIN, "first-size-min", "SIZE", "whose chain began "
	     "with this size or more"),
	WORD(FIRST_SIZE_MAX, "first-size-max", "SIZE", "with this size or "
	     "less"),
	WORD(LAST_SIZE_MIN, "last-size-min", "SIZE", "whose chain ended with "
	     "this size or more"),
	WORD(LAST_SIZE_MAX, "last-size-max", "SIZE", "with this size or "
	     "less"),
	WORD(FUNCTION, "function", "REGEX", "with this function in the call "
	     "stack: its name as reports print it, with or without "
	     "parameters, or as printed with --full-names"),
	WORD(NOT_FUNCTION, "not-function", "REGEX", "without this function "
	     "in the call stack"),
	WORD(SOURCE, "source", "REGEX", "with this source file in the call "
	     "stack: its path, or its name alone"),
	WORD(NOT_SOURCE, "not-source", "REGEX", "without this source file in "
	     "the call stack"),
	WORD(LIBRARY, "library", "REGEX", "with this library in the call "
	     "stack"),
	WORD(NOT_LIBRARY, "not-library", "REGEX", "without this library in "
	     "the call stack"),
	WORD(PASSES_THROUGH, "passes-through", "REGEX", "with this function "
	     "as a caller, not as the innermost frame"),
	WORD(DEPTH_MIN, "depth-min", "N", "with this many frames or more"),
	WORD(DEPTH_MAX, "depth-max", "N", "with this many frames or fewer"),
	WORD(CONTEXT, "context", "N", "from the call stack with this number in "
	     "--json output"),
	WORD(GROUP_COUNT_MIN, "group-count-min", "N", "whose call stack "
	     "allocated this many blocks or more"),
	WORD(GROUP_COUNT_MAX, "group-count-max", "N", "this many or "
	     "fewer"),
	WORD(GROUP_LIVE_MIN, "group-live-min", "N", "whose call stack has "
	     "this many live blocks or more"),
	WORD(GROUP_LIVE_MAX, "group-live-max", "N", "this many or fewer"),
	WORD(GROUP_INTERVAL_MIN, "group-interval-min", "DURATION", "whose "
	     "call stack's first and last allocation are this far apart or "
	     "more"),
	WORD(GROUP_INTERVAL_MAX, "group-interval-max", "DURATION", "this "
	     "far apart or less"),
	WORD(GROUP_PEAK_TIME_MIN, "group-peak-time-min", "MOMENT", "whose call "
	     "stack had its own peak at this moment or later"),
	WORD(GROUP_PEAK_TIME_MAX, "group-peak-time-max", "MOMENT", "at this "
	     "moment or before"),
};

_Static_assert(sizeof(options) / sizeof(options[0]) ==
	       FILTER_END - FILTER_FIRST, "every word has an entry");

const struct command_group filter_options = {
	"filters: which blocks (all must match; of a repeated one, any value)",
	options, sizeof(options) / sizeof(options[0]),
};

/* ---- values ---- */

/* A thread or process: a number, or a regular expression. */
static int take_pattern(struct filter_word *word, struct notes *notes)
{
	char why[160];

	word->pattern = pattern_new(word->text, why, sizeof(why));
	if (word->pattern != NULL)
		return 0;
	notes_error(notes, "--%s: invalid expression `%s`: %s",
		    options[word->id - FILTER_FIRST].name, word->text, why);
	return -ECANCELED;	/* the message is printed */
}

static int take_who(struct filter_word *word, struct notes *notes)
{
	return quantity_parse_count(word->text, &word->number) == 0 ? 0 :
		take_pattern(word, notes);
}

static int take_address(struct filter_word *word, struct notes *notes)
{
	char *end;

	(void)notes;
	if (word->text[0] < '0' || word->text[0] > '9')
		return -EINVAL;
	errno = 0;
	word->number = strtoull(word->text, &end, 0);
	return *end != 0 ? -EINVAL : -errno;
}

/* An address, or a regular expression. */
static int take_map(struct filter_word *word, struct notes *notes)
{
	return take_address(word, notes) == 0 ? 0 : take_pattern(word, notes);
}

static int take_choice(struct filter_word *word, const char *choices)
{
	size_t size = strlen(word->text), n;

	for (;; choices += n + 1, word->number++) {
		n = strcspn(choices, "|");
		if (n == size && memcmp(choices, word->text, n) == 0)
			return 0;
		if (choices[n] == 0)
			return -EINVAL;
	}
}

static int take_moment(struct filter_word *word, struct notes *notes)
{
	(void)notes;
	return moment_parse(word->text, &word->moment);
}

static int take_name(struct filter_word *word, struct notes *notes)
{
	(void)notes;
	return word->text[0] == 0 ? -EINVAL : 0;
}

static const struct {
	const char *value;	/* as in the table of options */
	int (*take)(struct filter_word *word, struct notes *notes);
	int (*parse)(const char *text, uint64_t *number);	/* if parsing is
								 * all that is
								 * needed */
} kinds[] = {
	{ "MOMENT", .take = take_moment },
	{ "SIZE", .parse = quantity_parse_size },
	{ "DURATION", .parse = quantity_parse_time },
	{ "N", .parse = quantity_parse_count },
	{ "THREAD", .take = take_who },
	{ "PROCESS", .take = take_who },
	{ "ADDRESS", .take = take_address },
	{ "MAP", .take = take_map },
	{ "NAME", .take = take_name },
	{ "REGEX", .take = take_pattern },
};

static int take_value(struct filter_word *word, struct notes *notes)
{
	const char *value = options[word->id - FILTER_FIRST].value;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].value, value) == 0)
			return kinds[i].parse == NULL ?
				kinds[i].take(word, notes) :
				kinds[i].parse(word->text, &word->number);
	return take_choice(word, value);
}

/* ---- the filter ---- */

struct filter *filter_new(struct notes *notes)
{
	struct filter *filter = grow_zeroed(1, sizeof(*filter));

	filter->notes = notes;
	return filter;
}

void filter_free(struct filter *filter)
{
	if (filter == NULL)
		return;
	for (size_t i = 0; i < filter->word_count; i++) {
		pattern_free(filter->words[i].pattern);
		free((char *)filter->words[i].text);
	}
	free(filter->words);
	buffer_free(&filter->text);
	free(filter);
}

bool filter_is_option(int id)
{
	return id >= FILTER_FIRST && id < FILTER_END;
}

int filter_take(struct filter *filter, int id, const char *value)
{
	struct filter_word *word;
	int error;

	if (!filter_is_option(id))
		return -ENOENT;
	GROW(filter->words, filter->word_count, filter->word_capacity);
	word = &filter->words[filter->word_count];
	memset(word, 0, sizeof(*word));
	word->id = (enum filter_id)id;
	word->text = grow_copy(value, strlen(value));
	error = take_value(word, filter->notes);
	if (error != 0) {
		free((char *)word->text);
		return error;
	}
	filter->word_count++;
	buffer_printf(&filter->text, " --%s %s",
		      options[id - FILTER_FIRST].name, value);
	buffer_printable(&filter->text);
	return 0;
}

const char *filter_text(const struct filter *filter)
{
	return filter != NULL ? buffer_text(&filter->text) : "";
}

bool filter_has(const struct filter *filter, enum filter_id first,
		enum filter_id last)
{
	for (size_t i = 0; filter != NULL && i < filter->word_count; i++)
		if (filter->words[i].id >= first &&
		    filter->words[i].id <= last)
			return true;
	return false;
}

bool filter_needs_ends(const struct filter *filter)
{
	return filter_has(filter, FILTER_CHAIN_LENGTH_MIN,
			  FILTER_LAST_SIZE_MAX) ||
	       filter_has(filter, FILTER_ALIVE_AT, FILTER_ALIVE_AT_2) ||
	       filter_has(filter, FILTER_LIFETIME_MIN, FILTER_FREE_CONTEXT);
}

bool filter_has_blocks(const struct filter *filter)
{
	return filter_has(filter, FILTER_FIRST, FILTER_STACKS - 1);
}

bool filter_has_stacks(const struct filter *filter)
{
	return filter_has(filter, FILTER_STACKS, FILTER_END);
}

const struct filter_word *filter_word(const struct filter *filter,
				      enum filter_id id, size_t i)
{
	for (size_t at = 0; filter != NULL && at < filter->word_count; at++)
		if (filter->words[at].id == id && i-- == 0)
			return &filter->words[at];
	return NULL;
}

void filter_matched(const struct filter *filter,
		    const struct filter_word *word)
{
	struct filter_word *one = &filter->words[word - filter->words];

	/* Relaxed: the flag publishes no other data. */
	assert((size_t)(word - filter->words) < filter->word_count);
	atomic_store_explicit(&one->matched, true, memory_order_relaxed);
}
