/*
 * test_ring.c: pushing, full rings, hooks in hooks, hooks left by a jump. A
 * thread of the test plays the recorder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/recorder/gate_requests.h"
#include "cli/trace/format/ring_record.h"
#include "preload/base/sys.h"
#include "preload/interpose/real.h"
#include "preload/ring/area.h"
#include "preload/ring/ring.h"
#include "preload/ring/ring_shared.h"
#include "preload/sample/skip.h"
#include "tests/unit/stepped.h"

#define SIZE 4096
#define EVENTS 200000

static struct gl_header header;
static struct gl_shared shared;
static struct gl_ring ring, nested;
static struct thread thread;
/* (Where a step of 16 pages ends is the same in every run, then.) */
#define STEP (64 * 1024)
static uint64_t data[(SIZE + GL_RING_SLACK) / 8]
	__attribute__((aligned(STEP)));
static uint64_t nested_data[(SIZE + GL_RING_SLACK) / 8];

static void fresh(struct gl_ring *r, uint64_t *memory)
{
	memset(r, 0, sizeof(*r));
	r->busy = GL_IDLE;
	r->data = (uintptr_t)memory;
	r->mask = SIZE - 1;
	ring_place(r, 0, SIZE / 2);
	r->state = GL_RING_ACTIVE;
}

static int each(void **state)
{
	(void)state;
	fresh(&ring, data);
	fresh(&nested, nested_data);
	memset(&thread, 0, sizeof(thread));
	thread.ring = thread.own = &ring;
	thread.nested = &nested;
	memset(producer, 0, sizeof(*producer));
	producer->live = &header;
	producer->shared = &shared;
	memset(&shared, 0, sizeof(shared));
	producer->pid = shared.recorder_tid = getpid();
	producer->state = PRODUCER_ON;
	header.dropped = 0;
	header.window_ticks = 100;
	header.tick_shift = 6;
	options_default(&producer_options);
	return 0;
}

static void records_lie_one_after_another(void **state)
{
	(void)state;
	ring.stamp = 7 << GL_KIND_BITS;
	ring_push_block(producer, &ring, GT_ALLOC, 0x1000, 20, 100);
	ring_push_address(producer, &ring, GT_FREE, 8 << GL_KIND_BITS, 0x1000);
	ring.stamp = 9 << GL_KIND_BITS;
	ring_push_block(producer, &ring, GT_ALLOC, 0x2000, 21, GL_SIZE_BIG);
	ring_push_block(producer, &ring, GT_ALLOC, 0x3000, 22, GL_SIZE_BIG - 1);
	ring_push_block(producer, &ring, GT_ALLOC, 0x4000, 23,
			(uint64_t)INT32_MAX + 1);
	assert_int_equal(ring.head, 24 + 16 + 32 + 24 + 24);
	assert_int_equal(data[0], 7 << 4 | GT_ALLOC);
	assert_int_equal(data[1], 0x1000);
	assert_int_equal(data[2], 20 | UINT64_C(100) << 32);
	assert_int_equal(gl_record_words(data[0], data[2]), 3);
	assert_int_equal(data[3], 8 << 4 | GT_FREE);
	assert_int_equal(data[4], 0x1000);
	assert_int_equal(gl_record_words(data[3], 0), 2);
	assert_int_equal(data[7], 21 | (uint64_t)GL_SIZE_BIG << 32);
	assert_int_equal(data[8], GL_SIZE_BIG);
	assert_int_equal(gl_record_words(data[5], data[7]), 4);
	assert_int_equal(data[11], 22 | (uint64_t)(GL_SIZE_BIG - 1) << 32);
	assert_int_equal(gl_record_words(data[9], data[11]), 3);
	assert_int_equal(data[14], 23 | UINT64_C(1) << 63);
}

