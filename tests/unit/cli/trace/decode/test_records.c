/* test_records.c: every kind of payload there and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "cli/trace/decode/records.h"
#include "cli/trace/write/compose.h"

#define EVENTS 5000

static const uint64_t extra_args[3][GT_EXTRA_ARGS] = {
	{ 0, 1, 127, 128 }, { UINT64_MAX, 0, 7, UINT64_C(1) << 47 },
	{ 3, 3, 3, 3 }
};

/* Equal, and so are the arguments behind the pointers. */
static void same_events(const struct trace_event *a,
			const struct trace_event *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct trace_event got = b[i];

		if (a[i].args != NULL)
			assert_memory_equal(a[i].args, got.args,
					    sizeof(extra_args[0]));
		got.args = a[i].args;
		assert_memory_equal(&a[i], &got, sizeof(got));
	}
}

static void fill_events(struct trace_event *events)
{
	uint64_t stamp = UINT64_C(1) << 40;

	for (unsigned i = 0; i < EVENTS; i++) {
		struct trace_event *e = &events[i];

		memset(e, 0, sizeof(*e));
		e->kind = i % GT_EVENT_COUNT;
		e->stamp = stamp += (i * 7919) % 300;
		e->address = (uint64_t)(i * 2654435761u) << (i % 30);
		if (e->kind == GT_EXTRA) {
			e->what = (uint8_t)(i % 200);
			e->args = extra_args[i % 3];
		} else if (e->kind == GT_ALLOC || e->kind == GT_REALLOC_DONE) {
			e->layout = (uint16_t)(i / 400 * 2731);
		} else {
			continue;
		}
		e->context = i * 12345;
		e->size = i % 5 ? i : UINT64_MAX - i;
	}
}

/* One in eight is without its stack. */
static void fill_freed_by(struct trace_event *events)
{
	for (unsigned i = 0; i < EVENTS; i++)
		if (events[i].kind == GT_FREE ||
		    events[i].kind == GT_REALLOC_BEGIN)
			events[i].context = i % 8 ? i * 54321 : 0;
}

/* With stacks of frees, and without. */
static void events_round(void **state)
{
	static struct trace_event events[EVENTS], back[EVENTS];
	struct event_decoder decoder = { 0 };
	struct inflater inflater = { 0 };

	(void)state;
	fill_events(events);
	for (int round = 0; round < 4; round++) {
		struct buffer payload = { 0 };
		struct cursor c;
		size_t count = 0, n;

		if (round == 2)
			fill_freed_by(events);
		compose_events(&payload, events, EVENTS, round % 2);
		c = cursor_over(payload.data, payload.size);
		assert_int_equal(event_decoder_open(&decoder, &c, false,
						    &inflater), 0);
		while ((n = event_decoder_next(&decoder, back + count, 333))) {
			same_events(events + count, back + count, n);
			count += n;
		}
		assert_int_equal(count, EVENTS);
		assert_false(decoder.bad);
		buffer_free(&payload);
	}
	event_decoder_free(&decoder);
	inflater_free(&inflater);
}

/* No byte more where no free has a stack; and as much of a ring as it took. */
static void frees_without_stacks(void **state)
{
	static struct trace_event events[EVENTS];
	struct buffer plain = { 0 }, one = { 0 };
	unsigned last = EVENTS - 1;
	struct cursor c;

	(void)state;
	fill_events(events);
	compose_events(&plain, events, EVENTS, 0);
	c = cursor_over(plain.data, plain.size);
	cursor_varint(&c);
	cursor_varint(&c);
	for (unsigned i = 0; i < 8; i++) {
		uint64_t raw = cursor_varint(&c), stored = cursor_varint(&c);

		assert_int_equal(raw, stored);
		cursor_bytes(&c, stored);
	}
	assert_false(c.bad);
	assert_int_equal(cursor_left(&c), 0);
	while (events[last].kind != GT_FREE)
		last--;
	assert_int_equal(records_ring_bytes(&events[last], false), 16);
	events[last].context = 20;
	assert_int_equal(records_ring_bytes(&events[last], false), 24);
	assert_int_equal(records_ring_bytes(&events[last], true), 64);
	compose_events(&one, events, EVENTS, 0);
	assert_true(one.size > plain.size);
	assert_memory_equal(one.data, plain.data, plain.size);
	buffer_free(&plain);
	buffer_free(&one);
}

