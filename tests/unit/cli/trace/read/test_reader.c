/*
 * test_reader.c: a trace as a file, as bytes that come in pieces of any size,
 * and as one that grows while it is read, says the same each time; readers
 * that are cancelled stop; several in several threads do not know of each
 * other. Nothing is printed.
 */
// FLAGS: -Wl,--wrap=flock
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "cli/model/core/contexts.h"
#include "cli/model/model.h"
#include "cli/trace/read/reader.h"
#include "tests/unit/model_story.h"

static struct story *story;
static struct buffer bytes;	/* of its trace */

static int prepare(void **state)
{
	char piece[4096];
	FILE *file;
	size_t n;

	(void)state;
	story = story_new(11);
	story_write(story, NULL);
	file = fopen(story->path, "r");
	while (file != NULL && (n = fread(piece, 1, sizeof(piece), file)) > 0)
		buffer_add(&bytes, piece, n);
	return file == NULL || fclose(file);
}

static int clear(void **state)
{
	(void)state;
	buffer_free(&bytes);
	story_free(story);
	return 0;
}

/* ---- what a reading comes to ---- */

struct outcome {
	uint64_t status;
	struct totals totals;
	uint64_t events, damages, contexts;
	uint64_t kind, offset, size;	/* of the first damage */
};

static void judge(struct model *model, const struct reader_report *report,
		  enum exit_status status, struct outcome *outcome)
{
	if (status != EXIT_NOTHING)
		model_finish(model);
	memset(outcome, 0, sizeof(*outcome));
	outcome->status = status;
	outcome->totals = *model_totals(model);
	outcome->events = report->events;
	outcome->contexts = model_contexts(model)->cost_count;
	outcome->damages = report->damage_count;
	outcome->kind = report->damage[0].kind;
	outcome->offset = report->damage[0].offset;
	outcome->size = report->damage[0].size;
	model_free(model);
}

static struct model *new_model(struct reader_sink *sink)
{
	struct model *model = model_new(NULL, NULL);

	model_sink(model, sink);
	return model;
}

static void read_file(const char *path, struct notes *notes,
		      struct outcome *outcome)
{
	struct reader_report report = { 0 };
	struct reader_sink sink;
	struct model *model = new_model(&sink);

	judge(model, &report, reader_run(path, &sink, &report, notes), outcome);
}

/* Steps until it waits, or is done. */
static enum reader_state run(struct reader *reader)
{
	enum reader_state state;

	do
		state = reader_step(reader);
	while (state == READER_MORE);
	return state;
}

/* In pieces of up to `most` bytes. */
static void read_fed(const char *data, size_t size, unsigned most,
		     struct notes *notes, struct outcome *outcome)
{
	struct reader_report report = { 0 };
	struct reader_sink sink;
	struct model *model = new_model(&sink);
	struct reader *reader = reader_open_fed("fed", &sink, &report,
						notes);
	unsigned seed = most;

	for (size_t at = 0, n; at < size; at += n) {
		seed = seed * 1103515245 + 12345;
		n = 1 + (seed >> 8) % most;
		n = n < size - at ? n : size - at;
		reader_feed(reader, data + at, n);
		/* what is no trace is known at once */
		if (run(reader) != READER_WAITS)
			break;
	}
	reader_feed_end(reader);
	assert_int_equal(run(reader), READER_DONE);
	assert_int_equal(run(reader), READER_DONE);
	judge(model, &report, reader_close(reader), outcome);
}

static void same(const struct outcome *a, const struct outcome *b)
{
	assert_memory_equal(a, b, sizeof(*a));
}

static void fed_in_pieces(void **state)
{
	static const unsigned most[] = { 1, 7, 100, 5000, 1u << 30 };
	struct notes notes = NOTES_INIT;
	struct outcome file, fed;

	(void)state;
	read_file(story->path, &notes, &file);
	assert_int_equal(file.status, EXIT_COMPLETE);
	assert_true(file.events > 3000 && file.totals.peak_bytes > 0);
	for (size_t i = 0; i < sizeof(most) / sizeof(most[0]); i++) {
		read_fed(bytes.data, bytes.size, most[i], &notes, &fed);
		same(&file, &fed);
	}
	assert_int_equal(notes.count, 0);
	notes_free(&notes);
}

