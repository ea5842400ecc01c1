/* test_merge.c: events of many rings by their stamps, each exactly once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "cli/trace/read/merge.h"
#include "cli/trace/write/compose.h"

struct seen {
	uint64_t last;
	uint64_t count;
	uint64_t backwards;
	uint64_t per_address[64];
};

static void take(void *owner, uint32_t lane, const struct trace_event *events,
		 size_t count)
{
	struct seen *seen = owner;

	(void)lane;
	for (size_t i = 0; i < count; i++) {
		seen->backwards += events[i].stamp < seen->last;
		seen->last = events[i].stamp;
		seen->per_address[events[i].address >> 4 & 63]++;
		seen->count++;
	}
}

static void add(struct merge *merge, uint32_t ring, uint32_t generation,
		uint64_t first, const struct trace_event *events, size_t count)
{
	struct chunk chunk = { .type = GT_EVENTS, .ring = ring,
			       .generation = generation, .first = first,
			       .last = first + 16 * count };
	struct buffer payload = { 0 };

	compose_events(&payload, events, count, 0);
	chunk.payload = (uint8_t *)payload.data;
	chunk.stored = chunk.raw = (uint32_t)payload.size;
	merge_add(merge, &chunk, 0, false);
	buffer_free(&payload);
}

/* Frees only: 16 bytes of ring each. */
static void make(struct trace_event *events, size_t count, uint64_t stamp,
		 unsigned step, unsigned ring)
{
	for (size_t i = 0; i < count; i++)
		events[i] = (struct trace_event){
			.kind = GT_FREE, .stamp = stamp += 1 + (unsigned)
			rand() % step, .address = (uint64_t)(ring + 1) << 4 };
}

static void in_order(void **state)
{
	static struct trace_event events[3000];
	struct seen seen = { 0 };
	struct merge_sink sink = { &seen, take };
	struct merge merge;
	uint64_t added = 0, stamps[13] = { 0 }, positions[13] = { 0 };

	(void)state;
	srand(1);
	merge_init(&merge, &sink);
	for (unsigned round = 0; round < 200; round++) {
		uint64_t watermark = UINT64_MAX;

		for (unsigned ring = 0; ring < 13; ring++) {
			size_t n = (size_t)(rand() % 3000) / (ring + 1) + 1;

			if (ring > 3 && rand() % 3)
				continue;
			make(events, n, stamps[ring], 1 + ring * 3, ring);
			add(&merge, ring, 0, positions[ring], events, n);
			positions[ring] += 16 * n;
			stamps[ring] = events[n - 1].stamp;
			added += n;
		}
		for (unsigned ring = 0; ring < 13; ring++)
			if (stamps[ring] < watermark)
				watermark = stamps[ring];
		merge_run(&merge, watermark);
		assert_true(seen.last < watermark || watermark == 0);
	}
	merge_finish(&merge);
	assert_int_equal(seen.backwards, 0);
	assert_int_equal(seen.count, added);
	assert_int_equal(merge.events, added);
	assert_int_equal(merge.lost_bytes, 0);
	for (unsigned ring = 0; ring < 13; ring++)
		assert_int_equal(seen.per_address[ring + 1] * 16,
				 positions[ring]);
	merge_free(&merge);
}

/* Chunks told twice, and chunks that overlap what was there. */
static void exactly_once(void **state)
{
	static struct trace_event events[1000];
	struct seen seen = { 0 };
	struct merge_sink sink = { &seen, take };
	struct merge merge;

	(void)state;
	make(events, 1000, 0, 5, 0);
	merge_init(&merge, &sink);
	add(&merge, 0, 0, 0, events, 400);
	add(&merge, 0, 0, 0, events, 400);
	add(&merge, 0, 0, 160, events + 10, 390);
	add(&merge, 0, 0, 1600, events + 100, 700);
	add(&merge, 0, 0, 12800, events + 800, 200);
	merge_finish(&merge);
	assert_int_equal(seen.count, 1000);
	assert_int_equal(seen.backwards, 0);
	assert_int_equal(merge.lost_bytes, 0);
	assert_true(merge.repeated > 0);
	merge_free(&merge);
}

static void gaps_are_told(void **state)
{
	static struct trace_event events[1000];
	struct seen seen = { 0 };
	struct merge_sink sink = { &seen, take };
	struct merge merge;

	(void)state;
	make(events, 1000, 0, 5, 0);
	merge_init(&merge, &sink);
	add(&merge, 0, 0, 16, events + 1, 10);
	add(&merge, 0, 0, 320, events + 20, 10);
	merge_finish(&merge);
	assert_int_equal(merge.lost_bytes, 16 + 144);
	merge_free(&merge);
}