/* Cut short anywhere: fewer events or an error, never others. */
static void events_cut(void **state)
{
	static struct trace_event events[EVENTS], back[EVENTS];
	struct event_decoder decoder = { 0 };
	struct inflater inflater = { 0 };
	struct buffer payload = { 0 };

	(void)state;
	fill_events(events);
	compose_events(&payload, events, 50, 0);
	for (size_t size = 0; size < payload.size; size++) {
		struct cursor c = cursor_over(payload.data, size);
		size_t n;

		if (event_decoder_open(&decoder, &c, false, &inflater) != 0)
			continue;
		n = event_decoder_next(&decoder, back, EVENTS);
		same_events(events, back, n);
		assert_true(decoder.bad);
	}
	buffer_free(&payload);
	event_decoder_free(&decoder);
	inflater_free(&inflater);
}

/* Columns as they are, of which none is compressed. */
static void put_plain(struct buffer *out, const char *bytes, size_t size)
{
	compose_varint(out, size);
	compose_varint(out, size);
	buffer_add(out, bytes, size);
}

/* Kinds, addresses, runs and ticks, and nothing else: whether it is good. */
static size_t heads_decoded(const char *kinds, size_t kinds_size,
			    const char *addresses, size_t addresses_size,
			    const char *runs, size_t runs_size,
			    struct trace_event *back)
{
	struct event_decoder decoder = { 0 };
	struct inflater inflater = { 0 };
	struct buffer payload = { 0 };
	struct cursor c;
	size_t n = 0;

	compose_varint(&payload, 1000);
	compose_varint(&payload, kinds_size);
	put_plain(&payload, kinds, kinds_size);
	put_plain(&payload, addresses, addresses_size);
	for (unsigned i = 2; i < 6; i++)
		put_plain(&payload, "", 0);
	put_plain(&payload, runs, runs_size);
	put_plain(&payload, "\5\6\7", runs_size < 3 ? runs_size : 3);
	c = cursor_over(payload.data, payload.size);
	if (event_decoder_open(&decoder, &c, false, &inflater) == 0)
		n = event_decoder_next(&decoder, back, 8);
	assert_true(n == kinds_size || decoder.bad);
	event_decoder_free(&decoder);
	inflater_free(&inflater);
	buffer_free(&payload);
	return n;
}

/* FREE at 0x100, REALLOC_FREED at 0x110, FREE at 0x107, as bytes; two have the
 * first stamp. */
static void heads_by_hand(void **state)
{
	struct trace_event back[8];

	(void)state;
	assert_int_equal(heads_decoded("\1\5\1", 3, "\100\4\3\7", 4, "\2", 1,
				       back), 3);
	assert_int_equal(back[0].address, 0x100);
	assert_int_equal(back[1].address, 0x110);
	assert_int_equal(back[2].address, 0x107);
	assert_int_equal(back[0].stamp, 1000);
	assert_int_equal(back[1].stamp, 1000);
	assert_int_equal(back[2].stamp, 1005);
	assert_int_equal(back[1].kind, GT_REALLOC_FREED);
	/* no runs: one stamp */
	assert_int_equal(heads_decoded("\1\1", 2, "\4\4", 2, "", 0, back), 2);
	assert_int_equal(back[1].stamp, 1000);
}

