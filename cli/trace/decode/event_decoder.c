/*
 * event_decoder.c: decodes the columns of an EVENTS chunk into events; see
 * trace_format.h, recent.h. Called by the reader's thread.
 *
 * I1: an age refers to an earlier address of the chunk, among the last
 *     recent_mask + 1. These are all addresses, or GT_RECENT.
 * I2: decoding AT_ONCE events reads at most COLUMNS_PAD bytes of a column, so
 *     the column's end is checked only after them. Bytes read beyond the end
 *     are memory of the columns, and the chunk is bad.
 */
#include "cli/trace/decode/records.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/trace/format/recent.h"
#include "unwind/base/assertion.h"

#define COLUMNS_MIN 4		/* all columns of major version 1 */
#define COLUMN_EXTRA 5
#define COLUMN_RUN 6
#define COLUMN_TICKS 7
#define COLUMN_FREED_BY 8
/* In major versions 1 and 2 this is the last: kind and stamp share a column. */
#define COLUMN_FREED_BY_STEPS 6
/* Bytes of a column for an event, at most: a number and the end of an
 * address. */
#define EVENT_COLUMN_MAX (CURSOR_VARINT_MAX + 1)
#define WHAT_MAX 255
#define AT_ONCE 256		/* events */

_Static_assert(AT_ONCE * EVENT_COLUMN_MAX + 8 < COLUMNS_PAD, "I2");

bool records_no_extras(struct cursor payload, uint64_t *events)
{
	uint64_t raw = 0;

	cursor_varint(&payload);
	*events = cursor_varint(&payload);
	for (unsigned i = 0; i <= COLUMN_EXTRA; i++) {
		if (i >= COLUMNS_MIN && cursor_left(&payload) == 0)
			return !payload.bad;
		raw = cursor_varint(&payload);
		cursor_bytes(&payload, cursor_varint(&payload));
	}
	return !payload.bad && raw == 0;
}

/* Bytes an entry, by column; the last column of old versions has fewer. */
static const struct columns_limits limits = {
	.entries = GT_EVENTS_MAX,
	.entry_bytes = {
		CURSOR_VARINT_MAX, EVENT_COLUMN_MAX,
		CURSOR_VARINT_MAX, CURSOR_VARINT_MAX,
		2 * CURSOR_VARINT_MAX,		/* a run */
		(1 + GT_EXTRA_ARGS) * CURSOR_VARINT_MAX,
		CURSOR_VARINT_MAX, CURSOR_VARINT_MAX, CURSOR_VARINT_MAX,
	},
};

/* Make the lists as long as the chunk's ages can reach (I1). */
static void open_recent(struct event_decoder *decoder)
{
	uint32_t room = 1;

	while (room < GT_RECENT && room < decoder->left)
		room *= 2;
	if (decoder->recent_room < room) {
		free(decoder->recent);
		decoder->recent = grow_resize(NULL, room, RECENT_LISTS *
					      sizeof(*decoder->recent));
		decoder->recent_room = room;
	}
	memset(decoder->reported, 0, sizeof(decoder->reported));
	memset(decoder->granules, 0, sizeof(decoder->granules));
	DEBUG_ASSERT(!(room & (room - 1)) && room <= GT_RECENT);
	decoder->recent_mask = room - 1;
}

int event_decoder_open(struct event_decoder *decoder, struct cursor *payload,
		       bool steps, struct inflater *inflater)
{
	unsigned freed_by = steps ? COLUMN_FREED_BY_STEPS : COLUMN_FREED_BY;
	uint64_t base = cursor_varint(payload);
	int error = columns_open_some(&decoder->columns, payload,
				      steps ? COLUMNS_MIN : freed_by,
				      freed_by + 1, &limits, inflater);
	struct cursor *column = decoder->columns.column;

	decoder->left = error ? 0 : decoder->columns.count;
	decoder->steps = steps;
	decoder->stamp = base;
	decoder->granule = 0;
	decoder->context = 0;
	decoder->run = 0;
	decoder->freed_by = 0;
	decoder->freed_by_column = error == 0 &&
		cursor_left(&column[freed_by]) > 0 ? freed_by : 0;
	decoder->bad = error != 0;
	decoder->same_stamp = UINT64_MAX;
	DEBUG_ASSERT(decoder->left <= GT_EVENTS_MAX);
	if (error || steps)
		return error;
	open_recent(decoder);
	if (cursor_left(&column[COLUMN_RUN]) > 0)
		decoder->same_stamp = cursor_varint(&column[COLUMN_RUN]);
	column[COLUMN_RUN].bad |= decoder->same_stamp == 0;
	return 0;
}

void event_decoder_free(struct event_decoder *decoder)
{
	columns_free(&decoder->columns);
	free(decoder->recent);
	free(decoder->args);
	memset(decoder, 0, sizeof(*decoder));
}