/* A changed byte, or a cut, at many places: what is wrong is the same,
 * wherever the bytes come from, and so are the notes but for the name. */
static void fed_damaged(void **state)
{
	(void)state;
	for (size_t at = 3; at < bytes.size; at += 1009) {
		char *data = malloc(bytes.size), path[] = "/tmp/reader-XXXXXX";
		struct notes notes = NOTES_INIT, others = NOTES_INIT;
		size_t size = at % 2 ? bytes.size : at;
		struct trace_write t = { .bytes = { data, size, size } };
		struct outcome file, fed;

		memcpy(data, bytes.data, bytes.size);
		data[at] ^= 0x40;
		trace_write_file(&t, path);
		read_file(path, &notes, &file);
		assert_true(file.status != EXIT_COMPLETE);
		read_fed(data, size, 300, &others, &fed);
		same(&file, &fed);
		assert_int_equal(notes.count, others.count);
		assert_true(notes.count > 0);
		for (size_t i = 0; i < notes.count; i++)
			assert_string_equal(notes.list[i].text + sizeof(path) -
					    1, others.list[i].text + 3);
		notes_free(&notes);
		notes_free(&others);
		unlink(path);
		free(data);
	}
}

/* A header that says it is gigabytes long waits for no more than some of
 * them. */
static void long_header(void **state)
{
	struct notes notes = NOTES_INIT;
	struct outcome outcome;
	char header[GT_HEADER_SIZE];
	uint32_t size = UINT32_MAX;

	(void)state;
	memcpy(header, bytes.data, sizeof(header));
	memcpy(header + GT_MAGIC_SIZE + 4, &size, sizeof(size));
	read_fed(header, sizeof(header), 5, &notes, &outcome);
	assert_int_equal(outcome.status, EXIT_NOTHING);
	assert_int_equal(notes.count, 1);
	assert_true(notes.list[0].error);
	notes_free(&notes);
}

/* ---- traces that are being written ---- */

static int create(char *path)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	return fd;
}

/* Written in pieces, each read as far as it goes. `size`: of what is written
 * before the recorder goes. */
static void follow(size_t size, struct notes *notes, struct outcome *outcome)
{
	char path[] = "/tmp/reader-XXXXXX";
	int fd = create(path);
	struct reader_report report = { 0 };
	struct reader_sink sink;
	struct model *model = new_model(&sink);
	struct reader *reader;
	uint64_t before = 0;
	unsigned grown = 0;

	/* its head, or it is no trace yet */
	assert_int_equal(write(fd, bytes.data, 600), 600);
	reader = reader_follow(path, &sink, &report, notes);
	for (size_t at = 600, n; at < size; at += n) {
		assert_int_equal(run(reader), READER_WAITS);
		assert_int_equal(run(reader), READER_WAITS);
		assert_true(report.being_written);
		grown += report.bytes[GT_EVENTS] > before;
		before = report.bytes[GT_EVENTS];
		n = size - at < 777 ? size - at : 777;
		assert_int_equal(write(fd, bytes.data + at, n), n);
	}
	if (size < bytes.size)
		assert_int_equal(run(reader), READER_WAITS);
	close(fd);
	assert_int_equal(run(reader), READER_DONE);
	assert_false(report.being_written);
	assert_true(grown > 1);
	judge(model, &report, reader_close(reader), outcome);
	unlink(path);
}

static void followed(void **state)
{
	struct notes notes = NOTES_INIT;
	struct outcome file, seen;

	(void)state;
	read_file(story->path, NULL, &file);
	follow(bytes.size, &notes, &seen);
	same(&file, &seen);
	assert_int_equal(notes.count, 0);
	/* its recorder dies within a chunk */
	follow(bytes.size - 100, &notes, &seen);
	assert_int_equal(seen.status, EXIT_PARTIAL);
	assert_int_equal(seen.kind, SCAN_TORN);
	assert_int_equal(notes.count, 2);
	notes_free(&notes);
}