static void half_full_wakes_the_recorder(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < (SIZE / 2 - RING_RECORD_MAX) / 16 + 1; i++)
		ring_push_address(producer, &ring, GT_FREE, i, i);
	assert_int_equal(producer->shared->wake, 0);
	assert_int_equal(producer->cpus_dropped, 0);
	ring_push_address(producer, &ring, GT_FREE, i, i);
	assert_int_equal(producer->shared->wake, 1);
	assert_int_equal(producer->cpus_dropped, 1);
	assert_int_equal(ring.limit, SIZE - RING_RECORD_MAX + 1);
}

static void room_is_never_overwritten(void **state)
{
	unsigned i;

	(void)state;
	producer_options.number[OPTION_OVERFLOW] = OPTION_OVERFLOW_DROP;
	for (i = 0; i < 2 * SIZE / 16; i++)
		ring_push_address(producer, &ring, GT_FREE, i, i);
	assert_true(ring.head <= SIZE);
	assert_true(ring.head + RING_RECORD_MAX > SIZE);
	assert_int_equal(data[1], 0);
	assert_int_equal(ring.dropped + ring.head / 16, i);
	assert_int_equal(header.dropped, ring.dropped);
}

static void thread_stops_recording_when_off(void **state)
{
	(void)state;
	ring.limit = 0;
	producer->state = PRODUCER_OFF;
	producer_tls = &thread;
	ring_push_address(producer, &ring, GT_FREE, 1, 1);
	producer_tls = NULL;
	assert_int_equal(ring.head, 0);
	assert_null(thread.ring);
	assert_int_equal(header.dropped, 0);
}

static void thread_stops_recording_while_dormant(void **state)
{
	(void)state;
	ring.limit = 0;
	gate_close(producer->shared);
	producer_tls = &thread;
	ring_push_address(producer, &ring, GT_FREE, 1, 1);
	assert_int_equal(ring.head, 0);
	assert_null(thread.ring);
	assert_int_equal(thread.skip, THREAD_DORMANT);
	assert_null(producer_thread());
	gate_open(producer->shared);
	assert_ptr_equal(producer_thread(), &thread);
	assert_ptr_equal(thread.ring, &ring);
	assert_int_equal(thread.skip, 0);
	ring_push_address(producer, &ring, GT_FREE, 1, 1);
	producer_tls = NULL;
	assert_int_equal(ring.head, 16);
	assert_int_equal(header.dropped, 0);
}

static void *reads(void *arg)
{
	uint64_t at = 0, next = 0, words;

	(void)arg;
	while (next < EVENTS) {
		uint64_t head = atomic_load_explicit(&ring.head,
						     memory_order_acquire);

		for (; at < head; at += 8 * words) {
			const uint64_t *w = data + (at & (SIZE - 1)) / 8;

			words = gl_record_words(w[0], w[2]);
			assert_int_equal(w[0] >> GL_KIND_BITS, next);
			assert_int_equal(w[1], next * 16);
			next++;
		}
		atomic_store(&ring.tail, at);
		if (atomic_exchange(&ring.waiting, RING_AWAKE))
			sys_futex_wake(&ring.tail);
	}
	return NULL;
}

static void full_ring_waits(void **state)
{
	pthread_t reader;
	uint64_t i;

	(void)state;
	pthread_create(&reader, NULL, reads, NULL);
	for (i = 0; i < EVENTS; i++) {
		ring_enter(&ring, 0x1000, 0x2000);
		ring.stamp = i << GL_KIND_BITS;
		if (i % 3)
			ring_push_block(producer, &ring, GT_ALLOC, i * 16, 20,
					i % 7 ? i : GL_SIZE_BIG + i);
		else
			ring_push_address(producer, &ring, GT_FREE,
					  i << GL_KIND_BITS, i * 16);
		ring_leave(&ring);
	}
	pthread_join(reader, NULL);
	assert_int_equal(header.dropped, 0);
	assert_true(ring_idle(&ring));
}

/* The recorder, who changes what is recorded while it is waited for. */
/* The recorder must not exchange it: it is in use again. */
static void a_wait_that_was_jumped_out_of_ends(void **state)
{
	(void)state;
	ring_enter(&ring, 64, 1);
	ring.waiting = RING_WAITS;
	ring_abandon(producer, &ring);
	assert_true(ring_idle(&ring));
	assert_int_equal(ring.waiting, RING_AWAKE);
}

