/*
 * live_read.c: reads a live file (preload/format.h) while threads may still
 * write to it, or after all its writers were killed.
 *
 *	header ─▶ rings ─▶ events ─▶ nodes they refer to ─▶ their parents …
 *
 * A ring is read in this order: head and tail; the data between them; the tail
 * again. The producer overwrites only records below the tail, which are in the
 * trace; so all records copied from above the second tail are intact. The file
 * is read with pread and never mapped; every offset in it is first checked
 * against the file's size. A file with the other byte order (an emulator's) is
 * converted as it is copied.
 *
 *  I1  A record is used only if it lies completely in [tail, head).
 *  I2  A node's parent has a smaller id, so nodes sorted by id have parents
 *      first.
 *
 * Called by the main thread.
 */
#include "cli/trace/live/live_read.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/table.h"
#include "cli/base/io_full.h"
#include "cli/trace/format/ring_record.h"
#include "cli/trace/format/trace_format.h"
#include "cli/trace/live/live_order.h"
#include "cli/trace/write/compose.h"
#include "unwind/base/assertion.h"

#define STAT_LINE 1024		/* of /proc/PID/stat */

#define RING_BYTES_MAX (UINT64_C(1) << 30)
#define EVENTS_PER_CHUNK 16384
#define NODES_PER_CHUNK 65536

struct live_file {
	int fd;
	uint64_t size;
	bool other;			/* has the other byte order */
	struct gl_header header;
	struct live_read_snapshot *out;
	struct table wanted;		/* nodes to be output */
	uint32_t *nodes;
	size_t node_count;
	size_t node_capacity;
};

/* All `size` bytes, or false. */
static bool read_at(const struct live_file *file, void *to, uint64_t size,
		    uint64_t offset)
{
	return offset <= file->size && size <= file->size - offset &&
		io_full_read_at(file->fd, to, size, offset) == (ssize_t)size;
}

static struct buffer *add_chunk(struct live_file *file, unsigned type)
{
	struct live_read_snapshot *out = file->out;
	struct live_read_chunk *chunk;

	GROW(out->chunks, out->count, out->capacity);
	chunk = &out->chunks[out->count++];
	memset(chunk, 0, sizeof(*chunk));
	chunk->chunk.type = type;
	return &chunk->payload;
}

/* ---- images ---- */

static void convert_image(const struct gl_image *from, uint32_t index,
			  struct buffer *payload)
{
	struct trace_image image = {
		.what = GT_IMAGE_MAPPED,
		.index = index,
		.flags = from->flags,
		.first_node = from->first_node,
		.bias = from->bias,
		.segment_count = from->segments,
		.build_id = from->build_id,
		.build_id_size = from->build_id_size,
		.path = from->path,
		.path_size = strnlen(from->path, GL_IMAGE_PATH),
	};

	DEBUG_ASSERT(image.segment_count <= GL_SEGMENTS_MAX);
	for (unsigned i = 0; i < image.segment_count; i++)
		image.segments[i] = (struct trace_segment){
			from->segment[i].start, from->segment[i].size,
			from->segment[i].offset, from->segment[i].flags };
	compose_image(payload, &image);
	image.what = GT_IMAGE_GONE;
	image.end_node = from->end_node;
	if (image.end_node != 0)
		compose_image(payload, &image);
}

static void read_images(struct live_file *file)
{
	uint32_t count = file->header.image_count;
	struct buffer *payload;

	if (count > GL_IMAGES_MAX)
		count = GL_IMAGES_MAX;
	payload = add_chunk(file, GT_IMAGE);
	for (uint32_t i = 0; i < count; i++) {
		struct gl_image image;

		if (!read_at(file, &image, sizeof(image),
			     file->header.images_offset +
			     (uint64_t)i * sizeof(image)))
			continue;
		if (file->other)
			live_order_image(&image);
		if (image.state != 1 || image.segments > GL_SEGMENTS_MAX ||
		    image.build_id_size > GL_BUILD_ID_MAX)
			continue;
		convert_image(&image, i, payload);
	}
}

/* ---- nodes ---- */

static void want_node(struct live_file *file, uint32_t id)
{
	if (id < GT_STOP_COUNT || table_get(&file->wanted, id) != TABLE_NONE)
		return;
	table_set(&file->wanted, id, 1);
	GROW(file->nodes, file->node_count, file->node_capacity);
	file->nodes[file->node_count++] = id;
}

static bool read_node(const struct live_file *file, uint32_t id,
		      struct trace_node *node)
{
	struct gl_node found;