/* Ages, runs and ends of columns that cannot be. */
static void heads_that_cannot_be(void **state)
{
	struct trace_event back[8];

	(void)state;
	/* no block began */
	assert_int_equal(heads_decoded("\11", 1, "", 0, "", 0, back), 0);
	assert_int_equal(heads_decoded("\1\11", 2, "\4", 1, "", 0, back), 0);
	/* an address that is not there, then too little of it */
	assert_int_equal(heads_decoded("\1\1", 2, "\4", 1, "", 0, back), 0);
	assert_int_equal(heads_decoded("\1", 1, "\204", 1, "", 0, back), 0);
	/* a run of nothing */
	assert_int_equal(heads_decoded("\1\1", 2, "\4\4", 2, "\0", 1, back),
			 0);
	assert_int_equal(heads_decoded("\1\1", 2, "\4\4", 2, "\1\0", 2,
				       back), 0);
	/* a kind that there is not */
	assert_int_equal(heads_decoded("\7", 1, "\4", 1, "", 0, back), 0);
}

/* Blocks that end in the order in which they began, `behind` later. */
static void ages_round(unsigned behind)
{
	static struct trace_event events[4 * GT_RECENT], back[4 * GT_RECENT];
	struct event_decoder decoder = { 0 };
	struct inflater inflater = { 0 };
	struct buffer payload = { 0 };
	size_t n = 4 * GT_RECENT, count = 0, got;
	struct cursor c;

	memset(events, 0, sizeof(events));
	for (size_t i = 0; i < n; i++) {
		bool ends = i % 2 && i / 2 >= behind;
		size_t block = ends ? i / 2 - behind : i / 2;

		events[i].kind = ends ? GT_FREE : GT_ALLOC;
		events[i].stamp = i / 50;
		events[i].address = 0x10000 + (block * 2 + (!ends && i % 2)) *
						      32 + (block % 9 == 4);
	}
	compose_events(&payload, events, n, 0);
	c = cursor_over(payload.data, payload.size);
	assert_int_equal(event_decoder_open(&decoder, &c, false, &inflater), 0);
	while ((got = event_decoder_next(&decoder, back + count, 777))) {
		same_events(events + count, back + count, got);
		count += got;
	}
	assert_int_equal(count, n);
	event_decoder_free(&decoder);
	inflater_free(&inflater);
	buffer_free(&payload);
}

static void ages_about_the_last_that_is_told(void **state)
{
	(void)state;
	for (unsigned behind = 0; behind < 3; behind++)
		ages_round(behind);
	for (unsigned behind = GT_RECENT - 4; behind < GT_RECENT + 4; behind++)
		ages_round(behind);
	for (unsigned behind = GT_RECENT / 2 - 2; behind < GT_RECENT / 2 + 2;
	     behind++)
		ages_round(behind);
}

/* Of major version 2: kinds with ticks, and each address in full. */
static void events_of_an_old_version(void **state)
{
	struct event_decoder decoder = { 0 };
	struct inflater inflater = { 0 };
	struct buffer payload = { 0 };
	struct trace_event back[4];
	struct cursor c;

	(void)state;
	compose_varint(&payload, 1000);
	compose_varint(&payload, 3);
	/* ALLOC; 5 ticks later FREE; at once FREE */
	put_plain(&payload, "\0\51\1", 3);
	/* 0x100; the same; 16 less and 3 bytes */
	put_plain(&payload, "\100\0\3\3", 4);
	put_plain(&payload, "\64", 1);
	put_plain(&payload, "\12", 1);
	put_plain(&payload, "\1\1", 2);
	put_plain(&payload, "", 0);
	put_plain(&payload, "\20\1", 2);
	c = cursor_over(payload.data, payload.size);
	assert_int_equal(event_decoder_open(&decoder, &c, true, &inflater), 0);
	assert_int_equal(event_decoder_next(&decoder, back, 4), 3);
	assert_int_equal(back[0].stamp, 1000);
	assert_int_equal(back[0].address, 0x100);
	assert_int_equal(back[0].context, 26);
	assert_int_equal(back[0].size, 10);
	assert_int_equal(back[0].layout, 1);
	assert_int_equal(back[1].stamp, 1005);
	assert_int_equal(back[1].kind, GT_FREE);
	assert_int_equal(back[1].address, 0x100);
	assert_int_equal(back[1].context, 8);
	assert_int_equal(back[2].stamp, 1005);
	assert_int_equal(back[2].address, 0xf3);
	assert_int_equal(back[2].context, 7);
	event_decoder_free(&decoder);
	inflater_free(&inflater);
	buffer_free(&payload);
}

