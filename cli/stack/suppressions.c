/*
 * suppressions.c: see suppressions.h. Called by the main thread.
 *
 * Each pattern is tried once on each frame of each place in the program;
 * matches are stored by place, in the order of frames. Two folds over the stack
 * (context_value.h) find the first matching rule with a single pattern, and
 * whether rules with several patterns have any match. Only in the second case
 * frames are examined one by one, as long as such a rule may still match. For
 * each rule there is a bit set of the patterns that the next frame may match.
 * With recursion there are several, so the rule runs like a nondeterministic
 * automaton.
 *
 *  I1  gaps has bit 0 unless the first pattern requires the innermost frame.
 */
#include "cli/stack/suppressions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/text/buffer.h"
#include "cli/model/core/contexts.h"
#include "cli/stack/context_value.h"
#include "unwind/base/assertion.h"

#define ARROW " <- "
#define LONGER 0x80000000u	/* in values; the other bits are a rule's number
				 * + 1, or 0 */

/* A pattern matches this frame of a place. */
struct hit {
	uint32_t frame;
	uint32_t pattern;
};

struct hits {
	struct hit *list;
	size_t count;
	bool tried;
};

/* Flags of patterns for the current model. */
enum { WANTED = 1, WANTED_IN_ANY_FORM = 2 };

struct suppressions_bound {
	struct frames *frames;
	struct context_value context_value;
	struct hits *places;
	size_t place_capacity;
	uint32_t *single;	/* by pattern: the first rule with only this
				 * pattern */
	uint32_t *longer;	/* rules with several patterns */
	size_t longer_count;
	uint32_t *next;		/* for each of them: patterns that may come
				 * next */
	uint8_t *wanted;	/* by pattern: active rules use it (WANTED) */
	bool *in_longer;	/* by pattern: used in one of `longer` */
};

/* ---- patterns ---- */

static bool equal(const char *text, const char *piece, size_t size)
{
	return strncmp(text, piece, size) == 0;
}

static const char *find(const char *text, const char *piece, size_t size)
{
	size_t left = strlen(text);

	return size == 0 ? text : memmem(text, left, piece, size);
}

/* Pieces between stars are searched from left to right, each at its leftmost
 * position: if that fails, no other choice succeeds. The last piece of an
 * anchored pattern has only one possible position. */
bool suppressions_match(const char *pattern, const char *text)
{
	size_t size = strlen(pattern);
	bool at_end = size > 0 && pattern[size - 1] == '$';
	bool at_begin = pattern[0] == '^';
	const char *end = pattern + size - at_end;
	const char *at = pattern + at_begin;

	if (text[0] == 0)
		return false;
	/* "^" or "$" alone matches any text. */
	for (bool first = true; at <= end; first = false) {
		const char *star = memchr(at, '*', (size_t)(end - at));
		size_t n = (size_t)((star ? star : end) - at);
		bool begins = first && at_begin, ends = !star && at_end;

		if (ends) {
			size_t left = strlen(text);

			return left >= n && equal(text + left - n, at, n) &&
				(!begins || left == n);
		}
		if (begins && !equal(text, at, n))
			return false;
		text = begins ? text : find(text, at, n);
		if (text == NULL)
			return false;
		text += n;
		if (star == NULL)
			return true;
		at = star + 1;
	}
	return true;
}

/* ---- parsing ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static void trim(const char **text, size_t *size)
{
	while (*size > 0 && is_blank((*text)[0]))
		(*text)++, (*size)--;
	while (*size > 0 && is_blank((*text)[*size - 1]))
		(*size)--;
}

static bool is_word(const char *text, size_t size, const char *word)
{
	return size == strlen(word) && memcmp(text, word, size) == 0;
}

/* Takes one pattern of a rule; returns an error text, or NULL. */
static const char *take_pattern(struct suppressions *rules,
				struct suppression *rule, const char *text,
				size_t size)
{
	if (size == 0)
		return "an empty pattern would match everything: "
			"write leak:PATTERN";
	if (size >= 2 && (memcmp(text, "<-", 2) == 0 ||
			  memcmp(text + size - 2, "<-", 2) == 0))
		return "an arrow without a pattern: write INNER <- OUTER";
	if (rule->pattern_count > 0 && is_word(text, size, "..."))
		return "dots at the end match anything: leave them out";
	if (rule->pattern_count == SUPPRESSION_PATTERNS_MAX)
		return "too many patterns in one rule: leave some out";
	rule->patterns[rule->pattern_count++] =
		intern_number(&rules->patterns, text, size);
	return NULL;
}