/* What it finds is a copy (fork_copy.h), where nobody takes the ring back. */
static void a_child_does_not_wait_for_a_held_ring(void **state)
{
	(void)state;
	producer->state = PRODUCER_OFF;
	shared.recorder_tid = 0;
	ring.waiting = RING_HELD;
	ring_abandon(producer, &ring);
	assert_int_equal(producer->lost, 0);
	assert_int_equal(shared.gate, 0);
	/* and a recorder that was killed with it ends the recording */
	producer->state = PRODUCER_ON;
	ring_abandon(producer, &ring);
	assert_int_equal(producer->lost, 1);
	assert_false(producer_is_on(producer));
}

static void *changes(void *arg)
{
	(void)arg;
	while (atomic_load(&ring.waiting) != RING_WAITS)
		sched_yield();
	skip_set_limits(producer, 10, 20);
	atomic_store(&ring.tail, ring.head);
	atomic_store(&ring.waiting, RING_AWAKE);
	sys_futex_wake(&ring.tail);
	return NULL;
}

static void change_during_a_wait_is_noticed(void **state)
{
	pthread_t writer;

	(void)state;
	ring.head = ring.limit = SIZE;	/* nobody took it away */
	producer_tls = &thread;
	pthread_create(&writer, NULL, changes, NULL);
	ring_push_address(producer, &ring, GT_FREE, 16, 0x10);
	pthread_join(writer, NULL);
	producer_tls = NULL;
	assert_int_equal(ring.head, SIZE + 16);
	assert_int_equal(thread.skip, THREAD_CHANGED);
	assert_null(thread.ring);
}

/* The gate was closed, and nobody of this thread has seen it. */
static void without_room_hooks_check_again(void **state)
{
	(void)state;
	real_only = true;
	skip_start(0);
	assert_int_equal(skip_mode, SKIP_NONE);
	gate_close(producer->shared);
	producer_tls = &thread;
	assert_true(skip_block(GT_ALLOC, 16));
	assert_int_equal(skip_mode, SKIP_PERHAPS);
	gate_open(producer->shared);
	ring.limit = 0;
	ring_push_address(producer, &ring, GT_FREE, 16, 0x10);
	assert_int_equal(thread.skip, THREAD_CHANGED);
	assert_int_equal(skip_block_kind(&thread, GT_REALLOC_DONE, 0x20, 16),
			 GT_REALLOC_DONE);
	assert_int_equal(skip_mode, SKIP_PERHAPS);
	assert_int_equal(skip_block_kind(&thread, GT_ALLOC, 0x20, 16),
			 GT_ALLOC);
	producer_tls = NULL;
	real_only = false;
	assert_int_equal(skip_mode, SKIP_NONE);
	assert_int_equal(thread.skip, 0);
	assert_ptr_equal(thread.ring, &ring);
}

static uint64_t stamp_of(struct gl_ring *which)
{
	ring_stamp(producer->shared, which);
	return which->stamp;
}

/* ring.h, I4 */
static void nested_push(unsigned kind, uint64_t stamp, uint64_t address,
			uint32_t context, uint64_t size)
{
	struct ring_event event = { .kind = kind, .stamp = stamp,
				    .address = address, .context = context,
				    .size = size };

	ring_nested_push(producer, &thread, &event);
}