/* A ring that is used again by another thread starts at position 0. */
static void generations(void **state)
{
	static struct trace_event events[1000];
	struct seen seen = { 0 };
	struct merge_sink sink = { &seen, take };
	struct merge merge;

	(void)state;
	make(events, 1000, 0, 5, 0);
	merge_init(&merge, &sink);
	add(&merge, 0, 0, 0, events, 100);
	add(&merge, 0, 1, 0, events + 100, 100);	/* not drained yet */
	merge_finish(&merge);
	add(&merge, 0, 2, 0, events + 200, 100);	/* drained */
	add(&merge, 0, 1, 0, events + 100, 100);	/* a repetition */
	merge_finish(&merge);
	assert_int_equal(seen.count, 300);
	assert_int_equal(seen.backwards, 0);
	assert_int_equal(merge.lost_bytes, 0);
	merge_free(&merge);
}

static void malformed(void **state)
{
	struct seen seen = { 0 };
	struct merge_sink sink = { &seen, take };
	struct chunk chunk = { .type = GT_EVENTS, .last = 100,
			       .payload = (const uint8_t *)"\1\377\377",
			       .stored = 3, .raw = 3 };
	struct merge merge;

	(void)state;
	merge_init(&merge, &sink);
	merge_add(&merge, &chunk, 0, false);
	merge_finish(&merge);
	assert_int_equal(merge.bad_chunks, 1);
	assert_int_equal(seen.count, 0);
	merge_free(&merge);
}

#define TIED 600
#define TIED_RINGS 5

struct order {
	uint64_t address[TIED * TIED_RINGS];
	size_t count;
};

static void take_order(void *owner, uint32_t lane,
		       const struct trace_event *events, size_t count)
{
	struct order *order = owner;

	(void)lane;
	for (size_t i = 0; i < count; i++)
		order->address[order->count++] = events[i].address;
}

/* Many equal stamps: however they are cut into chunks, the order is one. */
static void ties_do_not_depend_on_chunks(void **state)
{
	static struct trace_event events[TIED_RINGS][TIED];
	static struct order orders[4];
	static const size_t pieces[4] = { TIED, 1, 7, 300 };

	(void)state;
	for (unsigned ring = 0; ring < TIED_RINGS; ring++)
		for (size_t i = 0; i < TIED; i++)
			events[ring][i] = (struct trace_event){
				.kind = GT_FREE,
				.stamp = 10 + i / (3 + ring % 3),
				.address = (ring * TIED + i + 1) << 4,
			};
	for (unsigned k = 0; k < 4; k++) {
		struct merge_sink sink = { &orders[k], take_order };
		struct merge merge;

		orders[k].count = 0;
		merge_init(&merge, &sink);
		for (size_t at = 0; at < TIED; at += pieces[k])
			for (unsigned i = 0; i < TIED_RINGS; i++) {
				unsigned r = (i + k) % TIED_RINGS;

				add(&merge, r, 0, at * 16, events[r] + at,
				    TIED - at < pieces[k] ? TIED - at :
				    pieces[k]);
			}
		merge_finish(&merge);
		merge_free(&merge);
		assert_int_equal(orders[k].count, TIED * TIED_RINGS);
		assert_memory_equal(&orders[k], &orders[0], sizeof(orders[0]));
	}
}

/* ---- chunks that are compressed ---- */

static void add_packed(struct merge *merge, uint32_t ring,
		       const struct trace_event *events, size_t count)
{
	struct chunk chunk = { .type = GT_EVENTS, .ring = ring,
			       .last = 24 * count, .flags = GT_COMPRESSED };
	struct buffer payload = { 0 };
	size_t room;
	char *packed;

	compose_events(&payload, events, count, 0);
	room = ZSTD_compressBound(payload.size);
	packed = malloc(room);
	chunk.payload = (uint8_t *)packed;
	chunk.raw = (uint32_t)payload.size;
	chunk.stored = (uint32_t)ZSTD_compress(packed, room, payload.data,
					       payload.size, 1);
	merge_add(merge, &chunk, 0, false);
	free(packed);
	buffer_free(&payload);
}

/* Compressed as a whole, columns as they are, more than a batch of each: what
 * is left of one ring's stays good when the next one's is opened. */
