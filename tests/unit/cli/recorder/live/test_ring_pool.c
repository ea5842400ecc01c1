/* test_ring_pool.c: rings from the live mapping to threads and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/ring/area.h"
#include "cli/recorder/live/ring_pool.h"
#include "preload/ring/ring_take.h"
#include "tests/unit/live_builder.h"

#define MEMORY (32 * MIB)
#define TAKERS 4
#define TURNS 20000

static struct live_made made;
static struct live live;
static uint64_t memory = MEMORY;
static struct ring_pool pool;
static struct recording recording;

static int begin(void **state, uint64_t ring)
{
	struct producer *p = producer;

	if (live_directory_make(state))
		return -1;
	memset(p, 0, sizeof(*p));
	memset(&pool, 0, sizeof(pool));
	if (live_make_in(&made, live_directory, memory, ring) ||
	    live_attach_to(&live, &made))
		return -1;
	p->live = made.header;
	p->shared = live_shared_of(&made);
	p->rings = (struct gl_ring *)((char *)made.header +
				      made.header->data_offset);
	recording_options = &producer_options;
	recording = (struct recording){
		.live = live.header,
		.shared = live_at(&live, live.shape.shared_offset),
		.rings = live_at(&live, live.shape.data_offset),
		.base = (uintptr_t)made.header,
		.rings_made = made.header->ring_count,
		.ring_bytes = made.ring_bytes,
	};
	if (recording_init(&recording))
		return -1;
	ring_pool_init(&pool, &recording, &live, 16384);
	return 0;
}

static int each(void **state)
{
	return begin(state, LIVE_NO_RING);
}

static int with_much(void **state)
{
	memory = 256 * MIB;
	return each(state);
}

static int with_one(void **state)
{
	return begin(state, LIVE_RING);
}

static int after(void **state)
{
	live_drop(&made, &live);
	return live_directory_remove(state);
}

static uint64_t size_of(uint32_t id)
{
	return producer->rings[id - 1].mask + 1;
}

static void the_first_is_the_main_threads(void **state)
{
	uint32_t id = ring_pool_take(producer, RECORDER_PRIMARY);

	(void)state;
	assert_int_equal(size_of(id), 1 << 20);
	id = ring_pool_take(producer, RECORDER_PRIMARY);
	assert_int_equal(size_of(id), 16 << 10);
	id = ring_pool_take(producer, RECORDER_NESTED);
	assert_int_equal(size_of(id), 8 << 10);
	assert_int_equal(producer->rings[id - 1].flags, GT_THREAD_NESTED);
}

/* Its owner may have it before the recorder runs. */
static void the_first_comes_with_the_mapping(void **state)
{
	const struct gl_ring *first = producer->rings;
	uint32_t id, i;

	(void)state;
	for (i = 0; i < 4; i++) {
		id = ring_pool_take(producer, RECORDER_PRIMARY);
		/* the others when the recorder looks */
		assert_int_equal(id == 1, i == 0);
		if (i == 0)
			ring_pool_refill(&pool);
		assert_int_equal(size_of(id), 16 << 10);
		assert_true(id == 1 || producer->rings[id - 1].offset >=
			    first->offset + LIVE_RING + GL_RING_SLACK);
	}
	assert_int_equal(first->data, (uintptr_t)made.header + first->offset);
	id = ring_pool_take(producer, RECORDER_NESTED);
	assert_int_equal(producer->rings[id - 1].flags, GT_THREAD_NESTED);
}