static void turn_is_taken_and_lost(void **state)
{
	uint64_t own = (uintptr_t)&ring, stamp;

	(void)state;
	/* nobody's: each event has its own stamp */
	ring.head = RING_STAMP_FOR;
	stamp = stamp_of(&ring);
	assert_true(stamp_of(&ring) > stamp);
	assert_true(ring_stamp_fast(producer->shared, &ring));
	assert_int_equal(producer->shared->turn, 0);
	/* an offer: taken by the slow way, with a stamp of after that */
	producer->shared->turn = own | RING_OFFERED;
	assert_false(ring_stamp_fast(producer->shared, &ring));
	stamp = stamp_of(&ring);
	assert_int_equal(producer->shared->turn, own);
	assert_int_equal(stamp, ring.stamp);
	assert_int_equal(stamp_of(&ring), stamp);
	assert_true(ring_stamp_fast(producer->shared, &ring));
	assert_int_equal(ring.stamp, stamp);
	/* now and then there is a new one */
	ring.head = RING_STAMP_EVERY;
	assert_true(stamp_of(&ring) > stamp);
	assert_int_equal(producer->shared->turn, own);
	/* another ring's event ends it, offered or taken */
	stamp_of(&nested);
	assert_int_equal(producer->shared->turn, 0);
	producer->shared->turn = own | RING_OFFERED;
	stamp_of(&nested);
	assert_int_equal(producer->shared->turn, 0);
	producer->shared->turn = own;
	nested_push(GT_FREE, 16, 0x20, 0, 0);
	assert_int_equal(producer->shared->turn, 0);
}

static void nested_records_have_eight_words(void **state)
{
	(void)state;
	nested_push(GT_ALLOC, 5 << GL_KIND_BITS, 0x10, 30, 99);
	nested_push(GT_FREE, 6 << GL_KIND_BITS, 0x20, 0, 0);
	assert_int_equal(nested.head, 2 * RING_RECORD_MAX);
	assert_int_equal(nested_data[0], 5 << 4 | GT_ALLOC);
	assert_int_equal(nested_data[1], 0x10);
	assert_int_equal((uint32_t)nested_data[2], 30);
	assert_int_equal(nested_data[3], 99);
	assert_int_equal(nested_data[8], 6 << 4 | GT_FREE);
	assert_int_equal(producer->shared->nested_events, 2);
	assert_int_equal(ring.head, 0);
}

static void extras_have_eight_words(void **state)
{
	struct ring_event event = { .kind = GT_EXTRA, .what = GT_EXTRA_REMAP,
				    .stamp = 7 << GL_KIND_BITS,
				    .address = 0x1000, .context = 21,
				    .size = UINT64_C(1) << 40,
				    .args = { 1, 2, 3, UINT64_MAX } };
	const uint64_t *word = data;
	unsigned i;

	(void)state;
	ring_push_extra(producer, &ring, &event);
	assert_int_equal(ring.head, GL_RECORD_MAX);
	assert_int_equal(gl_record_words(word[0], word[2]), 8);
	for (i = 0; i < 2; i++) {
		assert_int_equal(word[0], 7 << GL_KIND_BITS | GT_EXTRA);
		assert_int_equal(word[1], 0x1000);
		assert_int_equal(word[2],
				 21 | (uint64_t)GT_EXTRA_REMAP << 32);
		assert_int_equal(word[3], UINT64_C(1) << 40);
		assert_memory_equal(word + 4, event.args, sizeof(event.args));
		/* and the same in a handler */
		ring_nested_push(producer, &thread, &event);
		word = nested_data;
	}
}

static void nested_full_is_counted(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < SIZE / RING_RECORD_MAX; i++)
		nested_push(GT_FREE, 1, 1, 0, 0);
	assert_int_equal(shared.nested_lost, 0);
	nested_push(GT_FREE, 1, 1, 0, 0);
	assert_int_equal(shared.nested_lost, 1);
	assert_int_equal(header.dropped, 1);
	assert_int_equal(nested.head, SIZE);
}

/* The recorder moves, but cannot go past a record that was left. */
static void *play_stuck_recorder(void *over)
{
	while (!__atomic_load_n((bool *)over, __ATOMIC_ACQUIRE)) {
		shared.beats++;
		usleep(1000);
	}
	return NULL;
}

