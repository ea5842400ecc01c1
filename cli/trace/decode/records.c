/*
 * records.c: decodes the bytes of a payload into records; see trace_format.h.
 * All reads go through cursors, so that no count, size or offset in the file
 * can lead outside the payload. Called by the reader's thread.
 */
#include "cli/trace/decode/records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "unwind/base/assertion.h"

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

/* The character that follows a backslash. */
static char unescape(char c)
{
	return c == 'n' ? '\n' : c == '0' ? 0 : c;
}

/* A byte of a value, as stored in a C string. */
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
			continue;	/* longer than any that we write: cut */
		if (byte == '\\' && i + 1 < left && equals != NULL)
			byte = unescape(p[++i]);
		else if (byte == '=' && equals == NULL)
			equals = &line[used];
		line[used++] = stored(byte);
	}
	DEBUG_ASSERT(used < RECORDS_LINE_MAX && i <= left);
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
	DEBUG_ASSERT(decoder->left <= decoder->columns.count);
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
