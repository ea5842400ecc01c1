/*
 * heaptrack_stacks.c: see heaptrack_stacks.h.
 *
 *  I1  Strings, places and stacks are numbered from 1 in the order of their
 *      lines. A line refers only to earlier lines.
 *  I2  Pair 0 is a dummy: after a free of pair 0, heaptrack's reader does not
 *      count the next free as temporary.
 *  I3  Only the latest pairs are remembered; an older pair may be written
 *      again. There may be as many sizes as blocks.
 */
#include "cli/export/heaptrack_stacks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/hash.h"
#include "cli/base/text/utf8.h"
#include "unwind/base/assertion.h"

#define PAIRS_MAX (1u << 20)
#define NO_PLACE (UINT64_C(1) << 32)

void heaptrack_number(struct compressed_file *out, uint64_t number)
{
	char text[17];
	size_t at = sizeof(text);

	do
		text[--at] = "0123456789abcdef"[number & 15];
	while ((number >>= 4) != 0);
	DEBUG_ASSERT(at > 0);
	text[--at] = ' ';
	compressed_file_bytes(out, text + at, sizeof(text) - at);
}

static uint32_t string_of(struct heaptrack_stacks *stacks, const char *text)
{
	struct buffer *scratch = &stacks->scratch;
	size_t before = stacks->strings.count;
	uint32_t number;

	if (text == NULL || text[0] == 0)
		return 0;
	buffer_clear(scratch);
	utf8_add(scratch, text);
	buffer_printable(scratch);	/* no line breaks */
	number = intern_number(&stacks->strings, scratch->data, scratch->size);
	if (number < before)
		return number + 1;
	compressed_file_byte(stacks->out, 's');
	heaptrack_number(stacks->out, scratch->size);
	compressed_file_byte(stacks->out, ' ');
	compressed_file_bytes(stacks->out, scratch->data, scratch->size);
	compressed_file_byte(stacks->out, '\n');
	return number + 1;
}

/* ---- places ---- */

struct line {
	uint32_t function, file;
	unsigned line;
};

static void begin_ip(struct heaptrack_stacks *stacks, uint64_t address,
		     uint32_t module)
{
	stacks->ips++;
	compressed_file_byte(stacks->out, 'i');
	heaptrack_number(stacks->out, address);
	heaptrack_number(stacks->out, module);
}

static void add_line(struct heaptrack_stacks *stacks, const struct line *line)
{
	heaptrack_number(stacks->out, line->function);
	heaptrack_number(stacks->out, line->file);
	heaptrack_number(stacks->out, line->line);
}

/* Write all strings first (I1), then the line. */
static uint32_t write_place(struct heaptrack_stacks *stacks,
			    const struct frames_place *place)
{
	struct line *lines = grow_alloc(place->count * sizeof(*lines));
	uint32_t module = string_of(stacks, place->list[0].path);

	for (uint32_t i = 0; i < place->count; i++)
		lines[i] = (struct line){
			string_of(stacks, place->list[i].function),
			string_of(stacks, place->list[i].file),
			place->list[i].line,
		};
	begin_ip(stacks, place->exact ? place->address : place->address - 1,
		 module);
	if (place->list[0].function != NULL)
		for (uint32_t i = 0; i < place->count; i++)
			add_line(stacks, &lines[i]);
	compressed_file_byte(stacks->out, '\n');
	free(lines);
	return stacks->ips;
}

static uint32_t ip_of(struct heaptrack_stacks *stacks, uint32_t place)
{
	uint32_t ip = table_get(&stacks->ip_of, place);

	if (ip != TABLE_NONE)
		return ip;
	ip = write_place(stacks, &stacks->frames->places[place]);
	table_set(&stacks->ip_of, place, ip);
	return ip;
}

/* A pseudo-place with a text about the stack. */
static uint32_t ip_of_words(struct heaptrack_stacks *stacks, uint32_t stop,
			    const char *words)
{
	uint32_t ip = table_get(&stacks->ip_of, NO_PLACE | stop);
	struct line line = { 0 };

	if (ip != TABLE_NONE)
		return ip;
	line.function = string_of(stacks, words);
	begin_ip(stacks, 0, 0);
	add_line(stacks, &line);
	compressed_file_byte(stacks->out, '\n');
	table_set(&stacks->ip_of, NO_PLACE | stop, stacks->ips);
	return stacks->ips;
}