size_t event_decoder_bytes(const struct event_decoder *decoder)
{
	return decoder->columns.capacity + decoder->recent_room *
		RECENT_LISTS * sizeof(*decoder->recent);
}

/* The next run of layouts. When the column ends, all later layouts are
 * unknown. */
static void next_run(struct event_decoder *decoder)
{
	struct cursor *runs = &decoder->columns.column[4];

	while (decoder->run == 0) {
		if (cursor_left(runs) == 0) {
			decoder->layout = 0;
			decoder->run = UINT64_MAX;
			return;
		}
		decoder->layout = (uint16_t)cursor_varint(runs);
		decoder->run = cursor_varint(runs);
	}
}

/* An EXTRA's arguments, which are rare. */
static void read_extra(struct event_decoder *decoder, size_t max, size_t i,
		       struct trace_event *event)
{
	struct cursor *column = &decoder->columns.column[COLUMN_EXTRA];
	uint64_t what = cursor_varint(column), *args;

	if (decoder->args_room < max) {
		free(decoder->args);
		decoder->args = grow_resize(NULL, max, GT_EXTRA_ARGS *
					    sizeof(*decoder->args));
		decoder->args_room = max;
	}
	DEBUG_ASSERT(i < decoder->args_room && i < max);
	args = decoder->args + i * GT_EXTRA_ARGS;
	for (unsigned k = 0; k < GT_EXTRA_ARGS; k++)
		args[k] = cursor_varint(column);
	event->what = what < WHAT_MAX ? (uint8_t)what : WHAT_MAX;
	event->args = args;
}

/* Kinds that have a context, a size and a layout, as bits. */
#define KINDS_OF_BLOCKS (1u << GT_ALLOC | 1u << GT_REALLOC_DONE)

/* An address written in full: the difference from the list's last one. */
static uint64_t read_address(struct cursor *column, uint64_t *granule)
{
	uint64_t where = cursor_varint(column);

	*granule += (uint64_t)cursor_unzigzag(where >> 1);
	return *granule << 4 | (where & 1 ? cursor_u8(column) & 15 : 0);
}

/* The address of this age, or the next one in full. */
static uint64_t read_recent(struct event_decoder *decoder, unsigned kind,
			    uint64_t age)
{
	struct cursor *column = &decoder->columns.column[1];
	const uint32_t mask = decoder->recent_mask;
	unsigned list = recent_begins(kind);
	uint64_t *mine = decoder->recent + (list ? mask + 1 : 0);
	const uint64_t *others = decoder->recent + (list ? 0 : mask + 1);
	uint32_t reported = decoder->reported[!list];
	uint64_t address = 0;

	if (age == 0)
		address = read_address(column, &decoder->granules[list]);
	else if (age > reported || age > mask + UINT64_C(1))
		column->bad = true;	/* I1 */
	else
		address = others[(reported - age) & mask];
	decoder->granules[list] = address >> 4;
	mine[decoder->reported[list]++ & mask] = address;
	return address;
}

/* Decode one event of any kind, with a check of every byte before it is read.
 * The stamp is decoded here only if it is in the column of the kinds. */
static void decode_one(struct event_decoder *decoder, size_t max, size_t i,
		       struct trace_event *event)
{
	struct cursor *column = decoder->columns.column;
	uint64_t first = cursor_varint(&column[0]);

	*event = (struct trace_event){ .kind = first & GT_KIND_MASK };
	first >>= GT_KIND_SHIFT;
	if (decoder->steps) {
		event->stamp = decoder->stamp += first;
		event->address = read_address(&column[1], &decoder->granule);
	} else {
		event->address = read_recent(decoder, event->kind, first);
	}
	if (KINDS_OF_BLOCKS >> event->kind & 1) {
		if (decoder->run == 0)
			next_run(decoder);
		DEBUG_ASSERT(decoder->run > 0);
		decoder->run--;
		event->layout = (uint16_t)decoder->layout;
	} else if (event->kind == GT_EXTRA) {
		read_extra(decoder, max, i, event);
	} else {
		column[0].bad |= event->kind >= GT_EVENT_COUNT;
		return;
	}
	decoder->context += (uint32_t)cursor_zigzag(&column[2]);
	event->context = decoder->context;
	event->size = cursor_varint(&column[3]);
}

/* Set how far a column was read, perhaps beyond its end (I2). */
static void column_at(struct cursor *column, const uint8_t *next)
{
	column->bad |= next > column->end;
	column->next = next > column->end ? column->end : next;
}