static void rings_packed_as_a_whole(void **state)
{
	static struct trace_event events[60000];
	struct seen seen = { 0 };
	struct merge_sink sink = { &seen, take };
	struct merge merge;
	size_t count = 500;

	(void)state;
	merge_init(&merge, &sink);
	for (unsigned ring = 0; ring < 4; ring++, count *= 4) {
		for (size_t i = 0; i < count; i++)
			events[i] = (struct trace_event){ .kind = GT_FREE,
				.stamp = 1000 + i * 4 + ring,
				.address = (ring + 1) << 4 };
		add_packed(&merge, ring, events, count);
	}
	merge_finish(&merge);
	assert_int_equal(merge.bad_chunks, 0);
	assert_int_equal(seen.backwards, 0);
	count = 500;
	for (unsigned ring = 0; ring < 4; ring++, count *= 4)
		assert_int_equal(seen.per_address[ring + 1], count);
	merge_free(&merge);
}

#define WIDE_RINGS 100
#define WIDE_EVENTS 20000

struct wide {
	struct merge *merge;
	uint64_t last, open_max, sum, count;
};

static void take_wide(void *owner, uint32_t lane,
		      const struct trace_event *events, size_t count)
{
	struct wide *wide = owner;

	(void)lane;
	if (wide->merge->open_bytes > wide->open_max)
		wide->open_max = wide->merge->open_bytes;
	for (size_t i = 0; i < count; i++) {
		assert_true(events[i].stamp >= wide->last);
		wide->last = events[i].stamp;
		wide->sum += events[i].size ^ events[i].address;
	}
	wide->count += count;
}

/* A hundred rings whose events are 25 bytes each, and nearly nothing packed:
 * all of them arrive, and are not in memory at once. */
static void rings_that_hold_much(void **state)
{
	static struct trace_event events[WIDE_EVENTS];
	struct wide wide = { 0 };
	struct merge_sink sink = { &wide, take_wide };
	struct merge merge;
	uint64_t sum = 0;

	(void)state;
	for (size_t i = 0; i < WIDE_EVENTS; i++) {
		events[i] = (struct trace_event){ .kind = GT_ALLOC,
			.stamp = 1000 + i, .size = UINT64_MAX,
			.address = i % 2 ? 16 : UINT64_C(1) << 62 };
		sum += events[i].size ^ events[i].address;
	}
	merge_init(&merge, &sink);
	wide.merge = &merge;
	for (unsigned ring = 0; ring < WIDE_RINGS; ring++)
		add_packed(&merge, ring, events, WIDE_EVENTS);
	assert_true(merge.taken < 1 << 20);
	merge_finish(&merge);
	assert_int_equal(wide.count, (uint64_t)WIDE_RINGS * WIDE_EVENTS);
	assert_true(wide.sum == sum * WIDE_RINGS);
	assert_int_equal(merge.bad_chunks, 0);
	assert_true(merge.cut > 0);
	/* would be 55 MiB and more */
	assert_in_range(wide.open_max, 1 << 20, 40 << 20);
	merge_free(&merge);
	assert_int_equal(merge.open_bytes, 0);
}

/* A cut chunk of which some was seen before, and one that ends badly. */
static void parts_of_what_is_cut(void **state)
{
	static struct trace_event events[WIDE_EVENTS];
	struct wide wide = { 0 };
	struct merge_sink sink = { &wide, take_wide };
	struct merge merge;

	(void)state;
	for (size_t i = 0; i < WIDE_EVENTS; i++)
		events[i] = (struct trace_event){ .kind = GT_ALLOC,
			.stamp = 1000 + i, .size = 1 + i, .address = 16 };
	merge_init(&merge, &sink);
	wide.merge = &merge;
	add_packed(&merge, 0, events, 5000);
	merge.open_bytes += UINT64_C(1) << 40;	/* as if others held it */
	add_packed(&merge, 0, events, WIDE_EVENTS);
	merge_finish(&merge);
	assert_int_equal(wide.count, WIDE_EVENTS);
	assert_int_equal(merge.cut, 2);
	events[WIDE_EVENTS - 1].kind = GT_EVENT_COUNT;
	wide.last = 0;
	add_packed(&merge, 1, events, WIDE_EVENTS);
	merge_finish(&merge);
	assert_int_equal(merge.bad_chunks, 1);
	assert_true(wide.count >= 2 * WIDE_EVENTS - 512);
	merge_free(&merge);
}