	if (!read_at(file, &found, sizeof(found), file->header.nodes_offset +
		     (uint64_t)id * sizeof(found)))
		return false;
	if (file->other)
		live_order_node(&found);
	if (found.address == 0 || found.parent >= id)
		return false;
	*node = (struct trace_node){ id, found.parent, found.address };
	return true;
}

static int compare_ids(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* All referenced nodes and their ancestors, parents first (I2). */
static void read_nodes(struct live_file *file)
{
	struct trace_node *nodes, node;
	size_t count = 0;

	for (size_t i = 0; i < file->node_count; i++)
		if (read_node(file, file->nodes[i], &node))
			want_node(file, node.parent);
	if (file->node_count == 0)
		return;
	qsort(file->nodes, file->node_count, sizeof(*file->nodes),
	      compare_ids);
	nodes = grow_resize(NULL, file->node_count, sizeof(*nodes));
	for (size_t i = 0; i < file->node_count; i++)
		if (read_node(file, file->nodes[i], &nodes[count]))
			count++;
	DEBUG_ASSERT(count <= file->node_count);
	for (size_t i = 0; i < count; i += NODES_PER_CHUNK) {
		size_t n = count - i;

		compose_nodes(add_chunk(file, GT_CONTEXT), nodes + i,
			     n < NODES_PER_CHUNK ? n : NODES_PER_CHUNK, 0);
	}
	free(nodes);
}

/* ---- rings ---- */

struct ring_copy {
	struct gl_ring ring;
	bool other;		/* as in live_file */
	uint64_t tail;
	uint64_t head;
	uint8_t *data;
	struct trace_event *events;
	uint64_t *args;		/* GT_EXTRA_ARGS for each event */
	size_t count;
};

static uint64_t word_at(const struct ring_copy *copy, uint64_t position,
			unsigned word)
{
	uint64_t value;

	DEBUG_ASSERT((position & copy->ring.mask) + 8 * word + 8 <=
		     copy->ring.mask + 1 + GL_RING_SLACK);
	memcpy(&value, copy->data + (position & copy->ring.mask) + 8 * word,
	       sizeof(value));
	return live_order_word(value, copy->other);
}

static bool ring_is_sane(const struct live_file *file,
			 const struct gl_ring *ring)
{
	uint64_t size = ring->mask + 1;

	return size != 0 && (size & ring->mask) == 0 &&
		size <= RING_BYTES_MAX && ring->offset <= file->size &&
		size + GL_RING_SLACK <= file->size - ring->offset &&
		ring->head >= ring->tail && ring->head - ring->tail <= size;
}

static void flush_events(struct live_file *file, struct ring_copy *copy,
			 uint64_t first, uint64_t last)
{
	struct buffer *payload;
	struct chunk *chunk;

	if (copy->count == 0)
		return;
	DEBUG_ASSERT(first < last && copy->count <= EVENTS_PER_CHUNK);
	payload = add_chunk(file, GT_EVENTS);
	chunk = &file->out->chunks[file->out->count - 1].chunk;
	chunk->ring = copy->ring.id;
	chunk->generation = copy->ring.generation;
	chunk->first = first;
	chunk->last = last;
	compose_events(payload, copy->events, copy->count, 0);
	copy->count = 0;
}

/* All words of a record but the first. */
static void convert_words(struct live_file *file, struct ring_copy *copy,
			  uint64_t position, struct trace_event *event)
{
	unsigned has = gt_event_kind(event->kind).has;
	uint64_t word1 = word_at(copy, position, 1);
	uint64_t word2 = word_at(copy, position, 2);
	uint64_t *args = copy->args + copy->count * GT_EXTRA_ARGS;

	event->address = gl_block(word1);
	if (has & GT_IS_BLOCK) {
		event->size = gl_size(word2, word_at(copy, position, 3));
		event->layout = (uint16_t)gl_layout(
			(unsigned)(word1 >> GL_HEADER_SHIFT), event->size);
	} else if (has & GT_IS_EXTRA) {
		event->what = (uint8_t)(word2 >> 32);
		event->size = word_at(copy, position, 3);
		for (unsigned i = 0; i < GT_EXTRA_ARGS; i++)
			args[i] = word_at(copy, position, 4 + i);
		event->args = args;
	}
	if (!gl_has_context(word_at(copy, position, 0)))
		return;
	event->context = (uint32_t)word2;
	want_node(file, event->context);
}

/* Only a free or the begin of a realloc may have a stack of its own. */
static bool kind_is_right(uint64_t word0, uint64_t word2)
{
	return !(word0 & GL_KIND_STACK) ||
	       (gt_event_kind(gl_kind(word0)).has & GT_MAY_STACK &&
		(uint32_t)word2 != 0);
}

/* One record. Returns its length in bytes, 0 if it does not end below the
 * head. */
static unsigned convert_record(struct live_file *file, struct ring_copy *copy,
			       uint64_t position, uint64_t *stamp, bool *hole)
{
	bool nested = copy->ring.flags & GT_THREAD_NESTED;
	uint64_t word0 = word_at(copy, position, 0);
	uint64_t word2 = word_at(copy, position, 2);
	unsigned words = nested ? GL_RECORD_MAX / 8 :
		gl_record_words(word0, word2);
	uint64_t ticks = gl_counter(word0) >> (file->header.tick_shift & 63);
	struct trace_event *event = &copy->events[copy->count];

	if (copy->head - position < 8 * words)
		return 0;
	DEBUG_ASSERT(copy->count < EVENTS_PER_CHUNK);
	memset(event, 0, sizeof(*event));
	event->kind = gl_kind(word0);
	*hole = word0 == 0 || event->kind >= GT_EVENT_COUNT ||
		!kind_is_right(word0, word2);
	if (*hole)
		return 8 * words;
	if (ticks > *stamp)	/* stamps cannot decrease in the format */
		*stamp = ticks;
	event->stamp = *stamp;
	convert_words(file, copy, position, event);
	copy->count++;
	return 8 * words;
}

static void convert_ring(struct live_file *file, struct ring_copy *copy)
{
	uint64_t position = copy->tail, first = position, stamp = 0;

	while (position < copy->head) {
		bool hole;
		unsigned size = convert_record(file, copy, position, &stamp,
					       &hole);

		if (size == 0)
			break;	/* I1 */
		position += size;
		DEBUG_ASSERT(position <= copy->head);	/* I1 */
		/* A chunk may have holes only after its last event, so that a
		 * reader can count positions from its first. */
		if (hole || copy->count == EVENTS_PER_CHUNK) {
			flush_events(file, copy, first, position);
			first = position;
		}
	}
	flush_events(file, copy, first, position);
}

static void announce_thread(const struct live_file *file,
			    const struct gl_ring *ring,
			    struct buffer *payload)
{
	struct trace_thread thread = {
		.what = GT_THREAD_START,
		.ring = ring->id,
		.tid = (uint32_t)ring->tid,
		.flags = ring->flags,
		.stamp = ring->start_stamp >> (file->header.tick_shift & 63),
		.name = "",
		.pointer = ring->pointer,
	};

	compose_thread(payload, &thread);
}

static bool read_ring_header(const struct live_file *file, uint64_t offset,
			     struct gl_ring *ring)
{
	if (!read_at(file, ring, sizeof(*ring), offset))
		return false;
	if (file->other)
		live_order_ring(ring);
	return true;
}

static void read_ring(struct live_file *file, uint64_t offset)
{
	struct ring_copy copy = { .other = file->other };
	struct gl_ring again;

	if (!read_ring_header(file, offset, &copy.ring)) {
		file->out->damaged_rings++;
		return;
	}
	if (copy.ring.state == GL_RING_UNUSED)
		return;
	if (!ring_is_sane(file, &copy.ring)) {
		file->out->damaged_rings++;
		return;
	}
	copy.head = copy.ring.head;
	if (copy.head == copy.ring.tail)
		return;
	copy.data = grow_alloc(copy.ring.mask + 1 + GL_RING_SLACK);
	copy.events = grow_resize(NULL, EVENTS_PER_CHUNK,
				  sizeof(*copy.events));
	copy.args = grow_resize(NULL, EVENTS_PER_CHUNK,
				GT_EXTRA_ARGS * sizeof(*copy.args));
	if (read_at(file, copy.data, copy.ring.mask + 1 + GL_RING_SLACK,
		    copy.ring.offset) &&
	    read_ring_header(file, offset, &again) &&
	    again.generation == copy.ring.generation &&
	    again.tail >= copy.ring.tail) {
		copy.tail = again.tail;
		announce_thread(file, &copy.ring, add_chunk(file, GT_THREAD));
		convert_ring(file, &copy);
	}
	free(copy.data);
	free(copy.events);
	free(copy.args);
}

static void read_rings(struct live_file *file)
{
	uint32_t count = file->header.ring_count;

	if (count > GL_RINGS_MAX)
		count = GL_RINGS_MAX;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t offset;

		if (!read_at(file, &offset, sizeof(offset),
			     file->header.rings_offset +
			     (uint64_t)i * sizeof(offset)))
			break;
		if (offset != 0)
			read_ring(file, live_order_word(offset, file->other));
	}
}

