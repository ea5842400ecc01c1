/*
 * records.c: from the bytes of a payload to records; see trace_format.h.
 * Everything is read through cursors, so that no count, size or offset in
 * the file can lead outside of the payload. Called by the reader's thread.
 */
#include "cli/trace/records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "unwind/claim.h"

#define NAME_MAX_BYTES 256	/* of a thread; the kernel has 16 */

bool records_thread(struct cursor *c, bool no_pointers,
		    struct trace_thread *thread)
{
	if (cursor_left(c) == 0)
		return false;
	thread->what = (unsigned)cursor_varint(c);
	thread->ring = (uint32_t)cursor_varint(c);
	thread->tid = (uint32_t)cursor_varint(c);
	thread->flags = (uint32_t)cursor_varint(c);
	thread->stamp = cursor_varint(c);
	thread->pointer = 0;
	if (thread->what == GT_THREAD_START && !no_pointers)
		thread->pointer = cursor_varint(c);
	thread->name_size = cursor_varint(c);
	thread->name = (const char *)cursor_bytes(c, thread->name_size);
	if (thread->name_size > NAME_MAX_BYTES)
		thread->name_size = NAME_MAX_BYTES;
	return !c->bad;
}

bool records_capture(struct cursor *c, struct trace_capture *capture)
{
	uint64_t count;

	if (cursor_left(c) == 0)
		return false;
	memset(capture, 0, sizeof(*capture));
	capture->ring = (uint32_t)cursor_varint(c);
	count = cursor_varint(c);
	for (uint64_t i = 0; i < count && !c->bad; i++) {
		uint64_t value = cursor_varint(c);

		if (i < GT_CAPTURE_VALUES)
			capture->value[i] = value;
	}
	return !c->bad;
}

static void read_mapped(struct cursor *c, struct trace_image *image)
{
	uint64_t count;

	image->flags = (uint32_t)cursor_varint(c);
	image->first_node = (uint32_t)cursor_varint(c);
	image->bias = cursor_varint(c);
	count = cursor_varint(c);
	if (count > GL_SEGMENTS_MAX) {
		c->bad = true;
		return;
	}
	image->segment_count = (unsigned)count;
	for (unsigned i = 0; i < count; i++) {
		image->segments[i].start = cursor_varint(c);
		image->segments[i].size = cursor_varint(c);
		image->segments[i].offset = cursor_varint(c);
		image->segments[i].flags = (uint32_t)cursor_varint(c);
	}
	image->build_id_size = cursor_varint(c);
	image->build_id = cursor_bytes(c, image->build_id_size);
	image->path_size = cursor_varint(c);
	image->path = (const char *)cursor_bytes(c, image->path_size);
	if (image->build_id_size > GL_BUILD_ID_MAX ||
	    image->path_size > GT_PATH_MAX)
		c->bad = true;
}

bool records_image(struct cursor *c, struct trace_image *image)
{
	if (cursor_left(c) == 0)
		return false;
	memset(image, 0, sizeof(*image));
	image->what = (unsigned)cursor_varint(c);
	image->index = (uint32_t)cursor_varint(c);
	if (image->what == GT_IMAGE_MAPPED)
		read_mapped(c, image);
	else if (image->what == GT_IMAGE_GONE)
		image->end_node = (uint32_t)cursor_varint(c);
	else
		c->bad = true;
	return !c->bad;
}

bool records_sync(struct cursor *c, struct trace_sync *sync)
{
	if (cursor_left(c) == 0)
		return false;
	sync->watermark = cursor_varint(c);
	sync->ticks = cursor_varint(c);
	sync->monotonic_ns = cursor_varint(c);
	sync->realtime_ns = cursor_varint(c);
	sync->dropped = cursor_varint(c);
	return !c->bad;
}

/* One escaped byte behind a backslash. */
static char unescape(char c)
{
	return c == 'n' ? '\n' : c == '0' ? 0 : c;
}

/* A byte of a value, as a C string has it. */
static char stored(char byte)
{
	return byte == 0 ? RECORDS_NUL : byte == RECORDS_NUL ? ' ' : byte;
}