/* How many of so many pushes were lost. Few of them wait, a tenth of a second each. */
static uint64_t lost_at_once(unsigned pushes)
{
	uint64_t before = shared.nested_lost, begin = sys_now_ns();

	while (pushes--)
		nested_push(GT_FREE, 1, 1, 0, 0);
	assert_in_range(sys_now_ns() - begin, 0, 2500000000);
	return shared.nested_lost - before;
}

static void after_a_vain_wait_events_are_lost_at_once(void **state)
{
	bool over = false;
	pthread_t writer;
	unsigned i;

	(void)state;
	for (i = 0; i < SIZE / RING_RECORD_MAX; i++)
		nested_push(GT_FREE, 1, 1, 0, 0);
	assert_int_equal(pthread_create(&writer, NULL, play_stuck_recorder,
					&over), 0);
	assert_int_equal(lost_at_once(50), 50);
	/* now it could be known who was left: one wait again */
	ring.head += 16;
	assert_int_equal(lost_at_once(50), 50);
	nested.tail += 2 * RING_RECORD_MAX;
	assert_int_equal(lost_at_once(2), 0);
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	pthread_join(writer, NULL);
}

/* ---- a handler's event in the middle of another handler's ---- */

enum { OUTER = 0x1000, INNER = 0x2000 };

static uint64_t room_left;	/* of the ring, in records */

static void nested_again(void)
{
	each(NULL);
	/* nobody is there to be waited for */
	producer->stalled = 1;
	memset(nested_data, 0x5a, sizeof(nested_data));
	nested.tail = 3 * SIZE + RING_RECORD_MAX;
	nested.head = nested.tail + SIZE - room_left * RING_RECORD_MAX;
}

static void push_outer(void)
{
	nested_push(GT_ALLOC, 16, OUTER, 30, 40);
}

static void push_inner(void)
{
	nested_push(GT_FREE, 32, INNER, 50, 60);
}

static unsigned found(uint64_t from, uint64_t word0, uint64_t address,
		      uint64_t context, uint64_t size)
{
	uint64_t at;
	unsigned n = 0;

	for (at = from; at < nested.head; at += RING_RECORD_MAX) {
		const uint64_t *word = nested_data + (at & (SIZE - 1)) / 8;

		n += word[0] == word0 && word[1] == address &&
		     (uint32_t)word[2] == context && word[3] == size;
	}
	return n;
}

/* Each is there, once, or was counted as lost; and nothing else is. */
static bool both_are_there(void)
{
	uint64_t from = nested.tail + SIZE - room_left * RING_RECORD_MAX;
	uint64_t there = (nested.head - from) / RING_RECORD_MAX;

	return nested.head - nested.tail <= SIZE &&
	       there == (room_left < 2 ? room_left : 2) &&
	       found(from, 16 | GT_ALLOC, OUTER, 30, 40) +
			       found(from, 32 | GT_FREE, INNER, 50, 60) ==
		       there &&
	       shared.nested_lost == 2 - there &&
	       header.dropped == 2 - there;
}

static void a_push_interrupted_anywhere_loses_nothing(void **state)
{
	const struct stepped pushes = { nested_again, push_outer, push_inner,
					both_are_there, 1 };
	unsigned at;

	(void)state;
	for (room_left = 0; room_left < 3; room_left++) {
		if (!stepped_each(&pushes, &at))
			fail_msg("%u of room, instruction %u",
				 (unsigned)room_left, at);
		print_message("%u instructions\n", at);
	}
}

static bool judged(uintptr_t owner, uintptr_t sp)
{
	ring.busy = owner;
	return ring_stale(&thread, &ring, sp);
}

/* The rest is abandoned()'s. */
static void frames_inside_a_real_function_count_as_live(void **state)
{
	uintptr_t words[16];

	(void)state;
	words[11] = ring.owner = 0x1234;
	assert_true(judged((uintptr_t)&words[12], (uintptr_t)&words[12]));
	assert_true(judged((uintptr_t)&words[12] | RING_IN_REAL,
			   (uintptr_t)&words[12]));
	assert_false(judged((uintptr_t)&words[12], (uintptr_t)&words[2]));
	assert_false(judged((uintptr_t)&words[12] | RING_IN_REAL,
			    (uintptr_t)&words[2]));
	words[11] = 1;
	assert_true(judged((uintptr_t)&words[12], (uintptr_t)&words[2]));
}