/* Events were read before their nodes; readers need the nodes first. */
static void events_last(struct live_read_snapshot *out)
{
	struct live_read_chunk *sorted = grow_resize(NULL, out->count,
						sizeof(*sorted));
	size_t n = 0;

	for (int events = 0; events < 2; events++)
		for (size_t i = 0; i < out->count; i++)
			if ((out->chunks[i].chunk.type == GT_EVENTS) == events)
				sorted[n++] = out->chunks[i];
	DEBUG_ASSERT(n == out->count);
	free(out->chunks);
	out->chunks = sorted;
	out->capacity = out->count;
}

static int read_header(struct live_file *file, uint64_t trace_id)
{
	struct stat status;

	if (fstat(file->fd, &status) != 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EBADMSG;
	file->size = (uint64_t)status.st_size;
	if (!read_at(file, &file->header, sizeof(file->header), 0))
		return -EBADMSG;
	file->other = live_order_header(&file->header);
	if (file->header.magic != GL_MAGIC ||
	    file->header.version != GL_VERSION)
		return -EBADMSG;
	return file->header.trace_id == trace_id ? 0 : -ESTALE;
}

int live_read_fd(int fd, uint64_t trace_id,
		 struct live_read_snapshot *snapshot)
{
	struct live_file file = { .fd = fd, .out = snapshot };
	int error;

	memset(snapshot, 0, sizeof(*snapshot));
	error = read_header(&file, trace_id);
	if (error != 0)
		return error;
	snapshot->trace_id = file.header.trace_id;
	snapshot->pid = file.header.pid;
	snapshot->start_time = file.header.start_time;
	snapshot->dropped = file.header.dropped;
	snapshot->error = file.header.error;
	read_rings(&file);
	read_images(&file);
	read_nodes(&file);
	events_last(snapshot);
	table_free(&file.wanted);
	free(file.nodes);
	return 0;
}

int live_read_file(const char *path, uint64_t trace_id,
		   struct live_read_snapshot *snapshot)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int error;

	memset(snapshot, 0, sizeof(*snapshot));
	if (fd < 0)
		return -errno;
	error = live_read_fd(fd, trace_id, snapshot);
	close(fd);
	return error;
}

