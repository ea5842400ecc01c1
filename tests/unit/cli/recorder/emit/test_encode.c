/*
 * test_encode.c: records of a ring become columns, and the columns say the
 * same. The decoder here is written from docs/FORMAT.md's rules alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "preload/ring/area.h"
#include "cli/recorder/emit/encode.h"

#define RING 4096
#define NODES 4096
#define SHIFT 3

struct event {
	unsigned kind;
	uint64_t counter, address, size;
	uint32_t context;
};

#define MANY 20000

static uint8_t ring[RING + GL_RING_SLACK] __attribute__((aligned(64)));
static uint8_t many[MANY * 24 + GL_RING_SLACK] __attribute__((aligned(64)));
static struct gl_node nodes[NODES];
static struct chunk_out out;
static struct emit_node emit;
static struct encode encode;
static struct compress compress;
static uint8_t payload[ENCODE_PAYLOAD_MAX];
static unsigned ages;	/* addresses that were told as recent ones */

static int set_up(void **state)
{
	uint32_t i;

	(void)state;
	for (i = GT_STOP_COUNT; i < NODES; i++) {
		nodes[i].parent = i > 100 ? i - 1 : 0;
		nodes[i].address = 0x400000 + 16 * i;
	}
	out.fd = -1;
	out.room = sizeof(payload);
	out.buffer = malloc(GT_CHUNK_SIZE + out.room);
	compress_init(&compress);
	return emit_node_init(&emit, nodes, NODES, 0, &out, &compress) ||
	       encode_init(&encode, &emit, SHIFT, true);
}

/* What may stand before a block: main arena, another, mmapped, not known. */
static unsigned header_of(const struct event *e)
{
	uint64_t chunk = gt_layout_chunk(e->size, 0);

	if (e->address >> 48)
		return 0;	/* another heap's: its number is there */
	switch (e->address >> 4 & 3) {
	case 0:
		return (chunk & 0xffff) | 1 | GL_HEADER_KNOWN;
	case 1:
		return ((chunk + 16) & 0xffff) | 5 | GL_HEADER_KNOWN;
	case 2:
		return (gt_layout_chunk(e->size, GT_LAYOUT_MMAPPED) & 0xffff) |
		       2 | GL_HEADER_KNOWN;
	}
	return 0;
}

/* What the trace is to say of it. */
static void check_layout(const struct event *e, unsigned layout)
{
	switch (e->address >> 48 ? 3 : e->address >> 4 & 3) {
	case 0:
		assert_int_equal(layout, GT_LAYOUT_KNOWN);
		assert_int_equal(gt_layout_usable(e->size, layout),
				 gt_layout_chunk(e->size, 0) - 8);
		break;
	case 1:
		assert_int_equal(layout, GT_LAYOUT_KNOWN | GT_LAYOUT_OTHER |
					 1 << GT_LAYOUT_SHIFT);
		assert_int_equal(gt_layout_usable(e->size, layout),
				 gt_layout_chunk(e->size, 0) + 8);
		break;
	case 2:
		assert_int_equal(layout, GT_LAYOUT_KNOWN | GT_LAYOUT_MMAPPED);
		assert_int_equal((gt_layout_usable(e->size, layout) + 16) %
					 4096, 0);
		break;
	default:
		assert_int_equal(layout, 0);
	}
}

static bool frees(const struct event *e)
{
	return e->kind == GT_FREE || e->kind == GT_REALLOC_BEGIN;
}