static void data_does_not_overlap(void **state)
{
	static uint32_t ids[64];
	unsigned i, j;

	(void)state;
	for (i = 0; i < 64; i++) {
		producer->shared->ring_wanted[RECORDER_PRIMARY] = 1;
		ring_pool_refill(&pool);
		ids[i] = ring_pool_take(producer, RECORDER_PRIMARY);
		assert_true(ids[i] != 0);
	}
	for (i = 0; i < 64; i++) {
		struct gl_ring *a = &producer->rings[ids[i] - 1];

		assert_int_equal(a->data, 0);	/* its owner's to map */
		assert_true(a->offset + a->mask + 1 + GL_RING_SLACK <=
			    live.size);
		memset(live_map_data(a->offset), i, a->mask + 1);
		for (j = 0; j < i; j++) {
			struct gl_ring *b = &producer->rings[ids[j] - 1];

			assert_true(a->offset > b->offset + b->mask ||
				    b->offset > a->offset + a->mask);
		}
	}
}

static void a_ring_comes_back_as_its_next_generation(void **state)
{
	uint32_t id = ring_pool_take(producer, RECORDER_PRIMARY), again;
	struct gl_ring *ring = &producer->rings[id - 1];

	(void)state;
	ring->head = ring->tail = 12345;
	ring_pool_close(&pool, id - 1);
	again = ring_pool_take(producer, RECORDER_PRIMARY);
	assert_int_equal(again, id);
	assert_int_equal(ring->generation, 1);
	assert_int_equal(ring->head, 0);
	assert_int_equal(ring->tail, 0);
	assert_int_equal(ring->busy, GL_IDLE);
	/* a large one was the main thread's wish, not its successor's */
	assert_int_equal(size_of(again), 16 << 10);
}

static void rings_grow_until_memory_ends(void **state)
{
	/* The first is the main thread's, and large already. */
	uint32_t main_id = ring_pool_take(producer, RECORDER_PRIMARY);
	uint32_t id = ring_pool_take(producer, RECORDER_PRIMARY);
	uint64_t size = size_of(id);
	unsigned vector = 0;

	(void)state;
	assert_true(size_of(main_id) > size);
	while (ring_pool_grow(&pool, id - 1)) {
		vector++;
		size *= 4;
		assert_int_equal(size_of(id), size);
		assert_int_equal(producer->rings[id - 1].generation, vector);
	}
	assert_true(vector >= 3);
	assert_true(size <= UINT64_C(1) << RING_POOL_CLASS_MAX);
}

/* Of a ring that hardly anything is put into, pages are not cleared. */
static void pages_are_made_ready_once(void **state)
{
	uint32_t id = ring_pool_take(producer, RECORDER_PRIMARY) - 1;

	(void)state;
	ring_pool_ready(&pool, id, 0);
	ring_pool_ready(&pool, id, GL_PAGE - 8);
	assert_false(recording.given[id].ready);
	ring_pool_ready(&pool, id, GL_PAGE);
	assert_true(recording.given[id].ready);
	/* whatever the target says */
	recording.given[id].ready = false;
	ring_pool_ready(&pool, id, UINT64_MAX);
	assert_true(recording.given[id].ready);
	/* what was full will be used again */
	recording.given[id].ready = false;
	assert_true(ring_pool_grow(&pool, id));
	assert_true(recording.given[id].ready);
}

static void memory_ends_without_harm(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < GL_RINGS_MAX; i++) {
		producer->shared->ring_wanted[RECORDER_PRIMARY] = 1;
		ring_pool_refill(&pool);
		if (!ring_pool_take(producer, RECORDER_PRIMARY))
			break;
	}
	/* smaller and smaller rings: many more than 8 MiB / 16 KiB */
	assert_true(i > 600);
	assert_true(producer->shared->ring_exhausted[RECORDER_PRIMARY]);
	assert_true(pool.used <= live.size - live.header->data_offset);
}

