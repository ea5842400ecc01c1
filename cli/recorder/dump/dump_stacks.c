/*
 * dump_stacks.c: see dump_stacks.h.
 *
 *	rows ─▶ a text for each, of its frames ─▶ equal texts added up
 *	     ─▶ sorted ─▶ lines
 *
 * Stacks are merged if their printed texts are equal: names may be edited,
 * frames hidden, stacks cut.
 */
#include "cli/recorder/dump/dump_stacks.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/base/base.h"
#include "unwind/base/assertion.h"

#define DUMP_BUCKETS 16384
#define DUMP_FIRST_DEPTH 512
#define DUMP_NUMBER 32		/* bytes of a number with its word */

/* One printed stack, of one or more contexts. */
struct dump_stack {
	struct dump_stack *chain;
	const char *text;
	uint32_t length;
	uint32_t hash;
	uint64_t key;		/* the field to sort by */
	uint64_t field[DUMP_FIELDS];
};

static const char *const dump_fields[DUMP_FIELDS] = { "count", "total", "live",
						      "peak", "blocks" };

int dump_how_complete(struct dump_how *how)
{
	static const char *const usual[DUMP_WORDS] = {
		[DUMP_PREFIX] = "", [DUMP_BETWEEN_FRAMES] = ";",
		[DUMP_BEFORE_NUMBERS] = " ", [DUMP_BETWEEN_NUMBERS] = " ",
	};
	struct dump_options *options = &how->options;
	unsigned i;

	if (!options->fields)
		options->fields = GNOMON_LIVE;
	if (!options->sort)
		options->sort = options->fields & -options->fields;
	if (!options->least)
		options->least = 1;
	for (i = 0; i < DUMP_WORDS; i++)
		how->word[i] = options->words >> i & 1 ? "" : usual[i];
	if (options->form > GNOMON_DETAIL || options->fields >> DUMP_FIELDS ||
	    options->sort >> DUMP_FIELDS ||
	    options->sort & (options->sort - 1))
		return -EINVAL;
	return 0;
}

static bool dump_is_detail(const struct dump_stacks *d)
{
	return d->how->options.form == GNOMON_DETAIL;
}

int dump_stacks_begin(struct dump_stacks *d)
{
	d->buckets = scratch_alloc(d->memory,
				   DUMP_BUCKETS * sizeof(*d->buckets));
	return d->buckets ? 0 : -ENOMEM;
}

/* ---- from stacks to texts ---- */

static int dump_path_grow(struct dump_stacks *d)
{
	size_t max = d->path_max ? 2 * d->path_max : DUMP_FIRST_DEPTH;
	const struct dump_frames_one **path =
		scratch_alloc(d->memory, max * sizeof(*path));

	if (!path)
		return -ENOMEM;
	if (d->path)
		memcpy(path, d->path, d->path_max * sizeof(*path));
	d->path = path;
	d->path_max = max;
	return 0;
}

static bool dump_has_from(const struct dump_stacks *d)
{
	return d->from || d->how->word[DUMP_FROM];
}

static bool dump_is_from(const struct dump_stacks *d,
			 const struct dump_frames_one *f)
{
	const char *from = d->how->word[DUMP_FROM];

	if (d->from)
		return dump_frames_same(f, d->from);
	return strcmp(f->name, from) == 0 ||
	       (f->frame.symbol && strcmp(f->frame.symbol, from) == 0);
}

/*
 * Puts the printed frames of a context into d->path; returns how many, or an
 * error. If a function to start at or to cut after occurs several times, the
 * outermost one counts.
 */