bool records_line(struct cursor *c, char *line, const char **key,
		  const char **value)
{
	const char *p = (const char *)c->next;
	size_t left = cursor_left(c), used = 0, i;
	char *equals = NULL;

	if (left == 0)
		return false;
	for (i = 0; i < left && p[i] != '\n'; i++) {
		char byte = p[i];

		if (used == RECORDS_LINE_MAX - 1)
			continue;	/* longer than any of ours: cut */
		if (byte == '\\' && i + 1 < left && equals != NULL)
			byte = unescape(p[++i]);
		else if (byte == '=' && equals == NULL)
			equals = &line[used];
		line[used++] = stored(byte);
	}
	CLAIM_FULL(used < RECORDS_LINE_MAX && i <= left);
	line[used] = 0;
	c->next += i < left ? i + 1 : i;
	if (equals == NULL) {
		c->bad = true;
		return false;
	}
	*equals = 0;
	*key = line;
	*value = equals + 1;
	return true;
}

int node_decoder_open(struct node_decoder *decoder, struct cursor *payload,
		      struct inflater *inflater)
{
	static const struct columns_limits limits = {
		.entry_bytes = { CURSOR_VARINT_MAX, CURSOR_VARINT_MAX,
				 CURSOR_VARINT_MAX },
	};
	int error = columns_open_some(&decoder->columns, payload, 3, 3,
				      &limits, inflater);

	decoder->left = error ? 0 : decoder->columns.count;
	memset(&decoder->previous, 0, sizeof(decoder->previous));
	return error;
}

bool node_decoder_next(struct node_decoder *decoder, struct trace_node *node,
		       bool *bad)
{
	struct cursor *column = decoder->columns.column;

	if (decoder->left == 0) {
		*bad = cursor_left(&column[0]) != 0;
		return false;
	}
	CLAIM_FULL(decoder->left <= decoder->columns.count);
	node->id = decoder->previous.id + (uint32_t)cursor_zigzag(&column[0]);
	node->parent = node->id - (uint32_t)cursor_zigzag(&column[1]);
	node->address = decoder->previous.address +
		(uint64_t)cursor_zigzag(&column[2]);
	decoder->previous = *node;
	decoder->left--;
	*bad = column[0].bad || column[1].bad || column[2].bad;
	if (*bad)
		decoder->left = 0;
	return !*bad;
}

#define EVENT_COLUMNS_FIRST 4	/* all there are in major version 1 */
#define EVENT_COLUMN_EXTRA 5
#define EVENT_COLUMN_FREED_BY 6
#define EVENT_COLUMNS 7
/* Bytes of a column that an event may take: a number and an address's end. */
#define EVENT_COLUMN_MAX (CURSOR_VARINT_MAX + 1)
#define WHAT_MAX 255
#define AT_ONCE 256		/* events */

bool records_no_extras(struct cursor payload, uint64_t *events)
{
	uint64_t raw = 0;

	cursor_varint(&payload);
	*events = cursor_varint(&payload);
	for (unsigned i = 0; i <= EVENT_COLUMN_EXTRA; i++) {
		if (i >= EVENT_COLUMNS_FIRST && cursor_left(&payload) == 0)
			return !payload.bad;
		raw = cursor_varint(&payload);
		cursor_bytes(&payload, cursor_varint(&payload));
	}
	return !payload.bad && raw == 0;
}

int event_decoder_open(struct event_decoder *decoder, struct cursor *payload,
		       struct inflater *inflater)
{
	static const struct columns_limits limits = {
		.entries = GT_EVENTS_MAX,
		.entry_bytes = {
			CURSOR_VARINT_MAX, EVENT_COLUMN_MAX,
			CURSOR_VARINT_MAX, CURSOR_VARINT_MAX,
			2 * CURSOR_VARINT_MAX,		/* a run */
			(1 + GT_EXTRA_ARGS) * CURSOR_VARINT_MAX,
			CURSOR_VARINT_MAX,
		},
	};
	uint64_t base = cursor_varint(payload);
	int error = columns_open_some(&decoder->columns, payload,
				      EVENT_COLUMNS_FIRST, EVENT_COLUMNS,
				      &limits, inflater);