/* ---- stacks ---- */

static uint32_t trace_in(struct heaptrack_stacks *stacks, uint32_t outer,
			 uint32_t ip)
{
	size_t before = stacks->traces.pair_count;
	uint32_t number = pairset_number(&stacks->traces, outer, ip);

	if (number < before)
		return number + 1;
	compressed_file_byte(stacks->out, 't');
	heaptrack_number(stacks->out, ip);
	heaptrack_number(stacks->out, outer);
	compressed_file_byte(stacks->out, '\n');
	return number + 1;
}

static uint32_t begin_early(void *owner, enum gt_stop stop, const char *words)
{
	struct heaptrack_stacks *stacks = owner;

	return trace_in(stacks, 0, ip_of_words(stacks, stop, words));
}

static uint32_t step_inward(void *owner, uint32_t outer, uint32_t place)
{
	struct heaptrack_stacks *stacks = owner;

	/* the profiler's own code */
	if (stacks->frames->places[place].count == 0)
		return outer;
	return trace_in(stacks, outer, ip_of(stacks, place));
}

static uint32_t trace_of(struct heaptrack_stacks *stacks, uint32_t node)
{
	uint32_t trace = context_value_of(&stacks->context_value, node);

	/* The reader shows trace 0 as an unknown place without a name. */
	return trace != 0 ? trace : trace_in(stacks, 0, ip_of_words(
		stacks, UINT32_MAX, "[no stack]"));
}

/* ---- pairs ---- */

static uint32_t new_pair(struct heaptrack_stacks *stacks, uint64_t size,
			 uint32_t trace, uint32_t next)
{
	assert(stacks->pair_count < PAIRS_MAX); /* I3 */
	GROW(stacks->pairs, stacks->pair_count, stacks->pair_capacity);
	stacks->pairs[stacks->pair_count] =
		(struct heaptrack_pair){ size, trace, next };
	compressed_file_byte(stacks->out, 'a');
	heaptrack_number(stacks->out, size);
	heaptrack_number(stacks->out, trace);
	compressed_file_byte(stacks->out, '\n');
	return stacks->first_pair + (uint32_t)stacks->pair_count++;
}

static void forget_pairs(struct heaptrack_stacks *stacks)
{
	stacks->first_pair += (uint32_t)stacks->pair_count;
	stacks->pair_count = 0;
	table_free(&stacks->pair_of);
}

uint32_t heaptrack_pair(struct heaptrack_stacks *stacks, uint64_t size,
			uint32_t node)
{
	uint32_t trace = trace_of(stacks, node), first, number;
	uint64_t key = hash_number(size) + trace;

	if (stacks->pair_count == 0 && stacks->first_pair == 0)
		new_pair(stacks, 0, 1, TABLE_NONE);	/* I2; trace 1 exists */
	if (stacks->pair_count == PAIRS_MAX)
		forget_pairs(stacks);
	first = table_get(&stacks->pair_of, key);
	for (number = first; number != TABLE_NONE;) {
		DEBUG_ASSERT(number >= stacks->first_pair &&
			     number - stacks->first_pair < stacks->pair_count);
		const struct heaptrack_pair *pair =
			&stacks->pairs[number - stacks->first_pair];

		if (pair->size == size && pair->trace == trace)
			return number;
		number = pair->next;
	}
	number = new_pair(stacks, size, trace, first);
	table_set(&stacks->pair_of, key, number);
	return number;
}

/* ---- setup ---- */

void heaptrack_stacks_init(struct heaptrack_stacks *stacks,
			   struct frames *frames, struct compressed_file *out)
{
	memset(stacks, 0, sizeof(*stacks));
	stacks->frames = frames;
	stacks->out = out;
	context_value_init(&stacks->context_value, frames, begin_early,
			   step_inward, stacks);
}

void heaptrack_stacks_free(struct heaptrack_stacks *stacks)
{
	context_value_free(&stacks->context_value);
	intern_free(&stacks->strings);
	table_free(&stacks->ip_of);
	pairset_free(&stacks->traces);
	table_free(&stacks->pair_of);
	free(stacks->pairs);
	buffer_free(&stacks->scratch);
}