static const char *take_patterns(struct suppressions *rules,
				 struct suppression *rule, const char *text,
				 size_t size)
{
	const size_t arrow = strlen(ARROW);
	const char *why = NULL, *next;

	rule->pattern_count = 0;
	rule->gaps = 1;
	for (bool first = true; why == NULL; first = false) {
		const char *pattern = text;
		size_t n;

		next = memmem(text, size, ARROW, arrow);
		n = next ? (size_t)(next - text) : size;
		trim(&pattern, &n);
		if (next != NULL && is_word(pattern, n, "..."))
			rule->gaps |= 1u << rule->pattern_count;
		else if (next != NULL && first && is_word(pattern, n, "^"))
			rule->gaps = 0;
		else
			why = take_pattern(rules, rule, pattern, n);
		if (next == NULL)
			break;
		size -= (size_t)(next - text) + arrow;
		text = next + arrow;
	}
	return why;
}

static const char *take_line(struct suppressions *rules, const char *line,
			     size_t size, struct suppression *rule)
{
	const char *why;

	if (memchr(line, 0, size) != NULL)
		return "contains a byte 0: this is no text file";
	if (size < 5 || memcmp(line, "leak:", 5) != 0)
		return "no rule: write leak:PATTERN, or # before a comment";
	if (rules->count == SUPPRESSIONS_MAX)
		return "too many rules: leave some out";
	line += 5;
	size -= 5;
	trim(&line, &size);
	why = take_patterns(rules, rule, line, size);
	if (why != NULL)
		return why;
	rule->text = intern_bytes(&rules->names, line, size);
	rule->active = true;
	GROW(rules->list, rules->count, rules->capacity);
	rules->list[rules->count++] = *rule;
	return NULL;
}

int suppressions_parse(struct suppressions *rules, const char *text,
		       size_t size, enum suppression_source source,
		       const char *origin, struct notes *notes)
{
	struct suppression rule = { .source = source };
	size_t before = rules->count;

	/* some editors write a UTF-8 byte order mark */
	if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		size -= 3;
	}
	rule.origin = intern_string(&rules->names, origin);
	while (size > 0) {
		const char *newline = memchr(text, '\n', size), *line = text;
		size_t n = newline ? (size_t)(newline - text) : size;
		const char *why = NULL;

		text += newline ? n + 1 : n;
		size -= newline ? n + 1 : n;
		trim(&line, &n);
		rule.line++;
		if (n > 0 && line[0] != '#')
			why = take_line(rules, line, n, &rule);
		if (why == NULL)
			continue;
		notes_error(notes, "%s:%u: %s", origin, rule.line, why);
		rules->count = before;
		return -EINVAL;
	}
	return 0;
}

int suppressions_read(struct suppressions *rules, const char *path,
		      struct notes *notes)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;
	int error = 0;

	if (file != NULL) {
		text = grow_alloc(SUPPRESSIONS_FILE_MAX + 1);
		size = fread(text, 1, SUPPRESSIONS_FILE_MAX + 1, file);
	}
	if (file == NULL || ferror(file)) {
		error = -EINVAL;
		notes_error(notes, "%s: cannot be read: %s", path,
			    strerror(errno));
	} else if (size > SUPPRESSIONS_FILE_MAX) {
		error = -EINVAL;
		notes_error(notes, "%s: larger than 1 MiB: too large for "
			    "suppressions", path);
	} else {
		error = suppressions_parse(rules, text, size,
					   SUPPRESSION_FILE, path, notes);
	}
	if (file != NULL)
		fclose(file);
	free(text);
	return error;
}

/* ---- on frames ---- */

static bool matches_name(void *pattern, const char *name)
{
	return suppressions_match(pattern, name);
}

/*
 * Matches as LeakSanitizer does. The user's rules also match the name as
 * reports print it. Built-in rules do not: they mean C functions, and
 * setenv(Config&) is another function.
 */
