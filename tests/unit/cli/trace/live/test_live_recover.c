/* test_live_recover.c: the left-overs of a live file go into the trace,
 * once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "cli/base/terminal/log.h"
#include "cli/model/core/contexts.h"
#include "cli/model/core/threads.h"
#include "cli/model/model.h"
#include "cli/trace/live/live_recover.h"
#include "cli/trace/read/reader.h"
#include "tests/unit/trace_write.h"

#define RING_BYTES 4096
#define NODES_AT 8192
#define IMAGES_AT 4096
#define RINGS_AT 16384
#define RING_AT (RINGS_AT + 4096)
#define DATA_AT (RING_AT + 4096)
#define LIVE_BYTES (DATA_AT + RING_BYTES + 4096)

static char trace_path[64], live_path[64];

/* What the next trace's END says; no END without. */
static const char *end_reason, *end_message;

/* Whether the next live file is one of the other byte order; and how wide the
 * fields of each struct are. */
static bool other_order;
#define HEADER_WIDTHS "84484484488888888448444"
#define RING_WIDTHS "8888888884444448888"
#define NODE_WIDTHS "844"

static uint8_t *turn(uint8_t *at, const char *widths)
{
	for (; *widths; widths++) {
		unsigned width = (unsigned)(*widths - '0');

		for (unsigned i = 0; i < width / 2; i++) {
			uint8_t byte = at[i];

			at[i] = at[width - 1 - i];
			at[width - 1 - i] = byte;
		}
		at += width;
	}
	return at;
}

static void turn_all(uint8_t *file, unsigned records)
{
	turn(file, HEADER_WIDTHS);
	turn(turn(file + NODES_AT + GT_STOP_COUNT * sizeof(struct gl_node),
		  NODE_WIDTHS), NODE_WIDTHS);
	turn(file + RINGS_AT, "8");
	turn(file + RING_AT, RING_WIDTHS);
	for (unsigned i = 0; i < records; i++)
		turn(file + DATA_AT + 24 * i, "888");
}

/* A live file of a dead process: `records` allocations in one ring, of which
 * the first `written` are below the tail. */
static uint32_t live_error;

static void make_live(unsigned records, unsigned written)
{
	static uint8_t file[LIVE_BYTES];
	struct gl_header *header = (struct gl_header *)file;
	struct gl_node *nodes = (struct gl_node *)(file + NODES_AT);
	uint64_t *rings = (uint64_t *)(file + RINGS_AT);
	struct gl_ring *ring = (struct gl_ring *)(file + RING_AT);
	int fd;

	memset(file, 0, sizeof(file));
	header->magic = GL_MAGIC;
	header->version = GL_VERSION;
	header->trace_id = TRACE_WRITE_ID;
	header->pid = 0x7ffffff0;	/* nobody's */
	header->images_offset = IMAGES_AT;
	header->nodes_offset = NODES_AT;
	header->rings_offset = RINGS_AT;
	header->ring_count = 1;
	header->error = live_error;
	nodes[GT_STOP_COUNT] = (struct gl_node){ 0x1000, 0, 0 };
	nodes[GT_STOP_COUNT + 1] =
		(struct gl_node){ 0x2000, GT_STOP_COUNT, 0 };
	header->node_count = GT_STOP_COUNT + 2;
	rings[0] = RING_AT;
	ring->mask = RING_BYTES - 1;
	ring->state = GL_RING_ACTIVE;
	ring->tid = 5;
	ring->offset = DATA_AT;
	ring->head = 24 * records;
	ring->tail = 24 * written;
	for (unsigned i = 0; i < records; i++) {
		uint64_t words[3] = {
			(uint64_t)(1000 + i) << GL_KIND_BITS | GT_ALLOC,
			16 * (i + 1),
			(GT_STOP_COUNT + 1) | (uint64_t)100 << 32 };

		/* may run into the slack */
		memcpy(file + DATA_AT + (24 * i & ring->mask), words,
		       sizeof(words));
	}
	if (other_order)
		turn_all(file, records);
	strcpy(live_path, "/tmp/gnomon-unit-live-XXXXXX");
	fd = mkstemp(live_path);
	assert_int_equal(write(fd, file, sizeof(file)), sizeof(file));
	close(fd);
}

/* A trace without an end that holds the first `written` allocations, and
 * `torn` bytes of a further chunk. */
