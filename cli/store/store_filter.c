/*
 * store_filter.c: see store_filter.h.
 *
 * A term is evaluated on as few values as possible: on the bounds of a chunk;
 * if these do not decide, on each value of its dictionary, and on rows by their
 * codes; otherwise on each row.
 */
#include "cli/store/store_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "unwind/base/assertion.h"

/* How many values of a set are examined for a verdict on a chunk. */
#define SET_LOOK_MAX (1u << 20)

/* ---- one term ---- */

static bool set_has(const struct store_term *term, uint64_t value)
{
	return value < term->set_size &&
	       term->set[value / 64] >> (value % 64) & 1;
}

static bool term_has(const struct store_term *term, uint64_t value)
{
	bool has = term->set != NULL && set_has(term, value);

	for (size_t i = 0; i < term->range_count && !has; i++)
		has = value >= term->ranges[i].min &&
		      value <= term->ranges[i].max;
	return has != term->not;
}

/* The verdict for the part of the set within the bounds. */
static enum store_verdict set_verdict(const struct store_term *term,
				      struct store_range bounds)
{
	bool any = false, all = bounds.max < term->set_size;
	uint64_t last = all ? bounds.max : term->set_size - 1;

	if (term->set_size == 0 || bounds.min >= term->set_size)
		return STORE_NO_ROW;
	if (last - bounds.min > SET_LOOK_MAX)
		return STORE_SOME_ROWS;
	for (uint64_t value = bounds.min; value <= last; value++) {
		uint64_t word = term->set[value / 64];

		/* whole words at once */
		if (value % 64 == 0 && last - value >= 64 &&
		    (word == 0 || word == UINT64_MAX)) {
			any |= word != 0;
			all &= word != 0;
			value += 63;
			continue;
		}
		any |= word >> (value % 64) & 1;
		all &= word >> (value % 64) & 1;
	}
	return !any ? STORE_NO_ROW : all ? STORE_ALL_ROWS : STORE_SOME_ROWS;
}

static enum store_verdict ranges_verdict(const struct store_term *term,
					 struct store_range bounds)
{
	bool any = false;

	for (size_t i = 0; i < term->range_count; i++) {
		const struct store_range *range = &term->ranges[i];

		if (range->min <= bounds.min &&
		    range->max >= bounds.max)
			return STORE_ALL_ROWS;
		any |= range->min <= bounds.max &&
		       range->max >= bounds.min;
	}
	return any ? STORE_SOME_ROWS : STORE_NO_ROW;
}

static enum store_verdict term_verdict(const struct store_term *term,
				       struct store_range bounds)
{
	enum store_verdict verdict = ranges_verdict(term, bounds);

	if (term->set != NULL && verdict != STORE_ALL_ROWS) {
		enum store_verdict by_set = set_verdict(term, bounds);

		/* partial matches of ranges and set may cover all rows: not
		 * known */
		verdict = by_set > verdict ? by_set : verdict;
	}
	if (!term->not)
		return verdict;
	return verdict == STORE_ALL_ROWS ? STORE_NO_ROW :
	       verdict == STORE_NO_ROW ? STORE_ALL_ROWS : STORE_SOME_ROWS;
}

static void ask_values(const struct store_term *term, const uint64_t *values,
		       size_t count, uint8_t *keep)
{
	uint64_t min, span;

	if (term->set != NULL || term->range_count != 1 ||
	    term->ranges[0].min > term->ranges[0].max) {
		for (size_t i = 0; i < count; i++)
			keep[i] &= term_has(term, values[i]);
		return;
	}
	min = term->ranges[0].min;
	span = term->ranges[0].max - min;
	for (size_t i = 0; i < count; i++)
		keep[i] &= (values[i] - min <= span) ^ term->not;
}

/* ---- moments ---- */