static bool matches(const struct frames *frames, const char *pattern,
		    unsigned wanted, const struct frame *frame)
{
	const char *library = frame->path ? frame->path : frame->library;

	const char *function = frame->nameless ? NULL : frame->function;

	return (function && suppressions_match(pattern, function)) ||
		(function && wanted & WANTED_IN_ANY_FORM &&
		frames_function_matches(frames, function, matches_name,
					(char *)pattern)) ||
		(frame->file && suppressions_match(pattern, frame->file)) ||
		(library && suppressions_match(pattern, library));
}

static void try_place(const struct suppressions *rules, uint32_t number,
		      struct hits *hits)
{
	const struct suppressions_bound *bound = rules->bound;
	const struct frames_place *place = &bound->frames->places[number];
	size_t capacity = 0;

	hits->tried = true;
	for (uint32_t i = 0; i < place->count; i++)
		for (uint32_t p = 0; p < rules->patterns.count; p++) {
			if (!bound->wanted[p] ||
			    !matches(bound->frames, rules->patterns.list[p],
				     bound->wanted[p], &place->list[i]))
				continue;
			GROW(hits->list, hits->count, capacity);
			hits->list[hits->count++] = (struct hit){ i, p };
		}
}

static const struct hits *hits_at(const struct suppressions *rules,
				  uint32_t place)
{
	struct suppressions_bound *bound = rules->bound;

	GROW_TO(bound->places, bound->place_capacity, place);
	if (!bound->places[place].tried)
		try_place(rules, place, &bound->places[place]);
	return &bound->places[place];
}

/* Of the rules with one pattern, the one that matches the innermost frame of
 * the place: its number + 1, or 0. */
static uint32_t single_at(const struct suppressions_bound *bound,
			  const struct hits *hits)
{
	uint32_t found = SUPPRESSION_NONE;

	for (size_t i = 0; i < hits->count; i++) {
		uint32_t rule = bound->single[hits->list[i].pattern];

		if (i > 0 && found != SUPPRESSION_NONE &&
		    hits->list[i].frame != hits->list[i - 1].frame)
			break;
		if (rule < found)
			found = rule;
	}
	return found == SUPPRESSION_NONE ? 0 : found + 1;
}

static uint32_t go_inward(void *owner, uint32_t outer, uint32_t place)
{
	const struct suppressions *rules = owner;
	const struct hits *hits = hits_at(rules, place);
	uint32_t single = single_at(rules->bound, hits);
	uint32_t longer = outer & LONGER;

	for (size_t i = 0; i < hits->count; i++)
		if (rules->bound->in_longer[hits->list[i].pattern])
			longer = LONGER;
	return longer | (single ? single : outer & ~LONGER);
}

/* Advances all rules by one frame outward; returns the first rule that is
 * complete. */
static uint32_t advance(struct suppressions *rules, const struct hit *hits,
			size_t count)
{
	struct suppressions_bound *bound = rules->bound;
	uint32_t found = SUPPRESSION_NONE;

	for (size_t i = 0; i < count; i++)
		if (bound->single[hits[i].pattern] < found)
			found = bound->single[hits[i].pattern];
	for (size_t r = 0; r < bound->longer_count; r++) {
		const struct suppression *rule =
			&rules->list[bound->longer[r]];
		uint32_t now = bound->next[r];

		DEBUG_ASSERT(!(now >> rule->pattern_count >> 1));
		bound->next[r] = now & rule->gaps;
		for (unsigned p = 0; p < rule->pattern_count && count; p++)
			for (size_t i = 0; now >> p & 1 && i < count; i++)
				if (hits[i].pattern == rule->patterns[p])
					bound->next[r] |= 2u << p;
		if (bound->next[r] >> rule->pattern_count & 1 &&
		    bound->longer[r] < found)
			found = bound->longer[r];
	}
	return found;
}

static uint32_t find_in_place(struct suppressions *rules, uint32_t place)
{
	const struct hits *hits = hits_at(rules, place);
	uint32_t count = rules->bound->frames->places[place].count;
	uint32_t rule = SUPPRESSION_NONE;
	size_t at = 0;

	for (uint32_t i = 0; i < count && rule == SUPPRESSION_NONE; i++) {
		size_t first = at;

		while (at < hits->count && hits->list[at].frame == i)
			at++;
		rule = advance(rules, hits->list + first, at - first);
	}
	return rule;
}