static uint64_t put(uint64_t at, const struct event *e, bool nested)
{
	uint64_t *word = (uint64_t *)(ring + (at & (RING - 1)));
	bool block = e->kind == GT_ALLOC || e->kind == GT_REALLOC_DONE;
	bool big = nested || e->size >= GL_SIZE_BIG;
	unsigned i;

	word[0] = e->counter << GL_KIND_BITS | e->kind;
	word[1] = (e->address & 0xffffffffffff) | e->address >> 48 << 52;
	if (block) {
		word[2] = e->context |
			  (big ? (uint64_t)GL_SIZE_BIG : e->size) << 32;
		if (big)
			word[3] = e->size;
	}
	if (e->kind == GT_EXTRA) {
		word[2] = e->context | (uint64_t)(e->context % 9 + 1) << 32;
		word[3] = e->size;
		for (i = 0; i < GT_EXTRA_ARGS; i++)
			word[4 + i] = e->address << i;
	}
	if (block)
		word[1] |= (uint64_t)header_of(e) << GL_HEADER_SHIFT;
	if (frees(e) && e->context) {
		word[0] |= GL_KIND_STACK;
		word[2] = e->context;
	}
	if (nested || e->kind == GT_EXTRA)
		return at + GL_RECORD_MAX;
	if (frees(e) && e->context)
		return at + 24;
	return at + (block ? (big ? 32 : 24) : 16);
}

static uint64_t number(const uint8_t **p)
{
	uint64_t v = 0;
	unsigned shift = 0;

	do
		v |= (uint64_t)(**p & 127) << shift;
	while (shift += 7, *(*p)++ & 128);
	return v;
}