	decoder->left = error ? 0 : decoder->columns.count;
	decoder->stamp = base;
	decoder->granule = 0;
	decoder->context = 0;
	decoder->run = 0;
	decoder->freed_by = 0;
	decoder->has_freed_by = error == 0 && cursor_left(
		&decoder->columns.column[EVENT_COLUMN_FREED_BY]) > 0;
	decoder->bad = error != 0;
	CLAIM_FULL(decoder->left <= GT_EVENTS_MAX);
	return error;
}

void event_decoder_free(struct event_decoder *decoder)
{
	columns_free(&decoder->columns);
	free(decoder->args);
	memset(decoder, 0, sizeof(*decoder));
}

/* The next run of layouts. A column that is at its end says nothing of all
 * that follows. */
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

/* What is rare of an event: an EXTRA's arguments. */
static void read_extra(struct event_decoder *decoder, size_t max, size_t i,
		       struct trace_event *event)
{
	struct cursor *column = &decoder->columns.column[EVENT_COLUMN_EXTRA];
	uint64_t what = cursor_varint(column), *args;

	if (decoder->args_room < max) {
		free(decoder->args);
		decoder->args = grow_resize(NULL, max, GT_EXTRA_ARGS *
					    sizeof(*decoder->args));
		decoder->args_room = max;
	}
	CLAIM_FULL(i < decoder->args_room && i < max);
	args = decoder->args + i * GT_EXTRA_ARGS;
	for (unsigned k = 0; k < GT_EXTRA_ARGS; k++)
		args[k] = cursor_varint(column);
	event->what = what < WHAT_MAX ? (uint8_t)what : WHAT_MAX;
	event->args = args;
}

/* Kinds that have a context, a size and a layout, as bits. */
#define KINDS_OF_BLOCKS (1u << GT_ALLOC | 1u << GT_REALLOC_DONE)

/* One event of any kind, looking at every byte before it is read. */
static void decode_one(struct event_decoder *decoder, size_t max, size_t i,
		       struct trace_event *event)
{
	struct cursor *column = decoder->columns.column;
	uint64_t step = cursor_varint(&column[0]);
	uint64_t where = cursor_varint(&column[1]);