static bool is_alive(const struct suppressions_bound *bound)
{
	for (size_t i = 0; i < bound->longer_count; i++)
		if (bound->next[i] != 0)
			return true;
	return false;
}

uint32_t suppressions_find(struct suppressions *rules, uint32_t node)
{
	struct suppressions_bound *bound = rules->bound;
	const struct context_node *nodes = bound->frames->contexts->nodes;
	uint32_t value, rule = SUPPRESSION_NONE;
	bool exact = false;

	if (rules->count == 0)
		return SUPPRESSION_NONE;
	value = context_value_of(&bound->context_value, node);
	for (size_t i = 0; i < bound->longer_count; i++)
		bound->next[i] = 1;
	for (; value & LONGER && node >= CONTEXT_ROOTS && is_alive(bound);
	     node = nodes[node].parent) {
		uint32_t place = frames_place(bound->frames, node, exact);

		exact = bound->frames->places[place].signal;
		rule = find_in_place(rules, place);
		if (rule != SUPPRESSION_NONE)
			return rule;
	}
	/* The first rule with one pattern, if any: 0 - 1 is
	 * SUPPRESSION_NONE. */
	return (value & ~LONGER) - 1;
}

/* ---- models ---- */

static void unbind(struct suppressions *rules)
{
	struct suppressions_bound *bound = rules->bound;

	if (bound == NULL)
		return;
	context_value_free(&bound->context_value);
	for (size_t i = 0; i < bound->place_capacity; i++)
		free(bound->places[i].list);
	free(bound->places);
	free(bound->single);
	free(bound->longer);
	free(bound->next);
	free(bound->wanted);
	free(bound->in_longer);
	free(bound);
	rules->bound = NULL;
}

static void activate(struct suppressions *rules, uint32_t number)
{
	struct suppressions_bound *bound = rules->bound;
	const struct suppression *rule = &rules->list[number];

	bool longer = rule->pattern_count > 1 || !(rule->gaps & 1);

	for (unsigned p = 0; p < rule->pattern_count; p++) {
		bound->wanted[rule->patterns[p]] |= WANTED |
			(rule->source != SUPPRESSION_BUILT_IN ?
			 WANTED_IN_ANY_FORM : 0);
		bound->in_longer[rule->patterns[p]] |= longer;
	}
	DEBUG_ASSERT(rule->pattern_count > 0);
	if (longer)
		bound->longer[bound->longer_count++] = number;
	else if (bound->single[rule->patterns[0]] == SUPPRESSION_NONE)
		bound->single[rule->patterns[0]] = number;
}

void suppressions_bind(struct suppressions *rules, struct frames *frames,
		       const char *program)
{
	struct suppressions_bound *bound;

	unbind(rules);
	bound = grow_zeroed(1, sizeof(*bound));
	bound->frames = frames;
	context_value_init(&bound->context_value, frames, NULL, go_inward,
			   rules);
	bound->wanted = grow_zeroed(rules->patterns.count,
				    sizeof(*bound->wanted));
	bound->in_longer = grow_zeroed(rules->patterns.count,
				       sizeof(*bound->in_longer));
	bound->single = grow_resize(NULL, rules->patterns.count,
				    sizeof(*bound->single));
	for (size_t i = 0; i < rules->patterns.count; i++)
		bound->single[i] = SUPPRESSION_NONE;
	bound->longer = grow_resize(NULL, rules->count,
				    sizeof(*bound->longer));
	bound->next = grow_resize(NULL, rules->count, sizeof(*bound->next));
	rules->bound = bound;
	for (size_t i = 0; i < rules->count; i++) {
		struct suppression *rule = &rules->list[i];

		rule->active = rule->source != SUPPRESSION_PROGRAM ||
			(program && strcmp(rule->origin, program) == 0);
		if (rule->active)
			activate(rules, (uint32_t)i);
	}
}

void suppressions_free(struct suppressions *rules)
{
	unbind(rules);
	free(rules->list);
	intern_free(&rules->names);
	intern_free(&rules->patterns);
	memset(rules, 0, sizeof(*rules));
}