void live_read_free(struct live_read_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->count; i++)
		buffer_free(&snapshot->chunks[i].payload);
	free(snapshot->chunks);
	memset(snapshot, 0, sizeof(*snapshot));
}

/* Field n of the process's line, n >= 3; 0: missing. */
static uint64_t stat_field(const char *line, int n)
{
	/* The name in field 2 may have any characters, also parentheses. */
	const char *p = strrchr(line, ')');

	for (int field = 2; field < n && p != NULL; field++)
		p = strchr(p + 1, ' ');
	return p == NULL ? 0 : strtoull(p, NULL, 10);
}

/* Reads the line of the process with this start time. Returns its state, or
 * '\0': it is gone. */
static char read_stat(pid_t pid, uint64_t start_time, char line[STAT_LINE])
{
	char path[64], *p;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = start_time == 0 ? NULL : fopen(path, "re");
	if (file == NULL)
		return 0;
	if (fgets(line, STAT_LINE, file) == NULL)
		line[0] = 0;
	fclose(file);
	p = strrchr(line, ')');
	if (p == NULL || p[1] != ' ' || stat_field(line, 22) != start_time)
		return 0;
	return p[2];
}

int live_read_process_exists(pid_t pid, uint64_t start_time)
{
	char line[STAT_LINE];
	char state = read_stat(pid, start_time, line);

	return state != 0 && state != 'Z' && state != 'X';
}

int live_read_process_status(pid_t pid, uint64_t start_time)
{
	char line[STAT_LINE], path[64];
	struct stat status;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	/* the kernel shows other users 0 */
	if (stat(path, &status) != 0 ||
	    (geteuid() != 0 && geteuid() != status.st_uid) ||
	    read_stat(pid, start_time, line) != 'Z')
		return -1;
	return (int)stat_field(line, 52);
}

/* The recorder locks the file, and the target's mapping shares that open file:
 * the lock is held until recorder and program are both gone. */
int live_read_is_held(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int held;

	if (fd < 0)
		return 0;
	held = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	close(fd);
	return held;
}