/* One moment becomes two terms. */
static void add_moment(struct store_filter *filter, unsigned which)
{
	uint64_t stamp = filter->scan->alive[which].stamps[0];
	struct store_range *begins = &filter->bounds[which * 2];
	struct store_range *ends = begins + 1;

	*begins = (struct store_range){ 0, stamp };
	/* no block is live then: an empty range */
	*ends = stamp == STORE_NEVER ? (struct store_range){ 1, 0 } :
		(struct store_range){ stamp + 1, STORE_NEVER };
	filter->terms[filter->term_count++] = (struct store_term){
		.column = STORE_END, .ranges = ends, .range_count = 1,
	};
	filter->terms[filter->term_count++] = (struct store_term){
		.column = STORE_BEGIN, .ranges = begins, .range_count = 1,
	};
}

static bool is_alive(const struct store_moments *moments, uint64_t begin,
		     uint64_t end)
{
	for (size_t i = 0; i < moments->count; i++)
		if (begin <= moments->stamps[i] && end > moments->stamps[i])
			return true;
	return false;
}

static enum store_verdict moments_verdict(const struct store_moments *moments,
					  const struct store_chunk *chunk)
{
	struct store_range begins = store_chunk_bounds(chunk, STORE_BEGIN);
	struct store_range ends = store_chunk_bounds(chunk, STORE_END);

	if (is_alive(moments, begins.max, ends.min))
		return STORE_ALL_ROWS;
	return is_alive(moments, begins.min, ends.max) ?
		STORE_SOME_ROWS : STORE_NO_ROW;
}

/* ---- all of them ---- */

void store_filter_init(struct store_filter *filter,
		       const struct store_scan *scan,
		       struct store_chunk_reader *reading)
{
	ASSERT(scan->term_count <= STORE_TERMS_MAX);
	*filter = (struct store_filter){ .scan = scan, .reading = reading };
	for (unsigned i = 0; i < 2; i++)
		if (scan->alive[i].count == 1)
			add_moment(filter, i);
	for (size_t i = 0; i < scan->term_count; i++)
		filter->terms[filter->term_count++] = scan->terms[i];
}

void store_filter_free(struct store_filter *filter)
{
	free(filter->codes);
	filter->codes = NULL;
}

enum store_verdict store_filter_bounds(const struct store_filter *filter,
				       const struct store_chunk *chunk)
{
	enum store_verdict verdict = STORE_ALL_ROWS;

	for (size_t i = 0; i < filter->term_count; i++) {
		const struct store_term *term = &filter->terms[i];
		enum store_verdict one = term_verdict(term,
				store_chunk_bounds(chunk, term->column));

		verdict = one < verdict ? one : verdict;
	}
	for (unsigned i = 0; i < 2; i++) {
		const struct store_moments *moments = &filter->scan->alive[i];
		enum store_verdict one = moments->count <= 1 ? verdict :
			moments_verdict(moments, chunk);

		verdict = one < verdict ? one : verdict;
	}
	return verdict;
}

/* With a dictionary: evaluates each of its values. */
static enum store_verdict ask_codes(struct store_filter *filter,
				    struct store_filter_term *asked,
				    size_t number)
{
	const struct store_column_view *view =
		&filter->reading->columns[asked->term->column].view;
	size_t wanted = 0;

	if (filter->codes == NULL)
		filter->codes = grow_alloc((size_t)STORE_FILTER_TERMS *
					   STORE_DICTIONARY_MAX);
	asked->by_code = true;
	asked->codes = filter->codes + number * STORE_DICTIONARY_MAX;
	memset(asked->codes, 0, STORE_DICTIONARY_MAX);
	for (size_t i = 0; i < view->distinct; i++)
		wanted += asked->codes[i] =
			term_has(asked->term, view->dictionary[i]);
	return wanted == 0 ? STORE_NO_ROW :
	       wanted == view->distinct ? STORE_ALL_ROWS : STORE_SOME_ROWS;
}