/* The target maps the data in pieces, of which none leads into the next. */
static void no_ring_lies_in_two_pieces(void **state)
{
	uint64_t from, to, end = 0;
	unsigned i, pieces = 0;

	(void)state;
	for (i = 0; i < GL_RINGS_MAX; i++) {
		uint32_t id = ring_pool_take(producer, RECORDER_PRIMARY);
		const struct gl_ring *ring;

		producer->shared->ring_wanted[RECORDER_PRIMARY] = 1;
		ring_pool_refill(&pool);
		if (!id)
			break;
		ring = &producer->rings[id - 1];
		from = ring->offset - live.shape.data_offset;
		to = from + ring->mask + GL_RING_SLACK;
		assert_int_equal(gl_piece_of(GL_DATA_FIRST, from),
				 gl_piece_of(GL_DATA_FIRST, to));
		pieces |= 1u << gl_piece_of(GL_DATA_FIRST, from);
		/* large ones, which the ends do not fit */
		ring_pool_grow(&pool, id - 1);
		end = base_max(end, to);
		assert_non_null(live_map_data(ring->offset));
	}
	assert_true(end > 2 * GL_DATA_FIRST);
	assert_int_equal(pieces, 15);
}

static void *takes(void *arg)
{
	uint32_t turn;

	for (turn = 0; turn < TURNS; turn++) {
		uint32_t id = ring_pool_take(producer, RECORDER_PRIMARY);
		struct gl_ring *ring;

		if (!id)
			return arg;
		ring = &producer->rings[id - 1];
		/* nobody else has it */
		if (__atomic_exchange_n(&ring->tid, 1, __ATOMIC_ACQ_REL))
			return arg;
		__atomic_store_n(&ring->tid, 0, __ATOMIC_RELEASE);
		ring_pool_close(&pool, id - 1);
	}
	return NULL;
}

static void a_ring_has_one_owner(void **state)
{
	pthread_t taker[TAKERS];
	unsigned i;
	void *failed;

	(void)state;
	ring_pool_take(producer, RECORDER_PRIMARY);
	producer->shared->ring_wanted[RECORDER_PRIMARY] = 1;
	ring_pool_refill(&pool);
	for (i = 0; i < TAKERS; i++)
		pthread_create(&taker[i], NULL, takes, &pool);
	for (i = 0; i < TAKERS; i++) {
		pthread_join(taker[i], &failed);
		assert_null(failed);
	}
}

static void a_broken_list_is_seen(void **state)
{
	struct gl_shared *target = producer->shared;
	uint32_t id;

	(void)state;
	ring_pool_refill(&pool);
	assert_true(ring_pool_is_valid(&pool));
	assert_true(ring_list_is_valid(target, RECORDER_PRIMARY));
	id = (uint32_t)target->ring_free[RECORDER_PRIMARY];
	target->ring_next[id - 1] = GL_RINGS_MAX + 1;
	assert_false(ring_list_is_valid(target, RECORDER_PRIMARY));
	target->ring_next[id - 1] = id;		/* a circle */
	assert_false(ring_list_is_valid(target, RECORDER_PRIMARY));
	pool.free_offset[0] = live.shape.data_offset + pool.used;
	assert_false(ring_pool_is_valid(&pool));
	pool.free_offset[0] = 0;
	pool.used = live.size;
	assert_false(ring_pool_is_valid(&pool));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			the_first_is_the_main_threads, each, after),
		cmocka_unit_test_setup_teardown(
			the_first_comes_with_the_mapping, with_one, after),
		cmocka_unit_test_setup_teardown(data_does_not_overlap, each,
						after),
		cmocka_unit_test_setup_teardown(
			a_ring_comes_back_as_its_next_generation, each,
			after),
		cmocka_unit_test_setup_teardown(pages_are_made_ready_once,
						each, after),
		cmocka_unit_test_setup_teardown(rings_grow_until_memory_ends,
						each, after),
		cmocka_unit_test_setup_teardown(memory_ends_without_harm,
						each, after),
		cmocka_unit_test_setup_teardown(no_ring_lies_in_two_pieces,
						with_much, after),
		cmocka_unit_test_setup_teardown(a_ring_has_one_owner, each,
						after),
		cmocka_unit_test_setup_teardown(a_broken_list_is_seen, each,
						after),
	};

	if (area_map(MEMORY))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