static void make_trace(unsigned written, size_t torn)
{
	static struct trace_event events[200];
	struct trace_node nodes[2] = { { GT_STOP_COUNT, 0, 0x1000 },
		{ GT_STOP_COUNT + 1, GT_STOP_COUNT, 0x2000 } };
	struct trace_thread thread = { GT_THREAD_START, 0, 5, 0, 0, "", 0, 0 };
	struct buffer payload = { 0 };
	struct trace_write t;

	for (unsigned i = 0; i < written; i++)
		events[i] = (struct trace_event){
			.stamp = 1000 + i, .address = 16 * (i + 1), .size = 100,
			.context = GT_STOP_COUNT + 1, .kind = GT_ALLOC };
	trace_write_begin(&t);
	trace_write_line(&t, GT_INFO, "live", live_path);
	compose_thread(&payload, &thread);
	trace_write_chunk(&t, (struct chunk){ .type = GT_THREAD }, &payload);
	compose_nodes(&payload, nodes, 2, 0);
	trace_write_chunk(&t, (struct chunk){ .type = GT_CONTEXT }, &payload);
	if (written > 0)
		trace_write_events(&t, 0, 0, 0, events, written, 0);
	if (end_reason != NULL) {
		trace_write_line(&t, GT_COUNTERS, "dropped", "0");
		compose_line(&payload, "reason", end_reason);
		compose_line(&payload, "message", end_message);
		trace_write_chunk(&t, (struct chunk){ .type = GT_END },
				  &payload);
	}
	if (torn) {	/* not out of a buffer that may move */
		char *piece = malloc(torn);

		assert_non_null(piece);
		memcpy(piece, t.bytes.data + GT_HEADER_SIZE, torn);
		buffer_add(&t.bytes, piece, torn);
		free(piece);
	}
	strcpy(trace_path, "/tmp/gnomon-unit-XXXXXX");
	trace_write_file(&t, trace_path);
	buffer_free(&t.bytes);
}

static void expect(uint64_t allocations, int status)
{
	struct model *model;

	model = model_new(NULL, NULL);
	assert_int_equal(model_read(model, trace_path), status);
	assert_int_equal(model_totals(model)->allocations, allocations);
	assert_int_equal(model_totals(model)->unpaired, 0);
	assert_int_equal(model_threads(model)->count, 2);
	assert_int_equal(model_contexts(model)->cost_count, 1);
	model_free(model);
}

static void left_overs_go_in(void **state)
{
	static const unsigned written[] = { 40, 60, 100 };

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		for (size_t torn = 0; torn < 60; torn += 29) {
			/* 200 records run round the end of the ring */
			make_live(200, written[i]);
			make_trace(written[i], torn);
			expect(200, EXIT_COMPLETE);
			assert_int_not_equal(access(live_path, F_OK), 0);
			expect(200, EXIT_COMPLETE);
			unlink(trace_path);
		}
}

/* The recorder was killed after write and before it moved the tail. */
static void tail_behind_the_trace(void **state)
{
	(void)state;
	make_live(100, 20);
	make_trace(60, 0);
	expect(100, EXIT_COMPLETE);
	unlink(trace_path);
	make_live(100, 20);
	make_trace(100, 0);
	expect(100, EXIT_COMPLETE);
	unlink(trace_path);
}

static void not_while_it_is_written(void **state)
{
	int fd;

	(void)state;
	make_live(100, 20);
	make_trace(20, 0);
	fd = open(trace_path, O_RDONLY);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	expect(100, EXIT_COMPLETE);
	assert_int_equal(access(live_path, F_OK), 0);
	close(fd);
	expect(100, EXIT_COMPLETE);
	assert_int_not_equal(access(live_path, F_OK), 0);
	unlink(trace_path);
}

/* An emulator's program had it. */
static void of_the_other_byte_order(void **state)
{
	(void)state;
	other_order = true;
	make_live(150, 60);
	other_order = false;
	make_trace(60, 0);
	expect(150, EXIT_COMPLETE);
	assert_int_not_equal(access(live_path, F_OK), 0);
	unlink(trace_path);
}

static unsigned ends_of_trace(void)
{
	struct model *model;
	unsigned ends;

	model = model_new(NULL, NULL);
	model_read(model, trace_path);
	assert_int_equal(model_reader_report(model)->damage_count, 0);
	ends = (unsigned)model_reader_report(model)->chunks[GT_END];
	assert_int_equal(model_reader_report(model)->chunks[GT_COUNTERS], ends);
	model_free(model);
	return ends;
}