/* Where its chunks begin, from the middle on: the n-th. */
static uint64_t chunk_offset(unsigned n)
{
	struct scan scan;
	struct chunk chunk = { 0 };
	uint64_t offset = 0;

	assert_int_equal(scan_open(&scan, open(story->path, O_RDONLY)),
			 SCAN_OPEN_OK);
	while (scan_next(&scan, &chunk)) {
		offset = chunk.offset;
		if (offset > bytes.size / 2 && n-- == 0)
			break;
	}
	scan_close(&scan);
	assert_true(offset > bytes.size / 2);
	return offset;
}

/* What stands behind the last chunk is written anew, by who folds or by a
 * recorder whose write was cut short; more of it, less, or as much. And the
 * name may be gone. */
static void followed_and_rewritten(void **state)
{
	static const unsigned torn[] = { 1, 40, 100, 300, 5000 };

	(void)state;
	for (size_t i = 0; i < sizeof(torn) / sizeof(torn[0]); i++) {
		char path[] = "/tmp/reader-XXXXXX", junk[5000];
		uint64_t at = chunk_offset(0);
		struct notes notes = NOTES_INIT;
		struct outcome file, seen;
		struct reader_report report = { 0 };
		struct reader_sink sink;
		struct model *model = new_model(&sink);
		struct reader *reader;
		int fd = create(path);

		/* it begins like a chunk */
		memset(junk, 0x55, sizeof(junk));
		memcpy(junk, bytes.data + at, 16);
		reader = reader_follow(path, &sink, &report, &notes);
		assert_int_equal(run(reader), READER_WAITS);	/* empty */
		assert_int_equal(write(fd, bytes.data, at), at);
		assert_int_equal(write(fd, junk, torn[i]), torn[i]);
		assert_int_equal(run(reader), READER_WAITS);
		if (i % 2)
			unlink(path);
		assert_int_equal(ftruncate(fd, (off_t)at), 0);
		assert_int_equal(lseek(fd, (off_t)at, SEEK_SET), at);
		if (i % 3 == 0)
			assert_int_equal(run(reader), READER_WAITS);
		assert_int_equal(write(fd, bytes.data + at, bytes.size - at),
				 bytes.size - at);
		if (i != 1)
			close(fd);
		assert_int_equal(run(reader), READER_DONE);
		judge(model, &report, reader_close(reader), &seen);
		read_file(story->path, NULL, &file);
		same(&file, &seen);
		assert_int_equal(notes.count, 0);
		notes_free(&notes);
		unlink(path);
		if (i == 1)
			close(fd);
	}
}

/* One that has ended is read to its end at once. */
/* A file system without locks: flock fails. */
static bool no_locks;

int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);

int __wrap_flock(int fd, int operation)
{
	if (!no_locks)
		return __real_flock(fd, operation);
	errno = ENOLCK;
	return -1;
}

static void followed_without_locks(void **state)
{
	struct notes notes = NOTES_INIT;
	struct reader_report report = { 0 };
	char path[] = "/tmp/reader-XXXXXX";
	int fd = create(path);
	struct reader_sink sink;
	struct model *model = new_model(&sink);
	struct outcome seen;
	struct reader *reader;

	(void)state;
	assert_int_equal(write(fd, bytes.data, bytes.size - 100),
			 bytes.size - 100);
	reader = reader_follow(path, &sink, &report, &notes);
	assert_int_equal(run(reader), READER_WAITS);
	/* the lock is no evidence of a recorder any more */
	no_locks = true;
	assert_int_equal(run(reader), READER_DONE);
	no_locks = false;
	judge(model, &report, reader_close(reader), &seen);
	notes_free(&notes);
	close(fd);
	unlink(path);
}

static void followed_too_late(void **state)
{
	struct reader_report report = { 0 };
	struct reader_sink sink;
	struct model *model = new_model(&sink);
	struct reader *reader = reader_follow(story->path, &sink,
					      &report, NULL);
	struct outcome file, seen;

	(void)state;
	read_file(story->path, NULL, &file);
	assert_int_equal(run(reader), READER_DONE);
	judge(model, &report, reader_close(reader), &seen);
	same(&file, &seen);
}

