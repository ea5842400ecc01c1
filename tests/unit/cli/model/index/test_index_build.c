/*
 * test_index_build.c: stores of traces: all rows of them, and, of a trace that
 * grows, rows that are those of a store that was made at once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>

#include "cli/model/index/index_build.h"
#include "cli/model/index/index_facts.h"
#include "cli/model/index/index_state.h"
#include "cli/store/store_cursor.h"
#include "tests/unit/model_story.h"

#define SEEDS 4
#define ROUND 120		/* ticks between two SYNCs, about */
#define LAG 40			/* that a watermark is behind */
#define CUTS 24			/* at which a trace is read while it grows */
#define NONSENSE 300		/* states that no reading has left */

/* ---- a trace that grows: a SYNC behind each round of chunks ---- */

struct growing {
	struct trace_write t;
	uint64_t positions[STORY_THREADS];
	size_t next[STORY_THREADS];
	size_t ends[STORY_STEPS];	/* offsets behind SYNCs */
	size_t end_count;
	char path[32];
};

static void put_round(struct growing *g, const struct story *s, uint64_t until)
{
	for (uint32_t i = 0; i < STORY_THREADS; i++) {
		size_t first = g->next[i], at = first;

		while (at < s->event_count[i] &&
		       s->events[i][at].stamp < until + i * 7)
			at++;
		if (at == first)
			continue;
		trace_write_events(&g->t, i, 0, g->positions[i],
				   &s->events[i][first], at - first, 0);
		for (; first < at; first++)
			g->positions[i] += records_ring_bytes(
				&s->events[i][first], false);
		g->next[i] = at;
	}
	trace_write_sync(&g->t, until < LAG ? 0 : until - LAG);
	assert_true(g->end_count < STORY_STEPS);
	g->ends[g->end_count++] = g->t.bytes.size;
}

static void grow_all(struct growing *g, const struct story *s, unsigned seed)
{
	struct buffer payload = { 0 };

	memset(g, 0, sizeof(*g));
	trace_write_begin(&g->t);
	trace_write_line(&g->t, GT_INFO, "free_stacks", "1");
	trace_write_line(&g->t, GT_INFO, "window_ticks", "8");
	trace_write_line(&g->t, GT_INFO, "pid", "77");
	for (uint32_t i = 0; i < STORY_CONTEXTS; i++)
		compose_nodes(&payload, &(struct trace_node){
			GT_STOP_COUNT + i, 0, 0x1000 + i }, 1, 0),
		trace_write_chunk(&g->t, (struct chunk){ .type = GT_CONTEXT },
				  &payload);
	for (uint32_t i = 0; i < STORY_THREADS; i++) {
		compose_thread(&payload, &(struct trace_thread){
			.what = GT_THREAD_START, .ring = i, .tid = 100 + i,
			.name = "" });
		trace_write_chunk(&g->t, (struct chunk){ .type = GT_THREAD },
				  &payload);
	}
	for (uint64_t until = ROUND; until < s->stamp + 2 * ROUND;
	     until += ROUND * (1 + seed % 7))
		put_round(g, s, until);
	strcpy(g->path, "/tmp/gnomon-unit-XXXXXX");
	close(mkstemp(g->path));
}

static void write_prefix(const struct growing *g, size_t size)
{
	int fd = open(g->path, O_WRONLY | O_TRUNC);

	assert_int_equal(write(fd, g->t.bytes.data, size), size);
	close(fd);
}

static void free_growing(struct growing *g)
{
	unlink(g->path);
	buffer_free(&g->t.bytes);
}

/* What makes pairing hard: stamps that are a little wrong, events that lack. */
static void disturb(struct story *s)
{
	for (unsigned i = 0; i < STORY_THREADS; i++)
		for (size_t k = 1; k < s->event_count[i]; k++) {
			struct trace_event *event = &s->events[i][k];

			if (rand() % 20 == 0)
				event->stamp -= (uint64_t)rand() % 6;
			if (event->stamp < event[-1].stamp)
				event->stamp = event[-1].stamp;
			if (rand() % 50 == 0)
				event->address ^= 0x40;
		}
}

/* ---- stores ---- */

static int new_file(void)
{
	char path[] = "/tmp/gnomon-unit-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	return fd;
}

/* *extended: whether `older` was of use. */
static struct store *make(const char *trace, struct store *older,
			  bool *extended)
{
	struct index_build build = {
		.trace = trace, .fd = new_file(), .older = older,
	};
	struct store *store;

	assert_int_equal(index_build(&build), 0);
	*extended = build.older != NULL;
	assert_int_equal(store_open(build.fd, "store", NULL, &store),
			 STORE_GOOD);
	assert_int_equal(store_rows(store), build.rows);
	assert_int_equal(store_live_rows(store), build.live);
	assert_int_equal(store_bytes(store), build.bytes);
	return store;
}