/* The disk was full: the recorder left the rest in the live file. */
static void behind_a_recorder_that_gave_up(void **state)
{
	static const struct {
		const char *reason;
		int status;	/* what came after the stop is missing */
	} ends[] = { { "exit", EXIT_COMPLETE }, { "exec", EXIT_COMPLETE },
		     { "stopped", EXIT_PARTIAL } };

	(void)state;
	end_message = "no space";
	for (unsigned i = 0; i < 3; i++) {
		end_reason = ends[i].reason;
		make_live(200, 60);
		make_trace(60, 0);
		expect(200, ends[i].status);
		assert_int_not_equal(access(live_path, F_OK), 0);
		expect(200, ends[i].status);
		assert_int_equal(ends_of_trace(), 1);
		unlink(trace_path);
	}
	end_reason = NULL;
}

/* It had no room even for its last words. */
static void behind_a_recorder_without_room(void **state)
{
	(void)state;
	live_error = ENOSPC;
	make_live(200, 60);
	make_trace(60, 17);
	expect(200, EXIT_PARTIAL);
	assert_int_not_equal(access(live_path, F_OK), 0);
	expect(200, EXIT_PARTIAL);
	assert_int_equal(ends_of_trace(), 1);
	unlink(trace_path);
	live_error = 0;
}

/* Another recording's file has the same name by chance. */
static void foreign_live_file(void **state)
{
	uint64_t id = TRACE_WRITE_ID + 1;
	int fd;

	(void)state;
	make_live(100, 20);
	make_trace(20, 0);
	fd = open(live_path, O_WRONLY);
	assert_int_equal(pwrite(fd, &id, sizeof(id),
				offsetof(struct gl_header, trace_id)), 8);
	close(fd);
	expect(20, EXIT_PARTIAL);
	assert_int_equal(access(live_path, F_OK), 0);
	unlink(live_path);
	unlink(trace_path);
}

/* The live file belongs to the last part, whichever of them is read first. */
static void not_into_a_closed_part(void **state)
{
	char closed[64], last[64];

	(void)state;
	make_live(100, 60);
	end_reason = "part";
	end_message = "";
	make_trace(20, 0);
	end_reason = NULL;
	strcpy(closed, trace_path);
	make_trace(60, 0);
	strcpy(last, trace_path);
	strcpy(trace_path, closed);
	expect(20, EXIT_COMPLETE);
	assert_int_equal(access(live_path, F_OK), 0);
	unlink(closed);
	strcpy(trace_path, last);
	expect(100, EXIT_COMPLETE);
	assert_int_not_equal(access(live_path, F_OK), 0);
	unlink(last);
}

/* By this process so far, as the kernel counts. */
static uint64_t bytes_read(void)
{
	unsigned long long count = 0;
	FILE *file = fopen("/proc/self/io", "r");

	assert_non_null(file);
	assert_int_equal(fscanf(file, "rchar: %llu", &count), 1);
	fclose(file);
	return count;
}

/* There may be a hundred thousand of them. */
static void only_the_head_is_read(void **state)
{
	struct trace_facts facts;
	uint64_t before, of_counting;
	int fd;

	(void)state;
	make_trace(2, 0);
	/* much that is no chunk, in which nothing is sought for facts */
	fd = open(trace_path, O_WRONLY | O_APPEND);
	assert_int_equal(ftruncate(fd, 64 << 20), 0);
	close(fd);
	before = bytes_read();
	of_counting = bytes_read() - before;
	before = bytes_read();
	assert_int_equal(live_recover_facts(trace_path, &facts), 0);
	assert_int_equal(facts.result, SCAN_OPEN_OK);
	assert_in_range(bytes_read() - before - of_counting, 1, 64 << 10);
	/* the same without any INFO */
	fd = open(trace_path, O_WRONLY);
	assert_int_equal(pwrite(fd, "no chunk", 8, GT_HEADER_SIZE), 8);
	close(fd);
	before = bytes_read();
	assert_int_equal(live_recover_facts(trace_path, &facts), 0);
	assert_in_range(bytes_read() - before - of_counting, 1, 9 << 20);
	unlink(trace_path);
	unlink(live_path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(left_overs_go_in),
		cmocka_unit_test(tail_behind_the_trace),
		cmocka_unit_test(not_while_it_is_written),
		cmocka_unit_test(of_the_other_byte_order),
		cmocka_unit_test(behind_a_recorder_that_gave_up),
		cmocka_unit_test(behind_a_recorder_without_room),
		cmocka_unit_test(foreign_live_file),
		cmocka_unit_test(not_into_a_closed_part),
		cmocka_unit_test(only_the_head_is_read),
	};

	log_set_quiet(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