/* ---- cancelled ---- */

/* By the sink, at the n-th call; no more calls follow but of the same chunk. */
static struct {
	struct reader *reader;
	unsigned left, after;
} cancel;

static void cancel_events(void *owner, uint32_t lane,
			  const struct trace_event *events, size_t count)
{
	if (cancel.left > 0 && --cancel.left == 0)
		reader_cancel(cancel.reader);
	else if (cancel.left == 0)
		cancel.after++;
	model_events(owner, lane, events, count);
}

static void cancelled(void **state)
{
	unsigned n, done = 0;

	(void)state;
	for (n = 1; done == 0; n = n * 3 / 2 + 1) {
		struct reader_report report = { 0 };
		struct reader_sink sink;
		struct model *model = new_model(&sink);

		sink.events = cancel_events;
		cancel.left = n;
		cancel.after = 0;
		cancel.reader = reader_open(story->path, &sink,
					    &report, NULL);
		if (run(cancel.reader) == READER_DONE) {
			assert_true(cancel.left > 0);
			assert_int_equal(reader_close(cancel.reader),
					 EXIT_COMPLETE);
			done = n;
		} else {
			assert_int_equal(run(cancel.reader), READER_CANCELLED);
			assert_int_equal(cancel.after, 0);
			assert_int_equal(reader_close(cancel.reader),
					 EXIT_NOTHING);
		}
		model_free(model);
	}
	assert_true(done > 20);
}

/* After each step. */
static void cancelled_between(void **state)
{
	(void)state;
	for (unsigned n = 0;; n++) {
		struct reader_report report = { 0 };
		struct reader_sink sink;
		struct model *model = new_model(&sink);
		struct reader *reader = reader_open(story->path, &sink,
						    &report, NULL);
		enum reader_state state_now = READER_MORE;

		for (unsigned i = 0; i < n && state_now == READER_MORE; i++)
			state_now = reader_step(reader);
		reader_cancel(reader);
		assert_int_equal(reader_step(reader), READER_CANCELLED);
		reader_close(reader);
		model_free(model);
		if (state_now == READER_DONE)
			break;
		assert_true(n < 10000);
	}
}

static void *cancel_soon(void *reader)
{
	reader_cancel(reader);
	return NULL;
}

static void cancelled_by_another(void **state)
{
	struct reader_report report = { 0 };
	struct reader_sink sink;
	struct model *model = new_model(&sink);
	struct reader *reader = reader_open_fed("fed", &sink, &report,
						NULL);
	enum reader_state state_now;
	pthread_t thread;

	(void)state;
	reader_feed(reader, bytes.data, bytes.size);
	assert_int_equal(pthread_create(&thread, NULL, cancel_soon, reader), 0);
	do	/* what is fed never ends */
		state_now = reader_step(reader);
	while (state_now != READER_CANCELLED);
	pthread_join(thread, NULL);
	reader_close(reader);
	model_free(model);
}

/* ---- several at once ---- */

static void *read_often(void *outcome)
{
	for (int i = 0; i < 5; i++)
		read_file(story->path, NULL, outcome);
	return NULL;
}

static void two_at_once(void **state)
{
	struct outcome alone, one, other;
	pthread_t thread;

	(void)state;
	read_file(story->path, NULL, &alone);
	assert_int_equal(pthread_create(&thread, NULL, read_often, &one), 0);
	read_often(&other);
	pthread_join(thread, NULL);
	same(&alone, &one);
	same(&alone, &other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fed_in_pieces),
		cmocka_unit_test(fed_damaged),
		cmocka_unit_test(long_header),
		cmocka_unit_test(followed),
		cmocka_unit_test(followed_and_rewritten),
		cmocka_unit_test(followed_too_late),
		cmocka_unit_test(followed_without_locks),
		cmocka_unit_test(cancelled),
		cmocka_unit_test(cancelled_between),
		cmocka_unit_test(cancelled_by_another),
		cmocka_unit_test(two_at_once),
	};

	return cmocka_run_group_tests(tests, prepare, clear);
}