static void nodes_round(void **state)
{
	static const struct trace_node nodes[] = {
		{ 16, 0, 0x400000 }, { 17, 16, 0x7fffffffffff },
		{ 20, 17, 16 }, { 18, 3, UINT64_MAX },
		{ UINT32_MAX, 18, 0 },
	};
	struct node_decoder decoder = { 0 };
	struct inflater inflater = { 0 };
	struct buffer payload = { 0 };
	struct trace_node node;
	struct cursor c;
	size_t i = 0;
	bool bad;

	(void)state;
	compose_nodes(&payload, nodes, 5, 1);
	c = cursor_over(payload.data, payload.size);
	assert_int_equal(node_decoder_open(&decoder, &c, &inflater), 0);
	for (; node_decoder_next(&decoder, &node, &bad); i++)
		assert_memory_equal(&node, &nodes[i], sizeof(node));
	assert_int_equal(i, 5);
	assert_false(bad);
	buffer_free(&payload);
	columns_free(&decoder.columns);
	inflater_free(&inflater);
}

static void images_and_threads(void **state)
{
	static const uint8_t id[20] = { 1, 2, 3 };
	static const uint8_t first_version[] = {
		GT_THREAD_START, 5, 6, 1, 7, 1, 'n'
	};
	struct trace_image image = {
		.what = GT_IMAGE_MAPPED, .index = 7, .flags = GT_IMAGE_LATE,
		.first_node = 100, .bias = 0x5555, .segment_count = 2,
		.segments = { { 1, 2, 3, 4 }, { 5, 6, 7, 8 } },
		.build_id = id, .build_id_size = sizeof(id),
		.path = "/lib/x.so", .path_size = 9,
	}, got;
	struct trace_thread thread = { GT_THREAD_START, 1, 2, 3, 4, "name", 4,
				       0x7f0012345678 };
	struct trace_thread thread_got;
	struct buffer payload = { 0 };
	struct cursor c;

	(void)state;
	compose_image(&payload, &image);
	c = cursor_over(payload.data, payload.size);
	assert_true(records_image(&c, &got));
	assert_int_equal(got.index, 7);
	assert_int_equal(got.segment_count, 2);
	assert_memory_equal(got.segments, image.segments, 2 *
			    sizeof(got.segments[0]));
	assert_memory_equal(got.build_id, id, sizeof(id));
	assert_memory_equal(got.path, "/lib/x.so", 9);
	assert_false(records_image(&c, &got));
	assert_false(c.bad);
	buffer_free(&payload);
	compose_thread(&payload, &thread);
	c = cursor_over(payload.data, payload.size);
	assert_true(records_thread(&c, false, &thread_got));
	assert_int_equal(thread_got.stamp, 4);
	assert_int_equal(thread_got.pointer, 0x7f0012345678);
	assert_memory_equal(thread_got.name, "name", 4);
	buffer_free(&payload);
	/* Traces of major version 1: all the same but for the pointer. */
	c = cursor_over(first_version, sizeof(first_version));
	assert_true(records_thread(&c, true, &thread_got));
	assert_int_equal(thread_got.stamp, 7);
	assert_int_equal(thread_got.pointer, 0);
	assert_int_equal(thread_got.name_size, 1);
	assert_false(records_thread(&c, true, &thread_got));
	assert_false(c.bad);
	thread.what = GT_THREAD_END;	/* has no pointer */
	compose_thread(&payload, &thread);
	c = cursor_over(payload.data, payload.size);
	assert_true(records_thread(&c, false, &thread_got));
	assert_int_equal(thread_got.pointer, 0);
	assert_memory_equal(thread_got.name, "name", 4);
	buffer_free(&payload);
}

