/*
 * records.c: from the bytes of a payload to records; see preload/format.h.
 * Everything is read through cursors, so that no count, size or offset in
 * the file can lead outside of the payload. Called by the reader's thread.
 */
#include "cli/trace/records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"

#define NAME_MAX_BYTES 256	/* of a thread; the kernel has 16 */

bool records_thread(struct cursor *c, struct trace_thread *thread)
{
	if (cursor_left(c) == 0)
		return false;
	thread->what = (unsigned)cursor_varint(c);
	thread->ring = (uint32_t)cursor_varint(c);
	thread->tid = (uint32_t)cursor_varint(c);
	thread->flags = (uint32_t)cursor_varint(c);
	thread->stamp = cursor_varint(c);
	thread->pointer = thread->what == GT_THREAD_START ? cursor_varint(c) : 0;
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
	return c == 'n' ? '\n' : c == '0' ? ' ' : c;
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
		line[used++] = byte ? byte : ' ';
	}
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
	int error = columns_open(&decoder->columns, payload, 3, inflater);

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
#define EVENT_COLUMNS 6
#define WHAT_MAX 255

bool records_no_extras(struct cursor payload, uint64_t *events)
{
	uint64_t raw = 0;

	cursor_varint(&payload);
	*events = cursor_varint(&payload);
	for (unsigned i = 0; i < EVENT_COLUMNS; i++) {
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
	uint64_t base = cursor_varint(payload);
	int error = columns_open_some(&decoder->columns, payload,
				      EVENT_COLUMNS_FIRST, EVENT_COLUMNS,
				      inflater);

	if (error == 0 && decoder->columns.count > GT_EVENTS_MAX)
		error = -EBADMSG;
	decoder->left = error ? 0 : decoder->columns.count;
	decoder->stamp = base;
	decoder->granule = 0;
	decoder->context = 0;
	decoder->run = 0;
	decoder->bad = error != 0;
	return error;
}

void event_decoder_free(struct event_decoder *decoder)
{
	columns_free(&decoder->columns);
	free(decoder->args);
	memset(decoder, 0, sizeof(*decoder));
}

/* The layout of the next block. A column that is not there says nothing. */
static uint16_t next_layout(struct event_decoder *decoder)
{
	struct cursor *runs = &decoder->columns.column[4];

	while (decoder->run == 0) {
		if (cursor_left(runs) == 0)
			return 0;
		decoder->layout = (uint16_t)cursor_varint(runs);
		decoder->run = cursor_varint(runs);
	}
	decoder->run--;
	return (uint16_t)decoder->layout;
}

/* What is rare of an event: an EXTRA's arguments. */
static void read_extra(struct event_decoder *decoder, size_t max, size_t i,
		       struct trace_event *event)
{
	struct cursor *column = &decoder->columns.column[5];
	uint64_t what = cursor_varint(column), *args;

	if (decoder->args_room < max) {
		free(decoder->args);
		decoder->args = grow_resize(NULL, max, GT_EXTRA_ARGS *
					    sizeof(*decoder->args));
		decoder->args_room = max;
	}
	args = decoder->args + i * GT_EXTRA_ARGS;
	for (unsigned k = 0; k < GT_EXTRA_ARGS; k++)
		args[k] = cursor_varint(column);
	event->what = what < WHAT_MAX ? (uint8_t)what : WHAT_MAX;
	event->args = args;
}

size_t event_decoder_next(struct event_decoder *decoder,
			  struct trace_event *events, size_t max)
{
	/* Copies, so that they can live in registers. */
	struct cursor steps = decoder->columns.column[0];
	struct cursor addresses = decoder->columns.column[1];
	struct cursor contexts = decoder->columns.column[2];
	struct cursor sizes = decoder->columns.column[3];
	uint64_t stamp = decoder->stamp, granule = decoder->granule;
	uint32_t context = decoder->context;
	size_t count = decoder->left < max ? decoder->left : max, i;

	for (i = 0; i < count; i++) {
		struct trace_event *event = &events[i];
		uint64_t step = cursor_varint(&steps);
		uint64_t where = cursor_varint(&addresses);

		*event = (struct trace_event){ .kind = step & 7 };
		event->stamp = stamp += step >> 3;
		granule += (uint64_t)cursor_unzigzag(where >> 1);
		event->address = granule << 4;
		if (where & 1)
			event->address |= cursor_u8(&addresses) & 15;
		if (event->kind == GT_ALLOC ||
		    event->kind == GT_REALLOC_DONE) {
			event->layout = next_layout(decoder);
		} else if (event->kind == GT_EXTRA) {
			read_extra(decoder, max, i, event);
		} else {
			steps.bad |= event->kind >= GT_EVENT_COUNT;
			continue;
		}
		context += (uint32_t)cursor_zigzag(&contexts);
		event->context = context;
		event->size = cursor_varint(&sizes);
	}
	decoder->columns.column[0] = steps;
	decoder->columns.column[1] = addresses;
	decoder->columns.column[2] = contexts;
	decoder->columns.column[3] = sizes;
	decoder->stamp = stamp;
	decoder->granule = granule;
	decoder->context = context;
	decoder->left -= count;
	if (steps.bad || addresses.bad || contexts.bad || sizes.bad ||
	    decoder->columns.column[4].bad || decoder->columns.column[5].bad) {
		decoder->bad = true;
		decoder->left = 0;
		return 0;
	}
	return count;
}