/* Evaluates a term that bounds do not decide. */
static enum store_verdict ask_term(struct store_filter *filter,
				   const struct store_term *term, int *error)
{
	struct store_chunk_reader *reading = filter->reading;
	struct store_filter_term asked = { .term = term };
	enum store_verdict verdict = STORE_SOME_ROWS;

	if (term->column < STORE_STORED &&
	    !store_is_difference(term->column, reading->chunk->live)) {
		*error = store_chunk_reader_load(reading, term->column);
		if (*error != 0)
			return STORE_NO_ROW;
		if (reading->columns[term->column].view.distinct > 0)
			verdict = ask_codes(filter, &asked,
					    filter->asked_count);
	}
	if (verdict == STORE_SOME_ROWS)
		filter->asked[filter->asked_count++] = asked;
	return verdict;
}

enum store_verdict store_filter_chunk(struct store_filter *filter, int *error)
{
	const struct store_chunk *chunk = filter->reading->chunk;
	enum store_verdict verdict = store_filter_bounds(filter, chunk);

	*error = 0;
	filter->asked_count = 0;
	filter->moments[0] = filter->moments[1] = false;
	if (verdict != STORE_SOME_ROWS)
		return verdict;
	verdict = STORE_ALL_ROWS;
	for (size_t i = 0; i < filter->term_count; i++) {
		const struct store_term *term = &filter->terms[i];
		enum store_verdict one = term_verdict(term,
				store_chunk_bounds(chunk, term->column));

		if (one == STORE_SOME_ROWS)
			one = ask_term(filter, term, error);
		if (one == STORE_NO_ROW)
			return one;
		verdict = one < verdict ? one : verdict;
	}
	for (unsigned i = 0; i < 2; i++) {
		const struct store_moments *moments = &filter->scan->alive[i];

		filter->moments[i] = moments->count > 1 &&
			moments_verdict(moments, chunk) != STORE_ALL_ROWS;
		if (filter->moments[i])
			verdict = STORE_SOME_ROWS;
	}
	return verdict;
}

static int ask_rows(struct store_filter *filter,
		    const struct store_filter_term *asked, size_t block,
		    uint8_t *keep)
{
	struct store_chunk_reader *reading = filter->reading;
	size_t count = store_chunk_reader_rows(reading, block);
	enum store_column column = asked->term->column;
	const uint64_t *values;
	int error = -EBADMSG;

	values = asked->by_code
			 ? store_chunk_reader_codes(reading, column, block)
			 : store_chunk_reader_values(reading, column, block,
						     &error);
	if (values == NULL)
		return error;
	if (asked->by_code)
		for (size_t i = 0; i < count; i++)
			keep[i] &= asked->codes[values[i] %
						STORE_DICTIONARY_MAX];
	else
		ask_values(asked->term, values, count, keep);
	return 0;
}

static int ask_moments(struct store_filter *filter,
		       const struct store_moments *moments, size_t block,
		       uint8_t *keep)
{
	struct store_chunk_reader *reading = filter->reading;
	size_t count = store_chunk_reader_rows(reading, block);
	int error;
	const uint64_t *begins = store_chunk_reader_values(reading, STORE_BEGIN,
							   block, &error);
	const uint64_t *ends = begins == NULL ? NULL :
		store_chunk_reader_values(reading, STORE_END, block, &error);

	for (size_t i = 0; i < count && ends != NULL; i++)
		keep[i] &= is_alive(moments, begins[i], ends[i]);
	return error;
}

static bool has_kept(const uint8_t *keep, size_t count)
{
	return memchr(keep, 1, count) != NULL;
}

int store_filter_block(struct store_filter *filter, size_t block,
		       uint8_t *keep)
{
	size_t count = store_chunk_reader_rows(filter->reading, block);
	int error = 0;

	for (size_t i = 0; i < filter->asked_count && error == 0; i++) {
		error = ask_rows(filter, &filter->asked[i], block, keep);
		if (!has_kept(keep, count))
			return error;
	}
	for (unsigned i = 0; i < 2 && error == 0; i++)
		if (filter->moments[i])
			error = ask_moments(filter, &filter->scan->alive[i],
					    block, keep);
	return error;
}