/* A record may be shorter or longer than those of today. */
static void captures(void **state)
{
	struct trace_capture capture = { .ring = 77 }, got;
	struct buffer payload = { 0 };
	struct cursor c;
	unsigned i;

	(void)state;
	for (i = 0; i < GT_CAPTURE_VALUES; i++)
		capture.value[i] = UINT64_MAX - i;
	compose_capture(&payload, &capture);
	/* ring 5, one value; ring 6, two more than known */
	compose_varint(&payload, 5);
	compose_varint(&payload, 1);
	compose_varint(&payload, GT_MODE_OFF);
	compose_varint(&payload, 6);
	compose_varint(&payload, GT_CAPTURE_VALUES + 2);
	for (i = 0; i < GT_CAPTURE_VALUES + 2; i++)
		compose_varint(&payload, 40 + i);
	c = cursor_over(payload.data, payload.size);
	assert_true(records_capture(&c, &got));
	assert_memory_equal(&got, &capture, sizeof(got));
	assert_true(records_capture(&c, &got));
	assert_int_equal(got.ring, 5);
	assert_int_equal(got.value[GT_CAPTURE_MODE], GT_MODE_OFF);
	assert_int_equal(got.value[GT_CAPTURE_WHY], 0);
	assert_true(records_capture(&c, &got));
	assert_int_equal(got.ring, 6);
	assert_int_equal(got.value[GT_CAPTURE_BARRIERS_MET],
			 40 + GT_CAPTURE_VALUES - 1);
	assert_false(records_capture(&c, &got));
	assert_false(c.bad);
	/* cut anywhere, it is not taken */
	for (i = 1; i < 90; i++) {
		c = cursor_over(payload.data, i);
		assert_false(records_capture(&c, &got));
		assert_true(c.bad);
	}
	buffer_clear(&payload);
	compose_varint(&payload, 1);
	compose_varint(&payload, UINT64_MAX);
	c = cursor_over(payload.data, payload.size);
	assert_false(records_capture(&c, &got));
	assert_true(c.bad);
	buffer_free(&payload);
}

static void lines(void **state)
{
	static const char text[] = "a=b\npath=x\\ny\\\\z\\0w\nempty=\n";
	char line[RECORDS_LINE_MAX];
	struct cursor c = cursor_over(text, sizeof(text) - 1);
	const char *key, *value;

	(void)state;
	assert_true(records_line(&c, line, &key, &value));
	assert_string_equal(key, "a");
	assert_string_equal(value, "b");
	assert_true(records_line(&c, line, &key, &value));
	assert_string_equal(value, "x\ny\\z\x1fw");
	assert_true(records_line(&c, line, &key, &value));
	assert_string_equal(value, "");
	assert_false(records_line(&c, line, &key, &value));
	assert_false(c.bad);
	c = cursor_over("command=a\0\x1f\\0", 13);
	assert_true(records_line(&c, line, &key, &value));
	assert_string_equal(value, "a\x1f \x1f");
	c = cursor_over("nonsense", 8);
	assert_false(records_line(&c, line, &key, &value));
	assert_true(c.bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_round),
		cmocka_unit_test(frees_without_stacks),
		cmocka_unit_test(events_cut),
		cmocka_unit_test(heads_by_hand),
		cmocka_unit_test(heads_that_cannot_be),
		cmocka_unit_test(ages_about_the_last_that_is_told),
		cmocka_unit_test(events_of_an_old_version),
		cmocka_unit_test(nodes_round),
		cmocka_unit_test(images_and_threads),
		cmocka_unit_test(captures),
		cmocka_unit_test(lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