static void a_broken_heap_is_seen(void **state)
{
	static struct trace_event events[100];
	struct seen seen = { 0 };
	struct merge_sink sink = { &seen, take };
	struct merge_stream *first;
	struct merge merge;

	(void)state;
	merge_init(&merge, &sink);
	for (unsigned ring = 0; ring < 3; ring++) {
		make(events, 100, 1000 * ring, 5, ring);
		add(&merge, ring, 0, 0, events, 100);
	}
	assert_true(merge_is_valid(&merge));
	first = merge.heap[0];
	merge.heap[0] = merge.heap[2];		/* I2 */
	merge.heap[2] = first;
	assert_false(merge_is_valid(&merge));
	merge.heap[2] = merge.heap[0];
	merge.heap[0] = first;
	assert_true(merge_is_valid(&merge));
	merge.heap_count--;			/* I1 */
	assert_false(merge_is_valid(&merge));
	merge.heap_count++;
	merge_run(&merge, 50);
	merge.open_bytes = 0;			/* I4 */
	assert_false(merge_is_valid(&merge));
	merge_free(&merge);
}

/* ---- two goes ---- */

#define GOES 40			/* moments at which the first ends */
#define GO_RINGS 5
#define GO_CHUNKS 4
#define GO_EVENTS 300

struct noted {
	uint64_t stamps[GO_RINGS * GO_CHUNKS * GO_EVENTS];
	uint64_t addresses[GO_RINGS * GO_CHUNKS * GO_EVENTS];
	size_t count;
};

static void note(void *owner, uint32_t lane, const struct trace_event *events,
		 size_t count)
{
	struct noted *noted = owner;

	(void)lane;
	for (size_t i = 0; i < count; i++) {
		noted->stamps[noted->count] = events[i].stamp;
		noted->addresses[noted->count++] = events[i].address;
	}
}

static struct trace_event go_events[GO_RINGS][GO_CHUNKS][GO_EVENTS];

/* All chunks; behind `points` only what they leave. */
static void add_left(struct merge *merge, const struct merge_point *points,
		     size_t count)
{
	for (unsigned c = 0; c < GO_CHUNKS; c++)
		for (uint32_t ring = 0; ring < GO_RINGS; ring++) {
			uint64_t first = c * 16 * GO_EVENTS;
			size_t i = 0;

			while (i < count && points[i].ring != ring)
				i++;
			if (points != NULL &&
			    (i == count || first < points[i].first))
				continue;
			if (points != NULL && first == points[i].first)
				merge->given = points[i].given;
			add(merge, ring, 0, first, go_events[ring][c],
			    GO_EVENTS);
		}
}

/* Where the first reading stops, a second one goes on: each event once. */
static void in_two_goes(void **state)
{
	static struct noted whole, noted;
	const struct merge_sink all = { &whole, note }, both = { &noted, note };
	struct merge merge;

	(void)state;
	srand(4);
	for (unsigned ring = 0; ring < GO_RINGS; ring++)
		for (unsigned c = 0; c < GO_CHUNKS; c++)
			make(go_events[ring][c], GO_EVENTS, c == 0 ? 0 :
			     go_events[ring][c - 1][GO_EVENTS - 1].stamp,
			     3 + ring, ring);
	merge_init(&merge, &all);
	add_left(&merge, NULL, 0);
	merge_finish(&merge);
	merge_free(&merge);
	for (unsigned go = 0; go < GOES; go++) {
		struct merge_point *points;
		size_t count;

		noted.count = 0;
		merge_init(&merge, &both);
		add_left(&merge, NULL, 0);
		merge_run(&merge, go * 3 * GO_CHUNKS * GO_EVENTS / GOES);
		assert_true(merge_points(&merge, &points, &count));
		merge_free(&merge);
		merge_init(&merge, &both);
		add_left(&merge, points, count);
		merge_finish(&merge);
		merge_free(&merge);
		free(points);
		assert_int_equal(noted.count, whole.count);
		assert_memory_equal(noted.stamps, whole.stamps,
				    sizeof(whole.stamps));
		assert_memory_equal(noted.addresses, whole.addresses,
				    sizeof(whole.addresses));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order),
		cmocka_unit_test(exactly_once),
		cmocka_unit_test(gaps_are_told),
		cmocka_unit_test(generations),
		cmocka_unit_test(malformed),
		cmocka_unit_test(ties_do_not_depend_on_chunks),
		cmocka_unit_test(rings_packed_as_a_whole),
		cmocka_unit_test(rings_that_hold_much),
		cmocka_unit_test(parts_of_what_is_cut),
		cmocka_unit_test(a_broken_heap_is_seen),
		cmocka_unit_test(in_two_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