static long dump_path(struct dump_stacks *d, uint32_t context)
{
	const struct dump_frames_one *f;
	bool below = dump_has_from(d);
	size_t n = 0, first = 0, end = 0, i, kept = 0;

	while ((f = dump_frames_step(d->frames, &context)) != NULL) {
		if (n == d->path_max && dump_path_grow(d))
			return -ENOMEM;
		d->path[n++] = f;
		if (below && dump_is_from(d, f))
			end = n;
	}
	if (!below)
		end = n;
	for (i = 0; i < end; i++)
		if (d->path[i]->edit == GNOMON_CUT)
			first = i;
	for (i = first; i < end; i++)
		if (d->path[i]->edit != GNOMON_HIDE)
			d->path[kept++] = d->path[i];
	DEBUG_ASSERT(first <= end && end <= n && kept <= n);
	return kept;
}

static size_t dump_frame_size(const struct dump_stacks *d,
			      const struct dump_frames_one *f)
{
	/* the text around names and numbers in a line of details */
	return strlen(f->name) + strlen(d->how->word[DUMP_BETWEEN_FRAMES]) +
	       (dump_is_detail(d) ? strlen(f->frame.module) + 128 : 0);
}

/* Writes the line of the i-th frame; returns its length. */
static size_t dump_detail(char *to, size_t room,
			  const struct dump_frames_one *f, size_t i)
{
	const struct gnomon_frame *g = &f->frame;
	char symbol[24] = "", module[24] = "";

	if (g->symbol)
		snprintf(symbol, sizeof(symbol), "+0x%" PRIx64,
			 g->symbol_offset);
	if (*g->module)
		snprintf(module, sizeof(module), "+0x%" PRIx64 ")",
			 g->module_offset);
	return snprintf(to, room, "\t#%zu 0x%" PRIx64 " %s%s%s%s%s\n", i,
			g->address, f->name, symbol, *g->module ? " (" : "",
			g->module, module);
}

/* The text of the frames in d->path, and its length; NULL: no memory. */
static const char *dump_text(struct dump_stacks *d, size_t depth,
			     size_t *length)
{
	const char *const *word = d->how->word;
	size_t size = strlen(word[DUMP_PREFIX]) + 1, i;
	char *text, *to;

	for (i = 0; i < depth; i++)
		size += dump_frame_size(d, d->path[i]);
	text = to = scratch_alloc(d->memory, size);
	if (!text)
		return NULL;
	if (dump_is_detail(d)) {
		for (i = 0; i < depth; i++)
			to += dump_detail(to, text + size - to, d->path[i], i);
	} else {
		to = stpcpy(to, word[DUMP_PREFIX]);
		for (i = depth; i > 0; i--) {
			to = stpcpy(to, d->path[i - 1]->name);
			if (i > 1)
				to = stpcpy(to, word[DUMP_BETWEEN_FRAMES]);
		}
	}
	*length = to - text;
	assert(*length < size);
	return text;
}