static void check_same_facts(struct store *left, struct store *right)
{
	struct index_facts a, b;

	assert_true(index_facts_read(left, &a) && index_facts_read(right, &b));
	assert_int_equal(a.trace_bytes, b.trace_bytes);
	assert_int_equal(a.trace_digest, b.trace_digest);
	assert_int_equal(a.events, b.events);
	assert_int_equal(a.last_stamp, b.last_stamp);
	assert_int_equal(a.undefined, b.undefined);
	assert_int_equal(a.stretch_count, b.stretch_count);
	assert_memory_equal(a.stretches, b.stretches,
			    a.stretch_count * sizeof(*a.stretches));
	assert_int_equal(a.thread_count, b.thread_count);
	assert_memory_equal(a.thread_events, b.thread_events,
			    a.thread_count * sizeof(uint64_t));
	assert_memory_equal(a.thread_allocations, b.thread_allocations,
			    a.thread_count * sizeof(uint64_t));
	index_facts_free(&a);
	index_facts_free(&b);
}

static void check_same_rows(struct store *left, struct store *right)
{
	const uint32_t columns = STORE_BIT(STORE_STORED) - 1;
	const struct store_scan all = { .now = 0 };
	struct store_cursor *a = store_cursor_new(left, &all, columns);
	struct store_cursor *b = store_cursor_new(right, &all, columns);
	const struct store_batch *one, *other;
	int more;

	assert_int_equal(store_rows(left), store_rows(right));
	while ((more = store_cursor_next(a, &one)) == 1) {
		assert_int_equal(store_cursor_next(b, &other), 1);
		assert_int_equal(one->count, other->count);
		for (unsigned i = 0; i < STORE_STORED; i++)
			assert_memory_equal(one->column[i], other->column[i],
					    one->count * sizeof(uint64_t));
	}
	assert_int_equal(more, 0);
	assert_int_equal(store_cursor_next(b, &other), 0);
	store_cursor_free(a);
	store_cursor_free(b);
}

/* What states had in them, list by list. */
static size_t seen[STATE_LISTS];

static void look_at_state(struct store *store)
{
	static const size_t widths[] = INDEX_STATE_WIDTHS;
	size_t size, at = STATE_HEAD;
	uint64_t *words = store_blob(store, INDEX_STATE_BLOB, &size);

	for (unsigned i = 0; i < STATE_LISTS && words != NULL; i++) {
		assert_true(at < size / sizeof(*words));
		seen[i] += words[at];
		at += 1 + words[at] * widths[i];
	}
	free(words);
}

/* ---- tests ---- */

/* A store at each end that a growing trace had is like one that is made at
 * once. */
static void extending(void **state)
{
	unsigned extensions = 0;

	(void)state;
	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		struct story *story = story_new(seed);
		struct store *older = NULL;
		struct growing g;
		size_t at = 0;

		if (seed % 2 == 0)
			disturb(story);
		grow_all(&g, story, seed);
		for (unsigned cut = 0; cut < CUTS && at < g.end_count; cut++) {
			struct store *store, *fresh;
			bool extended;
			/* now and then in the middle of a chunk */
			size_t torn = rand() % 3 == 0 && at + 1 < g.end_count ?
				(size_t)rand() % 30 : 0;

			write_prefix(&g, g.ends[at] + torn);
			store = make(g.path, older, &extended);
			extensions += extended;
			look_at_state(store);
			fresh = make(g.path, NULL, &extended);
			assert_false(extended);
			check_same_rows(store, fresh);
			check_same_facts(store, fresh);
			store_close(fresh);
			store_close(older);
			older = store;
			at += 1 + (size_t)rand() % (2 * g.end_count / CUTS + 1);
		}
		store_close(older);
		free_growing(&g);
		story_free(story);
	}
	assert_true(extensions > SEEDS * CUTS / 2);
	for (unsigned i = 0; i < STATE_LISTS; i++)
		if (i != STATE_SUSPENDED && i != STATE_NOTES)
			assert_true(seen[i] > 0);
}

/* One that has ended keeps no state. */
static void ended(void **state)
{
	struct story *story = story_new(1);
	struct store *store;
	bool extended;
	size_t size;

	(void)state;
	story_write(story, NULL);
	store = make(story->path, NULL, &extended);
	assert_int_equal(store_rows(store), story->count);
	assert_null(store_blob(store, INDEX_STATE_BLOB, &size));
	store_close(store);
	story_free(story);
}

/* ---- older stores that are of no use ---- */