/* A ring's first lap goes on 64 KiB of pages at a time, each of which is met by a
 * read before a record may touch it. */
static void first_lap_touches_pages_in_steps(void **state)
{
	const uint64_t size = 1 << 18, step = 1 << 16;
	char *memory = aligned_alloc(step, size + step);
	uint64_t head = 0, limit, stops = 0;

	(void)state;
	memset(memory, 0, size + step);
	ring.data = (uintptr_t)memory + step - 4096;
	ring.mask = size - 1;
	for (; head + RING_RECORD_MAX <= size / 2; stops++) {
		ring.head = head;
		assert_true(ring_make_room(producer, &ring));
		limit = ring.limit;
		assert_in_range(limit, head + 1, size / 2);
		/* where a record would run into the next step */
		assert_true(limit == size / 2 - RING_RECORD_MAX + 1 ||
			    (ring.data + limit + RING_RECORD_MAX - 1) % step ==
				    0);
		head = (limit + 7) & ~UINT64_C(7);
	}
	assert_int_equal(stops, 3);
	/* all pages are known in the second */
	ring.head = ring.tail = size;
	assert_true(ring_make_room(producer, &ring));
	assert_int_equal(ring.limit, size + size / 2 - RING_RECORD_MAX + 1);
	free(memory);
}

static void damaged_ring_is_invalid(void **state)
{
	(void)state;
	assert_true(ring_is_valid(&ring));
	ring.tail = 8;			/* beyond head */
	assert_false(ring_is_valid(&ring));
	ring.tail = 0;
	ring.head = SIZE + 8;		/* more than there is room for */
	assert_false(ring_is_valid(&ring));
	ring.head = 4;
	assert_false(ring_is_valid(&ring));
	ring.head = 0;
	ring.base += 2 * SIZE;
	assert_false(ring_is_valid(&ring));
	ring.base -= 2 * SIZE;
	ring.mask = SIZE;
	assert_false(ring_is_valid(&ring));
	ring.mask = SIZE - 1;
	ring.limit = 0;			/* kicked */
	assert_true(ring_is_valid(&ring));
	ring.limit = SIZE + 1;
	assert_false(ring_is_valid(&ring));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(records_lie_one_after_another, each),
		cmocka_unit_test_setup(a_wait_that_was_jumped_out_of_ends,
				       each),
		cmocka_unit_test_setup(a_child_does_not_wait_for_a_held_ring,
				       each),
		cmocka_unit_test_setup(half_full_wakes_the_recorder, each),
		cmocka_unit_test_setup(room_is_never_overwritten, each),
		cmocka_unit_test_setup(thread_stops_recording_when_off, each),
		cmocka_unit_test_setup(thread_stops_recording_while_dormant,
				       each),
		cmocka_unit_test_setup(full_ring_waits, each),
		cmocka_unit_test_setup(change_during_a_wait_is_noticed, each),
		cmocka_unit_test_setup(
			without_room_hooks_check_again, each),
		cmocka_unit_test_setup(turn_is_taken_and_lost, each),
		cmocka_unit_test_setup(nested_records_have_eight_words, each),
		cmocka_unit_test_setup(extras_have_eight_words, each),
		cmocka_unit_test_setup(nested_full_is_counted, each),
		cmocka_unit_test_setup(
			after_a_vain_wait_events_are_lost_at_once, each),
		cmocka_unit_test_setup(
			a_push_interrupted_anywhere_loses_nothing, each),
		cmocka_unit_test_setup(
			frames_inside_a_real_function_count_as_live, each),
		cmocka_unit_test_setup(first_lap_touches_pages_in_steps, each),
		cmocka_unit_test_setup(damaged_ring_is_invalid, each),
	};

	if (area_map(UINT64_C(16) << 20))
		return 77;
	sample_alloc();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