static uint32_t dump_hash(const char *text, size_t length)
{
	uint64_t h = length;
	size_t i;

	for (i = 0; i < length; i++)
		h = (h ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
	return h >> 32 ^ h;
}

static int dump_add(struct dump_stacks *d, const char *text, size_t length,
		    const struct dump_row *row)
{
	uint32_t hash = dump_hash(text, length);
	struct dump_stack **bucket = &d->buckets[hash % DUMP_BUCKETS], *s;
	unsigned i;

	for (s = *bucket; s; s = s->chain)
		if (s->hash == hash && s->length == length &&
		    memcmp(s->text, text, length) == 0)
			break;
	if (!s) {
		s = scratch_alloc(d->memory, sizeof(*s));
		if (!s)
			return -ENOMEM;
		s->hash = hash;
		s->length = length;
		s->text = text;
		s->chain = *bucket;
		*bucket = s;
		d->count++;
	}
	for (i = 0; i < DUMP_FIELDS; i++)
		s->field[i] += row->field[i];
	return 0;
}

int dump_stacks_add(struct dump_stacks *d, const struct dump_row *row)
{
	long depth = dump_path(d, row->context);
	const char *text;
	size_t length;

	if (depth < 0)
		return depth;
	if (!depth && dump_has_from(d))
		return 0;
	text = dump_text(d, depth, &length);
	return text ? dump_add(d, text, length, row) : -ENOMEM;
}

/* ---- in order ---- */

static int dump_compare(const void *a, const void *b)
{
	const struct dump_stack *one = *(struct dump_stack *const *)a;
	const struct dump_stack *other = *(struct dump_stack *const *)b;

	if (one->key != other->key)
		return one->key > other->key ? -1 : 1;
	return strcmp(one->text, other->text);
}

/* Allocates room for any line: its text, and numbers with separators. */
static int dump_line_room(struct dump_stacks *d, size_t longest)
{
	const char *const *word = d->how->word;

	d->line_max = longest + strlen(word[DUMP_BEFORE_NUMBERS]) +
		      DUMP_FIELDS * (strlen(word[DUMP_BETWEEN_NUMBERS]) +
				     DUMP_NUMBER) + 2;
	d->line = scratch_alloc(d->memory, d->line_max);
	return d->line ? 0 : -ENOMEM;
}

int dump_stacks_sort(struct dump_stacks *d)
{
	const struct dump_options *options = &d->how->options;
	size_t n = 0, longest = 0, i;
	struct dump_stack *s;

	d->list = scratch_alloc(d->memory, d->count * sizeof(*d->list) + 1);
	if (!d->list)
		return -ENOMEM;
	for (i = 0; i < DUMP_BUCKETS; i++)
		for (s = d->buckets[i]; s; s = s->chain) {
			s->key = s->field[__builtin_ctz(options->sort)];
			if (s->key < options->least)
				continue;
			d->list[n++] = s;
			longest = base_max(longest, s->length);
		}
	assert(n <= d->count);
	qsort(d->list, n, sizeof(*d->list), dump_compare);
	d->count = options->most ? base_min(n, options->most) : n;
	return dump_line_room(d, longest);
}

/* ---- out ---- */

/* Writes the numbers in the order of the bits, with words in a line of details.
 * Returns their end. */
static char *dump_numbers(const struct dump_stacks *d,
			  const struct dump_stack *s, char *to)
{
	bool detail = dump_is_detail(d), first = true;
	const char *between =
		detail ? " " : d->how->word[DUMP_BETWEEN_NUMBERS];
	unsigned i;

	for (i = 0; i < DUMP_FIELDS; i++) {
		if (!(d->how->options.fields >> i & 1))
			continue;
		if (!first)
			to = stpcpy(to, between);
		to += snprintf(to, DUMP_NUMBER, "%s%s%" PRIu64,
			       detail ? dump_fields[i] : "", detail ? " " : "",
			       s->field[i]);
		first = false;
	}
	return to;
}

/* Composes a line; dump_line_room has made room. */
static void dump_line(struct dump_stacks *d, const struct dump_stack *s)
{
	char *to = d->line;

	if (dump_is_detail(d)) {
		to = dump_numbers(d, s, to);
		*to++ = '\n';
		to = mempcpy(to, s->text, s->length);
	} else {
		to = mempcpy(to, s->text, s->length);
		to = stpcpy(to, d->how->word[DUMP_BEFORE_NUMBERS]);
		to = dump_numbers(d, s, to);
		*to++ = '\n';
	}
	d->line_size = to - d->line;
	d->line_reported = 0;
	assert(d->line_size <= d->line_max);
}

size_t dump_stacks_lines(struct dump_stacks *d, char *to, size_t room)
{
	size_t done = 0, n;

	for (;;) {
		if (d->line_reported == d->line_size) {
			if (d->reported == d->count)
				return done;
			dump_line(d, d->list[d->reported++]);
		}
		n = d->line_size - d->line_reported;
		if (done && n > room - done)
			return done;
		n = base_min(n, room - done);
		DEBUG_ASSERT(done + n <= room);
		memcpy(to + done, d->line + d->line_reported, n);
		d->line_reported += n;
		done += n;
		if (d->line_reported < d->line_size)
			return done;
	}
}