	*event = (struct trace_event){ .kind = step & 7 };
	event->stamp = decoder->stamp += step >> 3;
	decoder->granule += (uint64_t)cursor_unzigzag(where >> 1);
	event->address = decoder->granule << 4;
	if (where & 1)
		event->address |= cursor_u8(&column[1]) & 15;
	if (KINDS_OF_BLOCKS >> event->kind & 1) {
		if (decoder->run == 0)
			next_run(decoder);
		CLAIM_FULL(decoder->run > 0);
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

/* How many events can be decoded without a look at where columns end. */
static size_t sure_count(const struct event_decoder *decoder)
{
	size_t least = SIZE_MAX;

	for (int i = 0; i < EVENT_COLUMNS_FIRST; i++) {
		size_t left = cursor_left(&decoder->columns.column[i]);

		if (left < least)
			least = left;
	}
	return least / EVENT_COLUMN_MAX;
}

/*
 * Kinds, stamps and addresses of up to `n` events of which sure_count() told.
 * Returns before the first that is not about a block, or of which a number is
 * very long. `blocks`: which of them have a context and a size. The kinds come
 * in no order, so nothing branches on them.
 */
static size_t decode_heads(struct event_decoder *decoder,
			   struct trace_event *events, size_t n,
			   uint16_t *blocks, size_t *block_count)
{
	struct cursor *column = decoder->columns.column;
	const uint8_t *steps = column[0].next, *places = column[1].next;
	uint64_t stamp = decoder->stamp, granule = decoder->granule;
	size_t i, found = 0;

	CLAIM_FULL(n <= AT_ONCE);
	for (i = 0; i < n; i++) {
		struct trace_event *event = &events[i];
		/* Hardly ever more than one byte: that can be guessed. */
		struct cursor_number step = *steps < 0x80 ?
			(struct cursor_number){ *steps, 1 } :
			cursor_varint_sure(steps);
		struct cursor_number where = cursor_varint_sure(places);
		unsigned kind = step.value & 7;

		if (step.length == 0 || where.length == 0 || kind >= GT_EXTRA)
			break;
		steps += step.length;
		places += where.length;
		stamp += step.value >> 3;
		granule += (uint64_t)cursor_unzigzag(where.value >> 1);
		*event = (struct trace_event){
			.stamp = stamp,
			.address = granule << 4,
			.kind = (uint8_t)kind,
		};
		if (where.value & 1)
			event->address |= *places++ & 15;
		blocks[found] = (uint16_t)i;
		found += KINDS_OF_BLOCKS >> kind & 1;
	}
	CLAIM_FULL(steps <= column[0].end && places <= column[1].end);
	CLAIM_FULL(found <= i && i <= n);
	column[0].next = steps;
	column[1].next = places;
	decoder->stamp = stamp;
	decoder->granule = granule;
	*block_count = found;
	return i;
}

/* One that cursor_varint_sure leaves. Whatever its bytes are, it takes no more
 * than were known to be there. */
static struct cursor_number long_number(struct cursor *column,
					const uint8_t *at)
{
	struct cursor c = cursor_over(at, CURSOR_VARINT_MAX);
	uint64_t value = cursor_varint(&c);

	column->bad |= c.bad;
	CLAIM_FULL(c.next - at <= CURSOR_VARINT_MAX);
	return (struct cursor_number){ value, (uint64_t)(c.next - at) };
}

/* Contexts, sizes and layouts of `count` events that have them. */
static void decode_blocks(struct event_decoder *decoder,
			  struct trace_event *events, const uint16_t *blocks,
			  size_t count)
{
	struct cursor *column = decoder->columns.column;
	const uint8_t *contexts = column[2].next, *sizes = column[3].next;
	uint32_t context = decoder->context;

	CLAIM_FULL(count <= AT_ONCE);
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
		CLAIM_FULL(decoder->run > 0);
		decoder->run--;
		event->layout = (uint16_t)decoder->layout;
	}
	CLAIM_FULL(contexts <= column[2].end && sizes <= column[3].end);
	column[2].next = contexts;
	column[3].next = sizes;
	decoder->context = context;
}

/* Kinds that may have a context of who frees. */
#define KINDS_OF_FREES (1u << GT_FREE | 1u << GT_REALLOC_BEGIN)

/* Who frees, of decoded events: few traces have that. */
static void decode_freed_by(struct event_decoder *decoder,
			    struct trace_event *events, size_t count)
{
	struct cursor *column =
		&decoder->columns.column[EVENT_COLUMN_FREED_BY];

	for (size_t i = 0; i < count; i++) {
		if (!(KINDS_OF_FREES >> events[i].kind & 1))
			continue;
		decoder->freed_by += (uint32_t)cursor_zigzag(column);
		events[i].context = decoder->freed_by;
	}
}

size_t event_decoder_next(struct event_decoder *decoder,
			  struct trace_event *events, size_t max)
{
	const struct cursor *column = decoder->columns.column;
	size_t count = decoder->left < max ? decoder->left : max, i = 0;
	uint16_t blocks[AT_ONCE];
	size_t block_count;

	CLAIM_FULL(count <= decoder->left && count <= max);
	CLAIM_FULL(decoder->left <= decoder->columns.count);
	while (i < count) {
		size_t sure = sure_count(decoder);

		if (sure > count - i)
			sure = count - i;
		if (sure > AT_ONCE)
			sure = AT_ONCE;
		sure = decode_heads(decoder, events + i, sure, blocks,
				    &block_count);
		decode_blocks(decoder, events + i, blocks, block_count);
		i += sure;
		if (i == count)
			break;
		decode_one(decoder, max, i, &events[i]);
		i++;
	}
	CLAIM_FULL(i == count);
	decoder->left -= count;
	if (decoder->has_freed_by)
		decode_freed_by(decoder, events, count);
	for (int k = 0; k < EVENT_COLUMNS; k++)
		decoder->bad |= column[k].bad;
	if (!decoder->bad)
		return count;
	decoder->left = 0;
	return 0;
}