static void add_row(const uint64_t *const *v, size_t i,
		    struct store_writer *to)
{
	const struct store_row row = {
		.begin = v[STORE_BEGIN][i], .end = v[STORE_END][i],
		.alloc_edge = v[STORE_ALLOC_EDGE][i],
		.end_edge = v[STORE_END_EDGE][i],
		.address = v[STORE_ADDRESS][i], .size = v[STORE_SIZE][i],
		.between = v[STORE_BETWEEN][i],
		.thread = (uint32_t)v[STORE_THREAD][i],
		.node = (uint32_t)v[STORE_NODE][i],
		.end_thread = (uint32_t)v[STORE_END_THREAD][i],
		.end_node = (uint32_t)v[STORE_END_NODE][i],
		.chain = (uint32_t)v[STORE_CHAIN][i],
		.place = (uint32_t)v[STORE_PLACE][i],
		.layout = (uint16_t)v[STORE_LAYOUT][i],
		.how = (uint8_t)v[STORE_HOW][i],
		.flags = (uint8_t)v[STORE_FLAGS][i],
	};

	store_writer_add(to, &row);
}

static void copy_rows(struct store *from, struct store_writer *to)
{
	const struct store_scan all = { .now = 0 };
	struct store_cursor *cursor = store_cursor_new(
		from, &all, STORE_BIT(STORE_STORED) - 1);
	const struct store_batch *batch;

	while (store_cursor_next(cursor, &batch) == 1)
		for (size_t i = 0; i < batch->count; i++)
			add_row(batch->column, i, to);
	store_cursor_free(cursor);
}

/* The same store with another state. */
static struct store *with_state(struct store *store, const uint64_t *words,
				size_t count)
{
	int fd = new_file();
	struct store_writer *writer = store_writer_new(fd, 0);
	struct index_facts facts;
	struct store *copy;

	copy_rows(store, writer);
	assert_true(index_facts_read(store, &facts));
	index_facts_write(&facts, writer);
	index_facts_free(&facts);
	store_writer_blob(writer, INDEX_STATE_BLOB, words,
			  count * sizeof(*words));
	assert_int_equal(store_writer_finish(writer, store_key(store)), 0);
	store_writer_free(writer);
	assert_int_equal(store_open(fd, "copy", NULL, &copy), STORE_GOOD);
	return copy;
}

/* Whatever a state says, a store is made; where it makes no sense, without it. */
static void nonsense(void **state)
{
	struct story *story = story_new(5);
	struct store *older, *fresh;
	uint64_t *words;
	struct growing g;
	bool extended;
	size_t size;

	(void)state;
	disturb(story);
	grow_all(&g, story, 1);
	write_prefix(&g, g.ends[g.end_count / 2]);
	older = make(g.path, NULL, &extended);
	words = store_blob(older, INDEX_STATE_BLOB, &size);
	assert_non_null(words);
	write_prefix(&g, g.ends[g.end_count - 1]);
	fresh = make(g.path, NULL, &extended);
	for (unsigned i = 0; i < NONSENSE; i++) {
		size_t at = (size_t)rand() % (size / sizeof(*words));
		uint64_t was = words[at];
		struct store *other, *store;

		words[at] = rand() % 2 ? (uint64_t)rand() % 200 :
			rand() % 2 ? was + 1 : (uint64_t)rand() << 33 | was;
		other = with_state(older, words, size / sizeof(*words) -
				   (i % 16 == 0));
		store = make(g.path, other, &extended);
		if (!extended || words[at] == was)
			check_same_rows(store, fresh);
		words[at] = was;
		store_close(store);
		store_close(other);
	}
	free(words);
	store_close(older);
	store_close(fresh);
	free_growing(&g);
	story_free(story);
}

/* One that has no state, as its trace had ended. */
static void stateless(void **state)
{
	struct story *story = story_new(1);
	struct store *older, *store;
	bool extended;

	(void)state;
	story_write(story, NULL);
	older = make(story->path, NULL, &extended);
	store = make(story->path, older, &extended);
	assert_false(extended);
	check_same_rows(store, older);
	store_close(older);
	store_close(store);
	story_free(story);
}

static void cancelling(void **state)
{
	struct story *story = story_new(1);
	const atomic_bool cancel = true;
	struct index_build build = { .fd = new_file(), .cancel = &cancel };
	struct store *store;

	(void)state;
	story_write(story, NULL);
	build.trace = story->path;
	assert_int_equal(index_build(&build), -ECANCELED);
	assert_int_equal(store_open(build.fd, "store", NULL, &store),
			 STORE_UNFINISHED);
	story_free(story);
}

static void no_trace(void **state)
{
	struct index_build build = { .trace = "/dev/null", .fd = new_file() };

	(void)state;
	assert_int_equal(index_build(&build), -ESPIPE);
	build.trace = "/none";
	assert_int_equal(index_build(&build), -ENOENT);
	close(build.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(extending),
		cmocka_unit_test(ended),
		cmocka_unit_test(nonsense),
		cmocka_unit_test(stateless),
		cmocka_unit_test(cancelling),
		cmocka_unit_test(no_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