static int64_t zigzag(uint64_t v)
{
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

/* One column, decompressed into memory that is never freed. */
static const uint8_t *column(const uint8_t **p, uint64_t *size)
{
	uint64_t stored;
	uint8_t *to;

	*size = number(p);
	stored = number(p);
	assert_true(stored <= *size);
	to = malloc(*size + 1);
	if (stored < *size)
		assert_int_equal(ZSTD_decompress(to, *size, *p, stored),
				 *size);
	else
		memcpy(to, *p, *size);
	*p += stored;
	return to;
}

static void check_extra(const uint8_t **column, const struct event *event)
{
	unsigned k;

	assert_int_equal(number(column), event->context % 9 + 1);
	for (k = 0; k < GT_EXTRA_ARGS; k++)
		assert_int_equal(number(column), event->address << k);
}

static void check(const struct event *events, unsigned n, const uint8_t *end)
{
	const uint8_t *p = payload, *c[9], *stop[9];
	bool stacked = false;
	uint64_t layout = 0, run = 0;
	uint64_t tick = number(&p), size, same = UINT64_MAX;
	/* told so far: of blocks that began, and of all others */
	static uint64_t reported[2][ENCODE_EVENTS];
	unsigned count[2] = { 0, 0 };
	uint32_t context = 0, freed_by = 0;
	unsigned i;

	for (i = 0; i < n; i++)
		stacked |= frees(&events[i]) && events[i].context;
	assert_int_equal(number(&p), n);
	for (i = 0; i < 8u + stacked; i++) {
		c[i] = column(&p, &size);
		stop[i] = c[i] + size;
	}
	assert_ptr_equal(p, end);
	for (i = 0; i < n; i++) {
		uint64_t v = number(&c[0]), age = v >> 3, address;
		unsigned kind = v & 7, low = 0, list;

		if (i == 0 && c[6] < stop[6])
			same = number(&c[6]);
		if (same == 0) {
			tick += number(&c[7]);
			same = c[6] < stop[6] ? number(&c[6]) : UINT64_MAX;
		}
		same--;
		assert_int_equal(kind, events[i].kind);
		assert_int_equal(tick, events[i].counter >> SHIFT);
		list = kind == GT_ALLOC || kind == GT_REALLOC_DONE;
		if (age) {
			assert_true(age <= count[!list] && age <= 4096);
			address = reported[!list][count[!list] - age];
			ages++;
		} else {
			v = number(&c[1]);
			if (v & 1)
				low = *c[1]++;
			address = count[list] ? reported[list][count[list] - 1]
					      : 0;
			address = ((address >> 4) + zigzag(v >> 1)) << 4 | low;
		}
		reported[list][count[list]++] = address;
		assert_int_equal(address, events[i].address);
		if (kind == GT_ALLOC || kind == GT_REALLOC_DONE) {
			if (!run) {
				layout = number(&c[4]);
				run = number(&c[4]);
			}
			run--;
			check_layout(&events[i], layout);
		} else if (kind == GT_EXTRA) {
			check_extra(&c[5], &events[i]);
		} else if (frees(&events[i]) && stacked) {
			freed_by += zigzag(number(&c[8]));
			assert_int_equal(freed_by, events[i].context);
			continue;
		} else {
			continue;
		}
		context += zigzag(number(&c[2]));
		assert_int_equal(context, events[i].context);
		assert_int_equal(number(&c[3]), events[i].size);
	}
	assert_int_equal(run, 0);
	for (i = 0; i < 8u + stacked; i++)
		assert_ptr_equal(c[i], stop[i]);
}

static struct event made_up(unsigned i)
{
	static const uint64_t sizes[] = { 0, 1, 127, 128, 16384,
					  GL_SIZE_BIG - 1, GL_SIZE_BIG,
					  UINT64_C(1) << 40 };
	struct event e = {
		.kind = i % GT_EVENT_COUNT,
		.counter = 1000000 + i * UINT64_C(977) * (i % 5 + 1),
		.address = (UINT64_C(0x7f0000000000) * (i & 1)) +
			   i * UINT64_C(4808) % 100003 * 8,
		.size = sizes[i % 8],
		.context = GT_STOP_COUNT + i * 131 % (NODES - GT_STOP_COUNT),
	};

	if (i % 7 == 3 && e.kind != GT_EXTRA)
		e.address |= (uint64_t)(i % 11 ? i % 4095 + 1 : 4095) << 48;
	/* one in five has none where stacks are recorded, else all */
	if (frees(&e) && (!encode.stacks || i % 5 == 0))
		e.context = 0;
	return e;
}

static void sort_stamps(struct event *events, unsigned n)
{
	unsigned i;

	for (i = 1; i < n; i++)
		if (events[i].counter < events[i - 1].counter)
			events[i].counter = events[i - 1].counter;
}

static void say_what_records_said(void)
{
	struct event events[150];
	uint64_t from, at, unfinished = 0;
	unsigned n, i;

	/* from every alignment with the ring's end, across it too */
	for (from = 0; from < RING; from += 8) {
		struct encode_span span = { ring, RING - 1, from, 0, false };
		uint8_t *end;

		for (n = 0, at = from; at + GL_RECORD_MAX - from <= RING &&
		     n < 150; n++)
			events[n] = made_up(n + from / 8),
			events[n].counter += from,
			at += events[n].kind == GT_EXTRA ? GL_RECORD_MAX : 32;
		sort_stamps(events, n);
		for (i = 0, at = from; i < n; i++)
			at = put(at, &events[i], false);
		span.to = at;
		assert_int_equal(encode_events(&encode, &span, &unfinished),
				 at);
		assert_int_equal(encode.events, n);
		end = encode_payload(&encode, payload, &compress);
		check(events, n, end);
	}
	assert_int_equal(unfinished, 0);
}

/* Without stacks of frees, and with them. */
static void columns_say_what_records_said(void **state)
{
	(void)state;
	encode.stacks = false;
	say_what_records_said();
	encode.stacks = true;
	say_what_records_said();
}

/* `events` as records one behind the other, and back. */
static void check_many(const struct event *events, unsigned n)
{
	struct encode_span span = { many, UINT64_MAX, 0, 0, false };
	uint64_t unfinished = 0;
	unsigned i;

	for (i = 0; i < n; i++) {
		memcpy(many + span.to, ring, put(0, &events[i], false));
		span.to += put(0, &events[i], false);
	}
	ages = 0;
	assert_int_equal(encode_events(&encode, &span, &unfinished), span.to);
	check(events, n, encode_payload(&encode, payload, &compress));
}

/*
 * Blocks that end in the order in which they began, and whose places are used
 * again at once. Chunk after chunk, so that what the finder knows of earlier
 * ones is not taken for something of this one.
 */
static void recent_addresses_are_told_by_age(void **state)
{
	static const unsigned waits[] = { 1, 100, 4095, 4096, 4097, 4500 };
	static struct event events[MANY];
	unsigned i, k;

	(void)state;
	encode.stacks = false;
	for (k = 0; k < sizeof(waits) / sizeof(*waits); k++) {
		for (i = 0; i < MANY; i++) {
			bool ends = i % 2 && i / 2 >= waits[k];
			unsigned block = ends ? i / 2 - waits[k] : i / 2;

			events[i] = (struct event){
				.kind = ends ? GT_FREE : GT_ALLOC,
				.counter = 1000 + i / 20 * 8,
				.address = 0x10000 + block * 160 + !ends *
						(i % 2) * UINT64_C(0x1000000),
				.size = ends ? 0 : 24,
				.context = ends ? 0 : GT_STOP_OTHER,
			};
		}
		check_many(events, MANY);
		/* the nearest are found, but for a few whose slot is another's */
		if (waits[k] <= 100)
			assert_true(ages > MANY / 2 - 3 * MANY / 20);
		if (waits[k] > 4096)
			assert_int_equal(ages, 0);
		check_many(events, MANY / 3);
	}
	for (i = 0; i < 3; i++)		/* an address of 0 is one, too */
		events[i].address = 0;
	check_many(events, 3);
	assert_int_equal(ages, 0);
	encode.stacks = true;
}

/* Before the numbers of addresses overflow; what had old ones is forgotten. */
static void numbers_of_addresses_begin_anew(void **state)
{
	static struct event events[16];
	unsigned i;

	(void)state;
	encode.stacks = false;
	for (i = 0; i < 16; i++)
		events[i] = (struct event){
			.kind = i < 15 ? GT_FREE : GT_ALLOC, .counter = 1000,
			.address = i < 15 ? 0x10000 + 160 * i : 0x5555550,
			.context = i < 15 ? 0 : GT_STOP_OTHER,
		};
	for (i = 0; i < 1 << RECENT_HASH_BITS; i++) {
		encode.recent->slot[i].address[0] = events[15].address;
		encode.recent->slot[i].at[0] = GT_RECENT + 10;
	}
	encode.recent->count[1] = RECENT_COUNT_MAX;
	check_many(events, 16);
	assert_int_equal(ages, 0);
	assert_int_equal(encode.recent->count[1], GT_RECENT + 2);
	assert_int_equal(encode.recent->count[0], GT_RECENT + 16);
	encode.stacks = true;
}

static void nested_records_may_be_unfinished(void **state)
{
	struct encode_span span = { ring, RING - 1, 0, 0, true };
	struct event events[5];
	uint64_t at = 0, unfinished = 0;
	unsigned i;

	(void)state;
	for (i = 0; i < 5; i++)
		events[i] = made_up(i);
	sort_stamps(events, 5);
	for (i = 0; i < 5; i++)
		at = put(at, &events[i], true);
	span.to = at;
	assert_int_equal(encode_nested_end(&span), at);
	*(uint64_t *)(ring + 2 * GL_RECORD_MAX) = 0;
	assert_int_equal(encode_nested_end(&span), 2 * GL_RECORD_MAX);
	assert_int_equal(encode_events(&encode, &span, &unfinished), at);
	assert_int_equal(unfinished, 1);
	assert_int_equal(encode.events, 4);
	memmove(events + 2, events + 3, 2 * sizeof(*events));
	check(events, 4, encode_payload(&encode, payload, &compress));
}

static void stamps_never_step_back(void **state)
{
	struct encode_span span = { ring, RING - 1, 0, 0, false };
	struct event events[3] = {
		{ GT_FREE, 8000, 0x1000, 0, 0 },
		{ GT_FREE, 7000, 0x2000, 0, 0 },
		{ GT_FREE, 9000, 0x3000, 0, 0 },
	};
	uint64_t at = 0, unfinished = 0;
	unsigned i;

	(void)state;
	for (i = 0; i < 3; i++)
		at = put(at, &events[i], false);
	span.to = at;
	encode_events(&encode, &span, &unfinished);
	events[1].counter = 8000;
	check(events, 3, encode_payload(&encode, payload, &compress));
}

/* Behind the largest stamp that there is, all have that. */
static void no_stamp_is_above_the_largest(void **state)
{
	struct encode_span span = { ring, RING - 1, 0, 0, false };
	const uint64_t largest = UINT64_MAX >> GL_KIND_BITS;
	struct event events[12];
	uint64_t at = 0, unfinished = 0;
	unsigned i;

	(void)state;
	for (i = 0; i < 12; i++) {
		events[i] = (struct event){ GT_FREE, i ? largest - i : largest,
					    0x1000 + 16 * i, 0, 0 };
		at = put(at, &events[i], false);
	}
	span.to = at;
	encode_events(&encode, &span, &unfinished);
	for (i = 0; i < 12; i++)
		events[i].counter = largest;
	check(events, 12, encode_payload(&encode, payload, &compress));
}

/* Batches end where the chunk is full, not behind that. */
static void a_chunk_has_no_more_than_it_takes(void **state)
{
	const uint64_t blocks = 50, count = ENCODE_EVENTS + 100;
	const uint64_t all = count * 16 + blocks * 8;
	uint64_t *words = malloc(all), *word = words, unfinished = 0, i;
	struct encode_span span = { (uint8_t *)words, UINT64_MAX, 0, all,
				    false };

	(void)state;
	for (i = 0; i < count; i++) {
		*word++ = 1000 << GL_KIND_BITS |
			  (i < blocks ? GT_ALLOC : GT_FREE);
		*word++ = 0x10000 + i % 100 * 32;
		if (i < blocks)
			*word++ = GT_STOP_OTHER;
	}
	assert_int_equal(encode_events(&encode, &span, &unfinished),
			 ENCODE_EVENTS * 16 + blocks * 8);
	assert_int_equal(encode.events, ENCODE_EVENTS);
	span.from = ENCODE_EVENTS * 16 + blocks * 8;
	assert_int_equal(encode_events(&encode, &span, &unfinished), all);
	assert_int_equal(encode.events, 100);
	assert_false(encode.bad);
	free(words);
}

static void impossible_contexts_are_not_followed(void **state)
{
	struct encode_span span = { ring, RING - 1, 0, 0, false };
	struct event event = { GT_ALLOC, 1, 0x1000, 8, 0xfffffff0 };
	uint64_t unfinished = 0;

	(void)state;
	span.to = put(0, &event, false);
	encode_events(&encode, &span, &unfinished);
	event.context = GT_STOP_OTHER;
	check(&event, 1, encode_payload(&encode, payload, &compress));
}

static void parents_go_before_children(void **state)
{
	uint32_t i, seen = 0;

	(void)state;
	emit.count = 0;
	memset(emit.emitted + 1, 0, NODES / 8 - 8);
	emit_node_refer(&emit, 3000);
	assert_int_equal(emit.count, 3000 - 100 + 1);
	for (i = 1; i < emit.count; i++)
		assert_true(emit.batch[i - 1].id < emit.batch[i].id);
	emit_node_refer(&emit, 3001);
	assert_int_equal(emit.batch[emit.count - 1].id, 3001);
	seen = emit.count;
	emit_node_refer(&emit, 2000);
	assert_int_equal(emit.count, seen);
}

/* What a target may write there: none of it is encoded. */
static void what_is_no_record_is_bad(void **state)
{
	struct encode_span span = { ring, RING - 1, 0, 0, false };
	struct event event = { GT_ALLOC, 1, 0x1000, 8, GT_STOP_OTHER };
	uint64_t *word = (uint64_t *)ring, unfinished = 0;
	uint32_t what;

	(void)state;
	span.to = put(0, &event, false);
	encode_events(&encode, &span, &unfinished);
	assert_false(encode.bad);
	/* it ends beyond what is there */
	span.to -= 8;
	encode_events(&encode, &span, &unfinished);
	assert_true(encode.bad);
	/* a kind that there is not */
	span.to = 64;
	word[0] |= 7;
	encode_events(&encode, &span, &unfinished);
	assert_true(encode.bad);
	/* something that nobody tells */
	event.kind = GT_EXTRA;
	for (what = 0; what < 32; what += 31) {
		put(0, &event, false);
		word[2] = (uint64_t)(what ? UINT32_MAX : 0) << 32;
		encode_events(&encode, &span, &unfinished);
		assert_true(encode.bad);
		assert_ptr_equal(encode.end[ENCODE_EXTRA],
				 encode.column[ENCODE_EXTRA]);
	}
}

/* Nodes that lead in a circle, outward to later ones or to themselves. */
static void a_chain_that_does_not_descend_ends(void **state)
{
	uint32_t i;

	(void)state;
	emit.count = 0;
	memset(emit.emitted + 1, 0, NODES / 8 - 8);
	nodes[500].parent = 500;
	nodes[501].parent = 502;
	nodes[502].parent = 501;
	nodes[503].parent = UINT32_MAX;
	for (i = 500; i < 504; i++)
		assert_int_equal(emit_node_refer(&emit, i), i);
	assert_int_equal(emit.count, 4);
	for (i = 0; i < emit.count; i++)
		assert_true(emit.batch[i].parent < emit.batch[i].id);
	/* what is not reserved is not read */
	emit.limit = 502;
	assert_int_equal(emit_node_refer(&emit, 502), GT_STOP_OTHER);
	emit.limit = NODES;
}

static void columns_beyond_their_room_are_seen(void **state)
{
	uint8_t *end = encode.end[ENCODE_SIZE];

	(void)state;
	encode.bad = false;
	encode.events = encode.blocks = encode.extras = encode.stacked = 0;
	assert_true(encode_is_valid(&encode));
	encode.end[ENCODE_SIZE] = encode.column[ENCODE_SIZE] +
				  ENCODE_EVENTS * ENCODE_SIZE_MAX + 100;
	assert_false(encode_is_valid(&encode));
	encode.end[ENCODE_SIZE] = encode.column[ENCODE_SIZE] - 1;
	assert_false(encode_is_valid(&encode));
	encode.end[ENCODE_SIZE] = end;
	encode.blocks = 1;
	assert_false(encode_is_valid(&encode));
	encode.events = ENCODE_EVENTS + 1;
	assert_false(encode_is_valid(&encode));
}

static void a_broken_batch_is_seen(void **state)
{
	(void)state;
	emit.count = 0;
	memset(emit.emitted + 1, 0, NODES / 8 - 8);
	emit_node_refer(&emit, 3000);
	assert_true(emit_node_is_valid(&emit));
	emit.batch[5].parent = emit.batch[5].id;	/* I1 */
	assert_false(emit_node_is_valid(&emit));
	emit.batch[5].parent = GT_STOP_OTHER;
	assert_true(emit_node_is_valid(&emit));
	emit.emitted[emit.batch[7].id / 64] = 0;	/* I2 */
	assert_false(emit_node_is_valid(&emit));
	emit.count = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_say_what_records_said),
		cmocka_unit_test(recent_addresses_are_told_by_age),
		cmocka_unit_test(numbers_of_addresses_begin_anew),
		cmocka_unit_test(nested_records_may_be_unfinished),
		cmocka_unit_test(stamps_never_step_back),
		cmocka_unit_test(no_stamp_is_above_the_largest),
		cmocka_unit_test(a_chunk_has_no_more_than_it_takes),
		cmocka_unit_test(impossible_contexts_are_not_followed),
		cmocka_unit_test(parents_go_before_children),
		cmocka_unit_test(what_is_no_record_is_bad),
		cmocka_unit_test(a_chain_that_does_not_descend_ends),
		cmocka_unit_test(columns_beyond_their_room_are_seen),
		cmocka_unit_test(a_broken_batch_is_seen),
	};

	if (area_map(UINT64_C(64) << 20))
		return 77;
	return cmocka_run_group_tests(tests, set_up, NULL);
}
