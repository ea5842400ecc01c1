/*
 * test_nested_ring.c: what the recorder takes of a thread's second ring, where
 * a handler that pushes there is left by a jump, at each of its instructions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/ring/area.h"
#include "preload/sample/skip.h"
#include "cli/recorder/ring_drain.h"
#include "preload/ring/ring.h"
#include "tests/unit/stepped.h"

#define SIZE 4096
#define STAMP (UINT64_C(1) << GL_KIND_BITS)

enum { FIRST, SECOND, RINGS };

static struct gl_header header;
static struct gl_shared shared;
static struct gl_ring rings[RINGS];
static struct gl_thread report[RINGS];
static struct thread threads[RINGS];
static struct drain_source own[RINGS];
static struct ring_drain drain;
static struct recording recording;
static struct recording_ring given[RINGS];
static struct nested_ring nested;
static uint64_t data[RINGS][(SIZE + GL_RING_SLACK) / 8];
static sigjmp_buf back;
static volatile bool inside;

static int each(void **state)
{
	unsigned i;

	(void)state;
	memset(rings, 0, sizeof(rings));
	memset(threads, 0, sizeof(threads));
	memset(own, 0, sizeof(own));
	memset(&drain, 0, sizeof(drain));
	memset(&nested, 0, sizeof(nested));
	memset(data, 0x5a, sizeof(data));
	memset(producer, 0, sizeof(*producer));
	for (i = 0; i < RINGS; i++) {
		rings[i].busy = GL_IDLE;
		rings[i].data = (uintptr_t)data[i];
		rings[i].offset = (uintptr_t)data[i] - (uintptr_t)&header;
		rings[i].mask = SIZE - 1;
		ring_place(&rings[i], 0, SIZE);
		rings[i].state = GL_RING_ACTIVE;
	}
	rings[SECOND].flags = GT_THREAD_NESTED;
	threads[FIRST].ring = threads[FIRST].own = &rings[FIRST];
	threads[FIRST].nested = &rings[SECOND];
	header.ring_count = RINGS;
	header.dropped = 0;
	producer->live = &header;
	producer->shared = &shared;
	memset(&shared, 0, sizeof(shared));
	shared.threads[0] = (uintptr_t)report - (uintptr_t)&header;
	report[FIRST].nested = SECOND + 1;
	producer->rings = rings;
	producer->threads = threads;
	producer->pid = shared.recorder_tid = getpid();
	producer->state = PRODUCER_ON;
	producer->stalled = 1;	/* nobody is there to be waited for */
	recording = (struct recording){
		.live = &header, .shared = &shared, .rings = rings,
		.base = (uintptr_t)&header, .ring_count = RINGS,
		.given = given,
		.threads[0] = shared.threads[0],
	};
	for (i = 0; i < RINGS; i++)
		given[i] = (struct recording_ring){
			.offset = rings[i].offset, .mask = SIZE - 1,
			.flags = rings[i].flags,
		};
	drain.r = &recording;
	drain.rings = own;
	return 0;
}

static void an_idle_thread_completes_nothing(void **state)
{
	(void)state;
	assert_int_equal(nested_settled(&nested, &rings[FIRST], 640), 640);
	/* what was settled stays so */
	rings[FIRST].busy = 0x1000;
	assert_int_equal(nested_settled(&nested, &rings[FIRST], 1280), 640);
}

static void what_pushes_has_no_handler_above_it(void **state)
{
	(void)state;
	rings[FIRST].busy = 0x1000;
	assert_int_equal(nested_settled(&nested, &rings[FIRST], 640), 0);
	assert_int_equal(nested_settled(&nested, &rings[FIRST], 1280), 0);
	rings[FIRST].head += 16;
	/* at the first look there were so many */
	assert_int_equal(nested_settled(&nested, &rings[FIRST], 1920), 640);
	assert_int_equal(nested_settled(&nested, &rings[FIRST], 2560), 640);
	rings[FIRST].head += 16;
	assert_int_equal(nested_settled(&nested, &rings[FIRST], 2560), 1920);
}

static void a_ring_that_begins_anew_proves_nothing(void **state)
{
	(void)state;
	rings[FIRST].busy = 0x1000;
	rings[FIRST].head = 160;
	assert_int_equal(nested_settled(&nested, &rings[FIRST], 640), 0);
	rings[FIRST].head = 0;
	rings[FIRST].generation++;
	assert_int_equal(nested_settled(&nested, &rings[FIRST], 640), 0);
	rings[FIRST].head = 16;
	assert_int_equal(nested_settled(&nested, &rings[FIRST], 640), 640);
}

