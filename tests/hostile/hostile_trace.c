/*
 * hostile_trace.c: a trace with every kind of chunk, broken in every way that
 * can be counted up: cut at every byte, every byte changed (and the checksum
 * made right again, so that the content is reached), every field set to what
 * no recorder writes, chunks left out, doubled and moved, and content that
 * contradicts itself or is made to take long. check_trace.h says what must
 * hold.
 *
 * usage: hostile_trace [TRACE]    that one cut and changed; else all of it
 *        hostile_trace -a         all commands over every file of it
 *        hostile_trace -w DIR N   write every N-th broken file, with the
 *                                 status that it is to be read with
 *        hostile_trace -s DIR     write seeds for fuzz targets
 *        hostile_trace -m DIR     write those that hold much more than they
 *                                 take
 *
 * compose.c is compiled into this file with a hook at the one function that
 * every field goes through, so that a field can be given another value while
 * the sizes and checksums around it stay right.
 */
#include <inttypes.h>

#include "cli/base/text/buffer.h"

static void hooked_add(struct buffer *text, const char *bytes, size_t size);
#define buffer_add hooked_add
#include "cli/model/core/contexts.h"
#include "cli/trace/write/compose.c"
#undef buffer_add

#include "check_trace.h"
#include "whole_trace.h"

static const uint64_t extremes[] = {
	0, 1, 2, 255, 65535, 65536, INT32_MAX, UINT64_C(1) << 31, UINT32_MAX,
	UINT64_C(1) << 32, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX - 1,
	UINT64_MAX,
};
#define EXTREMES (sizeof(extremes) / sizeof(extremes[0]))

/* Of all that is put together, the field whose turn it is gets `value`. */
static struct {
	bool on;
	unsigned long seen, turn;
	uint64_t value;
} hook;

static const char *write_to;
static unsigned long write_every, written, commands_every = 3;
/* Of the long lists every so many files are taken. */
static unsigned long take_every = 12, offered;

static size_t encode(uint64_t value, char *bytes)
{
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[n++] = (char)(value | 0x80);
	bytes[n++] = (char)value;
	return n;
}

static bool is_varint(const char *bytes, size_t size)
{
	if (size == 0 || size > CURSOR_VARINT_MAX)
		return false;
	for (size_t i = 0; i < size; i++)
		if (!(bytes[i] & 0x80) != (i == size - 1))
			return false;
	return true;
}

static void hooked_add(struct buffer *text, const char *bytes, size_t size)
{
	char other[CURSOR_VARINT_MAX];

	if (hook.on && !whole_many && is_varint(bytes, size) && hook.seen++ == hook.turn) {
		size = encode(hook.value, other);
		bytes = other;
	}
	buffer_add(text, bytes, size);
}

/* ---- one file ---- */

static void write_sample(const struct buffer *file, int status)
{
	char path[512];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%lu.%d.trace", write_to, written++,
		 status);
	out = fopen(path, "w");
	if (out == NULL ||
	    fwrite(file->data, 1, file->size, out) != file->size ||
	    fclose(out))
		judge_fail("%s cannot be written", path);
}