/* A kind and an age: mostly one or two bytes, in unpredictable order. */
static inline struct cursor_number read_head(const uint8_t *p)
{
	unsigned more = p[0] >> 7;
	unsigned second = p[1] & (0 - more);

	if (__builtin_expect(second > 0x7f, 0))
		return cursor_varint_sure(p);
	return (struct cursor_number){
		(p[0] & 0x7f) | second << 7, 1 + more
	};
}

/*
 * Kinds and addresses of up to `n` events, AT_ONCE at most. Returns before the
 * first event that is not about a block, or that has a very long or invalid
 * number. `blocks`: the events with a context and a size. The order of kinds is
 * unpredictable, so there is no branch on them.
 */
static size_t decode_heads(struct event_decoder *decoder,
			   struct trace_event *events, size_t n,
			   uint16_t *blocks, size_t *block_count)
{
	struct cursor *column = decoder->columns.column;
	const uint8_t *kinds = column[0].next, *places = column[1].next;
	const uint32_t mask = decoder->recent_mask, room = mask + 1;
	uint64_t *const recent = decoder->recent;
	uint32_t reported[RECENT_LISTS] = { decoder->reported[0],
					    decoder->reported[1] };
	uint64_t granules[RECENT_LISTS] = {
		decoder->granules[0], decoder->granules[1]
	};
	size_t i, found = 0;

	DEBUG_ASSERT(n <= AT_ONCE);
	for (i = 0; i < n; i++) {
		struct trace_event *event = &events[i];
		struct cursor_number first = read_head(kinds);
		unsigned kind = first.value & GT_KIND_MASK;
		uint64_t age = first.value >> GT_KIND_SHIFT, address;
		unsigned list = recent_begins(kind), other = list ^ 1;

		if (first.length == 0 || kind >= GT_EXTRA)
			break;
		if (age) {
			if (age > reported[other] || age > room)
				break;		/* I1 */
			address = recent[other * room +
					 ((reported[other] - age) & mask)];
		} else {
			struct cursor_number where;

			where = cursor_varint_sure(places);
			if (where.length == 0)
				break;
			places += where.length;
			address = (granules[list] + (uint64_t)
				   cursor_unzigzag(where.value >> 1)) << 4;
			if (where.value & 1)
				address |= *places++ & 15;
		}
		kinds += first.length;
		granules[list] = address >> 4;
		recent[list * room + (reported[list]++ & mask)] = address;
		*event = (struct trace_event){
			.address = address, .kind = (uint8_t)kind,
		};
		blocks[found] = (uint16_t)i;
		found += list;
	}
	DEBUG_ASSERT(found <= i && i <= n);
	column_at(&column[0], kinds);
	column_at(&column[1], places);
	memcpy(decoder->reported, reported, sizeof(reported));
	memcpy(decoder->granules, granules, sizeof(granules));
	*block_count = found;
	return i;
}

/* The same for major versions 1 and 2, with stamps. */
static size_t decode_steps(struct event_decoder *decoder,
			   struct trace_event *events, size_t n,
			   uint16_t *blocks, size_t *block_count)
{
	struct cursor *column = decoder->columns.column;
	const uint8_t *steps = column[0].next, *places = column[1].next;
	uint64_t stamp = decoder->stamp, granule = decoder->granule;
	size_t i, found = 0;

	DEBUG_ASSERT(n <= AT_ONCE);
	for (i = 0; i < n; i++) {
		struct trace_event *event = &events[i];
		struct cursor_number step = cursor_varint_sure(steps);
		struct cursor_number where = cursor_varint_sure(places);
		unsigned kind = step.value & GT_KIND_MASK;

		if (step.length == 0 || where.length == 0 || kind >= GT_EXTRA)
			break;
		steps += step.length;
		places += where.length;
		stamp += step.value >> GT_KIND_SHIFT;
		granule += (uint64_t)cursor_unzigzag(where.value >> 1);
		*event = (struct trace_event){
			.stamp = stamp,
			.address = granule << 4,
			.kind = (uint8_t)kind,
		};
		if (where.value & 1)
			event->address |= *places++ & 15;
		blocks[found] = (uint16_t)i;
		found += recent_begins(kind);
	}
	column_at(&column[0], steps);
	column_at(&column[1], places);
	decoder->stamp = stamp;
	decoder->granule = granule;
	*block_count = found;
	return i;
}

/* A number that is too long for cursor_varint_sure. Whatever its bytes, it
 * takes no more than may be read (I2). */
static struct cursor_number long_number(struct cursor *column,
					const uint8_t *at)
{
	struct cursor c = cursor_over(at, CURSOR_VARINT_MAX);
	uint64_t value = cursor_varint(&c);

	column->bad |= c.bad;
	DEBUG_ASSERT(c.next - at <= CURSOR_VARINT_MAX);
	return (struct cursor_number){ value, (uint64_t)(c.next - at) };
}