/* ---- handlers that are left ---- */

static void push(void)
{
	struct ring_event event = { .kind = GT_FREE, .stamp = STAMP,
				    .address = 0x1000 };

	ring_nested_push(producer, &threads[FIRST], &event);
}

static void again(void)
{
	each(NULL);
	rings[FIRST].busy = 0x1000;
}

static void pushes(void)
{
	push();
	inside = false;
	if (!sigsetjmp(back, 1)) {
		inside = true;
		push();
	}
	inside = false;
	push();
}

static void leave(void)
{
	if (inside)
		siglongjmp(back, 1);
}

static uint64_t end_now(enum drain_depth depth)
{
	return drain_end(&drain, SECOND, 0, rings[SECOND].head, depth);
}

static unsigned unfinished_in(uint64_t to)
{
	struct encode_span span = { (const uint8_t *)data[SECOND], SIZE - 1, 0,
				    to, true };

	return (unsigned)encode_unfinished(&span);
}

static unsigned seen_unfinished;

/* As long as it is not known that the handler has gone, its record holds up
 * what is behind; then nothing does. */
static bool all_comes(void)
{
	uint64_t head = rings[SECOND].head;
	unsigned unfinished = unfinished_in(head);

	seen_unfinished += unfinished;
	if (unfinished > 1 || head < 2 * RING_RECORD_MAX ||
	    head > 3 * RING_RECORD_MAX || shared.nested_lost)
		return false;
	if (end_now(DRAIN_ENOUGH) != (unfinished ? RING_RECORD_MAX : head) ||
	    end_now(DRAIN_LAST) != head)
		return false;
	ring_push_address(producer, &rings[FIRST], GT_FREE, STAMP, 0x2000);
	return end_now(DRAIN_ENOUGH) == head;
}

static void a_handler_that_is_left_holds_nothing_up(void **state)
{
	const struct stepped left = { again, pushes, leave, all_comes, 1 };
	unsigned at;

	(void)state;
	seen_unfinished = 0;
	if (!stepped_each(&left, &at))
		fail_msg("instruction %u", at);
	print_message("%u instructions, %u records unfinished\n", at,
		      seen_unfinished);
	assert_true(seen_unfinished > 0);
}

static void an_unfinished_record_is_counted(void **state)
{
	static struct gl_node nodes[64];
	static struct emit_image images;
	static struct emit_heap heaps;
	static struct compress compress;
	static struct chunk_out out;
	static struct emit_node emit;
	static struct encode encode;
	static uint64_t reserved;

	(void)state;
	compress_init(&compress);
	assert_int_equal(chunk_open(&out, memfd_create("trace", 0), 1,
				    ENCODE_PAYLOAD_MAX), 0);
	assert_int_equal(emit_node_init(&emit, nodes, 64, 0, &out, &compress),
			 0);
	assert_int_equal(encode_init(&encode, &emit, 3, false), 0);
	images.header = &header;
	images.reserved = &reserved;
	heaps.out = &out;
	heaps.shared = &shared;
	heaps.reserved = &reserved;
	drain.out = &out;
	drain.compress = &compress;
	drain.encode = &encode;
	drain.nodes = &emit;
	drain.images = &images;
	drain.heaps = &heaps;
	push();
	push();
	push();
	data[SECOND][RING_RECORD_MAX / 8] = 0;
	own[FIRST].known = own[SECOND].known = true;
	own[SECOND].head = rings[SECOND].head;
	drain_pass(&drain, DRAIN_LAST);
	assert_int_equal(out.err, 0);
	assert_int_equal(rings[SECOND].tail, 3 * RING_RECORD_MAX);
	assert_int_equal(drain.events, 2);
	assert_int_equal(drain.unfinished, 1);
	assert_int_equal(header.dropped, 1);
	close(out.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(an_idle_thread_completes_nothing, each),
		cmocka_unit_test_setup(what_pushes_has_no_handler_above_it,
				       each),
		cmocka_unit_test_setup(a_ring_that_begins_anew_proves_nothing,
				       each),
		cmocka_unit_test_setup(a_handler_that_is_left_holds_nothing_up,
				       each),
		cmocka_unit_test_setup(an_unfinished_record_is_counted, each),
	};

	if (area_map(UINT64_C(16) << 20))
		return 77;
	sample_alloc();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