static int take(const struct buffer *file, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int take(const struct buffer *file, const char *format, ...)
{
	va_list args;
	int status;

	if (offered++ % take_every != 0)
		return EXIT_PARTIAL;
	va_start(args, format);
	vsnprintf(judge_shared->what, sizeof(judge_shared->what), format, args);
	va_end(args);
	status = judge_trace(file->data, file->size,
			     judge.runs % commands_every == 0);
	if (write_to && judge.runs % write_every == 0)
		write_sample(file, status);
	return status;
}

/* Something is wrong with it for certain, and must be told. */
static void take_broken(const struct buffer *file, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void take_broken(const struct buffer *file, const char *format, ...)
{
	char what[200];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (take(file, "%s", what) == EXIT_COMPLETE)
		judge_fail("passes for complete");
}

static void passed(const char *name)
{
	static unsigned number;
	static unsigned long before;

	dprintf(judge.real_out, "ok %u - %s (%lu files)\n", ++number, name,
		judge.runs - before);
	before = judge.runs;
}

/* ---- bytes ---- */

static void cut(const struct buffer *file, size_t step)
{
	struct buffer part = *file;

	for (part.size = 0; part.size < file->size; part.size += step)
		take_broken(&part, "the first %zu bytes", part.size);
	passed("cut at every byte");
}

static void flip(struct buffer *file, size_t step)
{
	for (size_t i = 0; i < file->size; i += step) {
		file->data[i] ^= (char)(1 << i % 8);
		take_broken(file, "byte %zu changed", i);
		file->data[i] ^= (char)(1 << i % 8);
	}
	passed("every byte changed");
}

/* Make the checksum of the header, or of the chunk at `at`, right. */
static void set_sum(struct buffer *file, size_t at, uint64_t id)
{
	struct cursor c = cursor_over(file->data, file->size);
	struct buffer sum = { 0 };
	uint32_t stored;

	if (at == 0) {
		buffer_little(&sum, XXH64(file->data, GT_HEADER_SIZE - 8, 0), 8);
		memcpy(file->data + GT_HEADER_SIZE - 8, sum.data, 8);
		buffer_free(&sum);
		return;
	}
	c.next += at + 8;
	stored = cursor_u32(&c);
	if (stored > file->size - at - GT_CHUNK_SIZE)
		return;		/* cannot be right */
	buffer_little(&sum, scan_checksum((uint8_t *)file->data + at,
				       (uint8_t *)file->data + at +
				       GT_CHUNK_SIZE, stored, id), 8);
	memcpy(file->data + at + GT_CHUNK_SIZE - 8, sum.data, 8);
	buffer_free(&sum);
}

static uint32_t stored_at(const struct buffer *file, size_t at)
{
	struct cursor c = cursor_over(file->data + at + 8, 4);

	return cursor_u32(&c);
}

/* As flip, with right checksums: what is checked is what is behind them. */
static void flip_inside(const struct buffer *file, uint64_t id, size_t step)
{
	static const uint8_t masks[] = { 0x01, 0x80, 0xff };
	struct buffer changed = { 0 };
	size_t chunk = 0, end = GT_HEADER_SIZE;

	buffer_add(&changed, file->data, file->size);
	for (size_t i = 0; i < file->size; i += step) {
		while (i >= end) {
			chunk = end;
			end += GT_CHUNK_SIZE + stored_at(file, chunk);
		}
		for (unsigned k = 0; k < sizeof(masks); k++) {
			memcpy(changed.data, file->data, file->size);
			changed.data[i] ^= (char)masks[k];
			set_sum(&changed, chunk, id);
			take(&changed, "byte %zu (%zu of its chunk) ^ %02x, "
			     "checksum right", i, i - chunk, masks[k]);
		}
	}
	buffer_free(&changed);
	passed("every byte changed, checksum right");
}

/* ---- fields ---- */

static void fields(void)
{
	static struct whole_trace trace;
	struct buffer file = { 0 };
	unsigned long count;

	hook.turn = ULONG_MAX;
	hook.seen = 0;
	hook.on = true;
	whole_compose(&trace);
	hook.on = false;
	whole_free(&trace);
	count = hook.seen;
	for (unsigned long i = 0; i < count; i++)
		for (unsigned k = 0; k < EXTREMES; k++) {
			hook.turn = i;
			hook.seen = 0;
			hook.value = extremes[k];
			hook.on = true;
			whole_compose(&trace);
			hook.on = false;
			whole_file(&trace, NULL, trace.count, &file);
			take(&file, "field %lu = %" PRIu64, i, extremes[k]);
			whole_free(&trace);
		}
	buffer_free(&file);
	passed("every field at its extremes");
}

/* Fields of the headers of chunks. */
static void headers(const struct whole_trace *trace)
{
	static const struct { unsigned at, size; } fields_of[] = {
		{ 4, 2 }, { 6, 2 }, { 8, 4 }, { 12, 4 }, { 16, 4 }, { 20, 4 },
		{ 24, 8 }, { 32, 8 }, { 40, 8 },
	};
	struct buffer file = { 0 };
	size_t at = GT_HEADER_SIZE;

	whole_file(trace, NULL, trace->count, &file);
	while (at < file.size) {
		size_t next = at + GT_CHUNK_SIZE + stored_at(&file, at);

		for (unsigned f = 0; f < 9 * EXTREMES; f++) {
			uint64_t value = extremes[f % EXTREMES];
			unsigned field = f / EXTREMES;
			char *bytes = file.data + at + fields_of[field].at;
			char kept[8];

			memcpy(kept, bytes, 8);
			for (unsigned i = 0; i < fields_of[field].size; i++)
				bytes[i] = (char)(value >> 8 * i);
			set_sum(&file, at, WHOLE_ID);
			take(&file, "chunk at %zu, header %u = %" PRIu64, at,
			     fields_of[field].at, value);
			memcpy(bytes, kept, fields_of[field].size);
			set_sum(&file, at, WHOLE_ID);
		}
		at = next;
	}
	buffer_free(&file);
	passed("every field of every chunk's header");
}

/* ---- order ---- */

static void fill(unsigned *order, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		order[i] = i;
}

static void order_of(const struct whole_trace *trace)
{
	unsigned order[2 * WHOLE_PIECES_MAX], n = trace->count;
	struct buffer file = { 0 };

	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < n; k++) {
			/* the i-th is where the k-th was */
			fill(order, n);
			memmove(order + i, order + i + 1,
				(n - 1 - i) * sizeof(*order));
			memmove(order + k + 1, order + k,
				(n - 1 - k) * sizeof(*order));
			order[k] = i;
			whole_file(trace, order, n, &file);
			take(&file, "chunk %u moved to %u", i, k);
			fill(order, n);
			memmove(order + k + 1, order + k,
				(n - k) * sizeof(*order));
			order[k] = i;
			whole_file(trace, order, n + 1, &file);
			take(&file, "chunk %u again at %u", i, k);
		}
	passed("chunks moved and doubled");
	for (unsigned i = 0; i < n; i++) {
		unsigned type = trace->list[i].chunk.type;

		fill(order, n);
		memmove(order + i, order + i + 1, (n - 1 - i) * sizeof(*order));
		whole_file(trace, order, n - 1, &file);
		if (type == GT_CONTEXT || type == GT_END || type == GT_EVENTS)
			take_broken(&file, "chunk %u left out", i);
		else
			take(&file, "chunk %u left out", i);
	}
	buffer_free(&file);
	passed("chunks left out");
}

/* ---- contradictions ---- */

/* The whole trace with another chunk before its END, or another END. */
static void with(const char *what, unsigned type, struct buffer *payload)
{
	static struct whole_trace trace;
	unsigned order[WHOLE_PIECES_MAX];
	struct buffer file = { 0 };

	whole_compose(&trace);
	buffer_free(whole_add(&trace, type));
	trace.list[trace.count - 1].payload = *payload;
	memset(payload, 0, sizeof(*payload));
	fill(order, trace.count);
	if (type != GT_END) {
		order[trace.count - 1] = trace.count - 2;
		order[trace.count - 2] = trace.count - 1;
	}
	whole_file(&trace, order, trace.count, &file);
	take_broken(&file, "%s", what);
	whole_free(&trace);
	buffer_free(&file);
}

static void with_nodes(const char *what, const struct trace_node *nodes,
		       size_t count)
{
	struct buffer payload = { 0 };

	compose_nodes(&payload, nodes, count, 0);
	with(what, GT_CONTEXT, &payload);
}

static void with_image(const char *what, struct trace_image image)
{
	struct buffer payload = { 0 };

	compose_image(&payload, &image);
	with(what, GT_IMAGE, &payload);
}

static void with_end(const char *what, const char *key, const char *value)
{
	struct buffer payload = { 0 };

	compose_line(&payload, key, value);
	with(what, GT_END, &payload);
}

static uint64_t events_there(void)
{
	static struct whole_trace trace;
	uint64_t events;

	memset(&trace, 0, sizeof(trace));
	whole_compose(&trace);
	events = trace.events;
	whole_free(&trace);
	return events;
}

static void contradictions(void)
{
	const struct trace_node again[] = { { WHOLE_FIRST + 2, 0, 1 } };
	const struct trace_node self[] = { { 50, 50, 1 } };
	const struct trace_node loop[] = { { 50, 51, 1 }, { 51, 52, 2 },
					   { 52, 50, 3 } };
	const struct trace_node late[] = { { 60, 61, 1 }, { 61, 0, 2 } };
	const struct trace_node root[] = { { 3, 0, 1 } };
	struct trace_image image = { .what = GT_IMAGE_MAPPED, .index = 0,
				     .first_node = 16, .bias = 77,
				     .path = "/other", .path_size = 6,
				     .build_id = (const uint8_t *)"" };
	char more[24];

	snprintf(more, sizeof(more), "%llu",
		 (unsigned long long)events_there() + 1);
	with_nodes("a context defined twice", again, 1);
	with_nodes("its own parent", self, 1);
	with_nodes("a loop of parents", loop, 3);
	with_nodes("a parent after its child", late, 2);
	with_nodes("a reserved context", root, 1);
	with_image("an index twice", image);
	image = (struct trace_image){ .what = GT_IMAGE_GONE, .index = 99 };
	with_image("the end of no image", image);
	image.index = 0;
	image.end_node = 1;
	with_image("an end before the beginning", image);
	with_end("more events counted than there are", "events", more);
	with_end("2^63 events", "events", "9223372036854775808");
	passed("contradictions");
}

/* ---- what takes long, or much ---- */

static uint32_t scattered(uint32_t i)
{
	return GT_STOP_COUNT + (i << CONTEXT_PAGE_BITS);
}

static void with_events(const char *what, const struct trace_event *events,
			size_t count)
{
	static struct whole_trace trace;
	struct buffer file = { 0 };

	memset(&trace, 0, sizeof(trace));
	whole_info(&trace);
	whole_sync(&trace, 1000);
	whole_threads(&trace);
	whole_nodes(&trace);
	for (size_t done = 0; done < count; done += 32768)
		whole_events(&trace, 0, events + done,
			     count - done < 32768 ? count - done : 32768);
	whole_last_words(&trace);
	whole_file(&trace, NULL, trace.count, &file);
	take(&file, "%s", what);
	whole_free(&trace);
	buffer_free(&file);
}

#define MANY 400000

static void many_events(void)
{
	struct trace_event *events = grow_zeroed(MANY, sizeof(*events));
	static const uint64_t name[GT_EXTRA_ARGS] = { 0x61 };
	uint64_t (*names)[GT_EXTRA_ARGS] = grow_zeroed(MANY, sizeof(*names));

	for (uint32_t i = 0; i < MANY; i++)
		events[i] = (struct trace_event){ 1000 + i, 16 + i * 16ull, 1,
			scattered(i % 300000), GT_ALLOC, 0, 0, 0 };
	with_events("events of contexts far apart", events, MANY);
	for (uint32_t i = 0; i < MANY; i++)
		events[i].size = UINT64_C(1) << 63;
	with_events("blocks of 2^63 bytes", events, MANY);
	for (uint32_t i = 0; i < MANY; i++)
		events[i].address = 4096;
	with_events("one address allocated again and again", events, MANY);
	for (uint32_t i = 0; i < MANY; i++)
		events[i].kind = i % 2 ? GT_REALLOC_BEGIN : GT_ALLOC;
	with_events("reallocs that never end", events, MANY);
	for (uint32_t i = 0; i < MANY; i++) {
		names[i][0] = i;
		names[i][1] = name[0];
		events[i] = (struct trace_event){ 1000, 0, 0, 16, GT_EXTRA,
			GT_EXTRA_NAME, 0, names[i] };
	}
	with_events("a thread of many names", events, MANY);
	for (uint32_t i = 0; i < MANY; i++)
		events[i] = (struct trace_event){ 1000, 16 * i + 16, 0, 0,
						  GT_FREE, 0, 0, 0 };
	with_events("frees of nothing", events, MANY);
	/* as after many drops: several wait, and go at once */
	for (uint32_t i = 0; i < MANY; i++)
		events[i].stamp = 1000 + i / 7 * 50 + i % 7 * 2;
	with_events("frees of nothing, by sevens", events, MANY);
	for (uint32_t i = 0; i < MANY; i++)
		events[i].kind = i % 3 ? GT_REALLOC_BEGIN : GT_FREE;
	with_events("frees and reallocs of nothing", events, MANY);
	free(events);
	free(names);
}

/*
 * A chunk of each of many rings that holds a thousand times what it takes:
 * `count` events, or one with columns of 16 MiB.
 */
static void compose_wide(struct whole_trace *trace, struct buffer *file,
			 size_t count)
{
	static char zeroes[GT_PAYLOAD_MAX];
	struct buffer column = { zeroes, sizeof(zeroes), 0 }, *payload;
	/* of a kind that means nothing to anybody */
	static const uint64_t args[GT_EXTRA_ARGS] = { UINT64_MAX, UINT64_MAX,
						     UINT64_MAX, UINT64_MAX };
	struct trace_event event = { 1000, 0, UINT64_MAX, 0, GT_EXTRA, 200, 0,
				     args };
	struct trace_event *events = grow_zeroed(count, sizeof(*events));
	struct whole_piece *piece;

	memset(trace, 0, sizeof(*trace));
	whole_info(trace);
	whole_sync(trace, 1000);
	whole_threads(trace);
	payload = whole_add(trace, GT_EVENTS);
	piece = &trace->list[trace->count - 1];
	for (size_t i = 0; i < count; i++, event.stamp++) {
		events[i] = event;
		events[i].address = i % 2 << 62;
	}
	if (count > 1)
		compose_events(payload, events, count, 1);
	for (unsigned i = 0; count == 1 && i < 9; i++)
		if (i < 2)
			compose_varint(payload, 1);	/* stamp, count */
		else
			compose_column(payload, &column, 1);
	piece->chunk.last = GL_RECORD_MAX * count;
	free(events);
	whole_file(trace, NULL, trace->count - 1, file);
	for (unsigned ring = 0; ring < 100; ring++) {
		piece->chunk.sequence = trace->count - 1 + ring;
		piece->chunk.ring = 10 + ring;
		compose_chunk(file, &piece->chunk, WHOLE_ID, &piece->payload);
	}
	whole_free(trace);
}

static void wide_rings(void)
{
	static struct whole_trace trace;
	struct buffer file = { 0 };

	compose_wide(&trace, &file, 1);
	take_broken(&file, "columns of 16 MiB");
	compose_wide(&trace, &file, 10000);
	take(&file, "a hundred rings that hold much");
	buffer_free(&file);
}

/* The same, for who reads them with little memory. */
static void write_wide(const char *directory)
{
	static const size_t counts[] = { 1, 20000 };
	static struct whole_trace trace;
	struct buffer file = { 0 };

	write_to = directory;
	for (unsigned i = 0; i < 2; i++) {
		compose_wide(&trace, &file, counts[i]);
		write_sample(&file, EXIT_PARTIAL);
	}
	buffer_free(&file);
}

static void many_nodes(void)
{
	struct trace_node *nodes = grow_zeroed(MANY, sizeof(*nodes));

	for (uint32_t i = 0; i < MANY; i++)
		nodes[i] = (struct trace_node){ scattered(i), 0, i };
	with_nodes("contexts far apart", nodes, MANY);
	for (uint32_t i = 0; i < MANY; i++)
		nodes[i] = (struct trace_node){ 100 + i, 99 + i, 0x401010 };
	nodes[MANY - 1].parent = UINT32_MAX;
	with_nodes("a stack without end", nodes, MANY);
	free(nodes);
}

static void many_records(void)
{
	struct buffer payload = { 0 };
	struct trace_thread thread = { GT_THREAD_START, 5, 100, 0, 0, "n", 1,
				       0x7000 };
	struct trace_image image = { .what = GT_IMAGE_MAPPED,
		.segment_count = 1, .segments = { { 4096, 1 << 20, 0, 5 } },
		.path = "/x", .path_size = 2,
		.build_id = (const uint8_t *)"abc", .build_id_size = 3 };

	for (uint32_t i = 0; i < MANY; i++) {
		thread.ring = i % 3 + 5;
		thread.stamp = MANY - i;
		thread.flags = i % 2 ? GT_THREAD_NESTED : 0;
		compose_thread(&payload, &thread);
	}
	compose_varint(&payload, 0);	/* something is wrong for certain */
	with("threads with one tid", GT_THREAD, &payload);
	for (uint32_t i = 0; i < 100000; i++) {
		image.index = i + 2;
		image.bias = i;
		compose_image(&payload, &image);
	}
	with("images over images", GT_IMAGE, &payload);
}

static void take_real(const char *path)
{
	struct buffer file = { 0 };
	char bytes[65536];
	FILE *in = fopen(path, "r");
	struct cursor c;
	size_t n, step;

	while (in != NULL && (n = fread(bytes, 1, sizeof(bytes), in)) > 0)
		buffer_add(&file, bytes, n);
	if (in == NULL || file.size < GT_HEADER_SIZE || fclose(in))
		judge_fail("%s cannot be read", path);
	c = cursor_over(file.data + 16, 8);
	/* Larger files would take long: not every byte of them then. */
	step = 1 + file.size / 4096;
	commands_every = 64;	/* there are symbols to look up */
	cut(&file, step);
	flip(&file, step);
	flip_inside(&file, cursor_u64(&c), step * 3);
	buffer_free(&file);
}

static void take_composed(void)
{
	static struct whole_trace trace;
	struct buffer file = { 0 };

	whole_compose(&trace);
	whole_file(&trace, NULL, trace.count, &file);
	if (take(&file, "the whole trace") != EXIT_COMPLETE)
		judge_fail("not complete");
	cut(&file, 1);
	flip(&file, 1);
	flip_inside(&file, WHOLE_ID, 1);
	headers(&trace);
	order_of(&trace);
	whole_free(&trace);
	buffer_free(&file);
	fields();
	take_every = 1;
	contradictions();
	many_events();
	wide_rings();
	many_nodes();
	many_records();
	passed("much of everything");
}

/* Seeds for fuzz_reader (DIR/reader-*) and fuzz_trace (DIR/trace-*): see what
 * they take their bytes for. */
static void write_seeds(const char *directory)
{
	static struct whole_trace trace;
	struct buffer all = { 0 }, head = { 0 };
	char path[512];

	whole_compose(&trace);
	for (unsigned i = 0; i < trace.count; i++) {
		const struct whole_piece *piece = &trace.list[i];
		const struct chunk *chunk = &piece->chunk;
		size_t begin = all.size;
		FILE *out;

		buffer_little(&all, chunk->type, 1);
		buffer_little(&all, chunk->ring, 1);
		buffer_little(&all, chunk->generation, 1);
		buffer_little(&all, chunk->flags, 1);
		buffer_little(&all, chunk->first, 2);
		buffer_little(&all, chunk->last - chunk->first, 2);
		buffer_little(&all, piece->payload.size, 2);
		buffer_add(&all, piece->payload.data, piece->payload.size);
		buffer_clear(&head);
		buffer_little(&head, chunk->type, 1);
		buffer_add(&head, piece->payload.data, piece->payload.size);
		for (unsigned k = 0; k < 3; k++) {
			const struct buffer *from = k < 2 ? &all : &head;
			size_t at = k == 0 ? begin : 0;

			if (k == 1 && i + 1 < trace.count)
				continue;
			snprintf(path, sizeof(path), "%s/%s-%u", directory,
				 k == 2 ? "trace" : k == 1 ? "reader-whole" :
				 "reader", i);
			out = fopen(path, "w");
			if (out == NULL ||
			    fwrite(from->data + at, 1, from->size - at, out) !=
			    from->size - at || fclose(out))
				judge_fail("%s cannot be written", path);
		}
	}
	whole_free(&trace);
	buffer_free(&all);
	buffer_free(&head);
}

int main(int argc, char **argv)
{
	judge_init();
	if (argc == 4 && strcmp(argv[1], "-w") == 0) {
		write_to = argv[2];
		write_every = strtoul(argv[3], NULL, 10);
	}
	if (argc == 2 && strcmp(argv[1], "-a") == 0)
		argc = (int)(commands_every = take_every = 1);
	if (argc == 3 && strcmp(argv[1], "-s") == 0)
		write_seeds(argv[2]);
	else if (argc == 3 && strcmp(argv[1], "-m") == 0)
		write_wide(argv[2]);
	else if (argc == 2)
		take_real(argv[1]);
	else
		take_composed();
	judge_shared->over = true;
	return 0;
}