/* Contexts, sizes and layouts of the `count` events in `blocks`. */
static void decode_blocks(struct event_decoder *decoder,
			  struct trace_event *events, const uint16_t *blocks,
			  size_t count)
{
	struct cursor *column = decoder->columns.column;
	const uint8_t *contexts = column[2].next, *sizes = column[3].next;
	uint32_t context = decoder->context;

	DEBUG_ASSERT(count <= AT_ONCE);
	for (size_t i = 0; i < count; i++) {
		struct trace_event *event = &events[blocks[i]];
		struct cursor_number change = cursor_varint_sure(contexts);
		struct cursor_number size = cursor_varint_sure(sizes);

		if (__builtin_expect(change.length == 0, 0))
			change = long_number(&column[2], contexts);
		if (__builtin_expect(size.length == 0, 0))
			size = long_number(&column[3], sizes);
		contexts += change.length;
		sizes += size.length;
		context += (uint32_t)cursor_unzigzag(change.value);
		event->context = context;
		event->size = size.value;
		if (decoder->run == 0)
			next_run(decoder);
		DEBUG_ASSERT(decoder->run > 0);
		decoder->run--;
		event->layout = (uint16_t)decoder->layout;
	}
	column_at(&column[2], contexts);
	column_at(&column[3], sizes);
	decoder->context = context;
}

/* Kinds that may have the freeing context. */
#define KINDS_OF_FREES (1u << GT_FREE | 1u << GT_REALLOC_BEGIN)

/* Freeing contexts of decoded events; few traces have them. */
static void decode_freed_by(struct event_decoder *decoder,
			    struct trace_event *events, size_t count)
{
	struct cursor *column =
		&decoder->columns.column[decoder->freed_by_column];

	for (size_t i = 0; i < count; i++) {
		if (!(KINDS_OF_FREES >> events[i].kind & 1))
			continue;
		decoder->freed_by += (uint32_t)cursor_zigzag(column);
		events[i].context = decoder->freed_by;
	}
}

/*
 * Stamps of at most AT_ONCE events (I2). After the last run, all events have
 * the last stamp.
 */
static void decode_stamps(struct event_decoder *decoder,
			  struct trace_event *events, size_t count)
{
	struct cursor *column = decoder->columns.column;
	const uint8_t *runs = column[COLUMN_RUN].next;
	const uint8_t *const end = column[COLUMN_RUN].end;
	const uint8_t *ticks = column[COLUMN_TICKS].next;
	uint64_t stamp = decoder->stamp, same = decoder->same_stamp;

	DEBUG_ASSERT(count <= AT_ONCE);
	for (size_t i = 0; i < count; i++) {
		if (same == 0) {
			struct cursor_number step = cursor_varint_sure(ticks);
			struct cursor_number run = { UINT64_MAX, 0 };

			if (step.length == 0)
				step = long_number(&column[COLUMN_TICKS],
						   ticks);
			if (runs < end)
				run = cursor_varint_sure(runs);
			stamp += step.value;
			same = run.value;
			ticks += step.length;
			runs += run.length;
			column[COLUMN_RUN].bad |= same == 0;
		}
		same--;
		events[i].stamp = stamp;
	}
	column_at(&column[COLUMN_RUN], runs);
	column_at(&column[COLUMN_TICKS], ticks);
	decoder->stamp = stamp;
	decoder->same_stamp = same;
}

size_t event_decoder_next(struct event_decoder *decoder,
			  struct trace_event *events, size_t max)
{
	const struct cursor *column = decoder->columns.column;
	size_t count = decoder->left < max ? decoder->left : max, i = 0;
	uint16_t blocks[AT_ONCE];
	size_t block_count;

	DEBUG_ASSERT(count <= decoder->left && count <= max);
	DEBUG_ASSERT(decoder->left <= decoder->columns.count);
	while (i < count) {
		size_t n = count - i < AT_ONCE ? count - i : AT_ONCE;

		n = (decoder->steps ? decode_steps : decode_heads)(
			decoder, events + i, n, blocks, &block_count);
		decode_blocks(decoder, events + i, blocks, block_count);
		i += n;
		if (i == count)
			break;
		decode_one(decoder, max, i, &events[i]);
		i++;
	}
	DEBUG_ASSERT(i == count);
	decoder->left -= count;
	for (i = 0; i < count && !decoder->steps; i += AT_ONCE)
		decode_stamps(decoder, events + i,
			      count - i < AT_ONCE ? count - i : AT_ONCE);
	if (decoder->freed_by_column)
		decode_freed_by(decoder, events, count);
	for (int k = 0; k <= (decoder->steps ? COLUMN_FREED_BY_STEPS :
					       COLUMN_FREED_BY); k++)
		decoder->bad |= column[k].bad;
	if (!decoder->bad)
		return count;
	decoder->left = 0;
	return 0;
}
