// LINK: random_rows.c
/*
 * test_store_write.c: the same rows whoever packs them; an extended store says
 * what one that was made at once does; what goes wrong is told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/cli/store/random_rows.h"

struct comparison {
	const struct random_rows *rows;
	atomic_size_t seen;
};

static void compare(void *owner, unsigned worker,
		    const struct store_batch *batch)
{
	struct comparison *c = owner;

	(void)worker;
	for (size_t i = 0; i < batch->count; i++)
		for (unsigned k = 0; k < STORE_COLUMNS; k++)
			assert_int_equal(batch->column[k][i],
				random_value(c->rows,
					     batch->column[STORE_ROW][i], k,
					     c->rows->end));
	atomic_fetch_add(&c->seen, batch->count);
}

/* The file has these rows; it is closed. */
static void expect_rows(int fd, const struct random_rows *rows)
{
	struct store *store = random_store(fd, NULL);
	const struct store_scan all = { .now = rows->end };
	struct comparison c = { .rows = rows };

	assert_int_equal(store_scan_each(store, &all,
					 STORE_BIT(STORE_COLUMNS) - 1, compare,
					 &c), 0);
	assert_int_equal(c.seen, rows->count);
	assert_int_equal(store_rows(store), rows->count);
	assert_int_equal(store_live_rows(store), rows->live);
	store_close(store);
	close(fd);
}

static void any_number_of_packers(void **state)
{
	struct random_rows rows = random_rows_make(11, 160000);

	(void)state;
	for (unsigned packers = 0; packers <= 4; packers++)
		expect_rows(random_rows_write(&rows, packers), &rows);
	random_rows_free(&rows);
}

static void rows_take_little_room(void **state)
{
	struct random_rows rows = random_rows_make(12, 200000);
	struct store *store = random_rows_store(&rows);

	(void)state;
	/* these are random for the most part; of struct store_row it is 88 */
	assert_true(store_bytes(store) < 24 * rows.count);
	store_close(store);
	random_rows_free(&rows);
}

/* The first `ended` rows that ended, and as if all later ones were live. */
static struct random_rows earlier(const struct random_rows *rows,
				  size_t ended)
{
	struct random_rows some = *rows;

	some.list = calloc(rows->count, sizeof(*some.list));
	memcpy(some.list, rows->list, rows->count * sizeof(*some.list));
	for (size_t i = ended; i < rows->count; i++)
		some.list[i].how = STORE_LIVE;
	some.live = rows->count - ended;
	return some;
}

static int extend(int from, const struct random_rows *rows, size_t ended)
{
	struct store *older = random_store(from, NULL);
	int fd = random_file(), error;
	struct store_writer *writer = store_writer_extend(fd, 1, older, ended,
							  &error);

	assert_int_equal(error, 0);
	assert_non_null(writer);
	store_close(older);
	assert_int_equal(store_writer_rows(writer), ended);
	for (size_t i = ended; i < rows->count; i++)
		store_writer_add(writer, &rows->list[i]);
	assert_int_equal(store_writer_finish(writer, &random_key), 0);
	store_writer_free(writer);
	return fd;
}

static void an_extended_store_is_the_same(void **state)
{
	struct random_rows rows = random_rows_make(13, 230000);
	size_t ended = rows.count - rows.live;
	const size_t steps[] = { 0, 3000, 65536, 140000 };

	(void)state;
	assert_true(ended > 140000);
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		struct random_rows some = earlier(&rows, steps[i]);
		int fd = random_rows_write(&some, 1), next;

		/* not all of what it has, and all */
		next = extend(fd, &rows, steps[i] / 2);
		expect_rows(next, &rows);
		next = extend(fd, &rows, steps[i]);
		close(fd);
		/* once more */
		fd = extend(next, &rows, ended);
		close(next);
		expect_rows(fd, &rows);
		random_rows_free(&some);
	}
	random_rows_free(&rows);
}

static void add_rows(struct store_writer *writer,
		     const struct random_rows *rows, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		store_writer_add(writer, &rows->list[i]);
}

/* A store of a branch, when so many rows have ended. */
static struct store *branch(struct store_writer *writer,
			    const struct random_rows *rows, size_t ended)
{
	struct random_rows some = earlier(rows, ended);
	struct store_writer *other;
	struct store *store;
	int fd = random_file();

	other = store_writer_branch(writer, fd, 1);
	assert_int_equal(store_writer_rows(other), ended);
	add_rows(other, &some, ended, some.count);
	assert_int_equal(store_writer_finish(other, &random_key), 0);
	store_writer_free(other);
	random_rows_free(&some);
	store = random_store(fd, NULL);
	close(fd);
	assert_int_equal(store_rows(store), rows->count);
	return store;
}

/* Its writer goes on, and is killed. */
static void a_branch_is_gone_on_with(void **state)
{
	struct random_rows rows = random_rows_make(15, 230000);
	size_t ended = rows.count - rows.live;
	const size_t steps[] = { 0, 3000, 65536, 140000 };

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		int fd = random_file(), error;
		struct store_writer *writer = store_writer_new(fd, 2);
		struct store *store;

		add_rows(writer, &rows, 0, steps[i]);
		store = branch(writer, &rows, steps[i]);
		add_rows(writer, &rows, steps[i], ended);
		store_writer_free(writer);
		/* twice: the branch is as good as it was */
		writer = store_writer_resume(fd, 1, store, &error);
		assert_non_null(writer);
		add_rows(writer, &rows, steps[i], ended - 1);
		store_writer_free(writer);
		writer = store_writer_resume(fd, 1, store, &error);
		assert_int_equal(error, 0);
		store_close(store);
		assert_int_equal(store_writer_rows(writer), steps[i]);
		/* and a branch of that */
		store = branch(writer, &rows, steps[i]);
		store_close(store);
		add_rows(writer, &rows, steps[i], rows.count);
		assert_int_equal(store_writer_finish(writer, &random_key), 0);
		store_writer_free(writer);
		expect_rows(fd, &rows);
	}
	random_rows_free(&rows);
}

/* Other threads may have come to rows that are there. */
static void pass(void *owner, unsigned worker, const struct store_batch *batch)
{
	(void)owner;
	(void)worker;
	(void)batch;
}

static void a_branch_alone_is_of_no_use(void **state)
{
	struct random_rows rows = random_rows_make(16, 200000);
	const struct store_scan all = { .now = rows.end };
	int fd = random_file(), error;
	struct store_writer *writer = store_writer_new(fd, 0);
	struct store *store;

	(void)state;
	add_rows(writer, &rows, 0, 70000);
	store = branch(writer, &rows, 70000);
	store_writer_free(writer);
	/* where full chunks are it has nothing, which is found out */
	assert_int_equal(store_scan_each(store, &all,
					 STORE_BIT(STORE_STORED) - 1, pass,
					 NULL), -EBADMSG);
	assert_int_equal(ftruncate(fd, 1000), 0);
	assert_null(store_writer_resume(fd, 0, store, &error));
	assert_int_equal(error, -EBADMSG);
	store_close(store);
	close(fd);
	random_rows_free(&rows);
}

static void what_is_not_there_does_not_extend(void **state)
{
	struct random_rows rows = random_rows_make(14, 3000);
	int from = random_rows_write(&rows, 0), fd = random_file(), error;
	struct store *older = random_store(from, NULL);

	(void)state;
	assert_null(store_writer_extend(fd, 1, older,
					rows.count - rows.live + 1, &error));
	assert_int_equal(error, -EBADMSG);
	/* the rest is packed anew, and damaged */
	assert_int_equal(ftruncate(from, 200), 0);
	assert_null(store_writer_extend(fd, 0, older, 100, &error));
	assert_int_equal(error, -EBADMSG);
	store_close(older);
	close(from);
	close(fd);
	random_rows_free(&rows);
}

/* ---- what goes wrong ---- */

static void a_full_disk_is_told(void **state)
{
	struct random_rows rows = random_rows_make(15, 150000);

	(void)state;
	for (unsigned packers = 0; packers <= 2; packers++) {
		int fd = open("/dev/full", O_RDWR | O_CLOEXEC);
		struct store_writer *writer = store_writer_new(fd, packers);

		for (size_t i = 0; i < rows.count; i++)
			store_writer_add(writer, &rows.list[i]);
		assert_int_equal(store_writer_finish(writer, &random_key),
				 -ENOSPC);
		assert_int_equal(store_writer_error(writer), -ENOSPC);
		store_writer_free(writer);
		close(fd);
	}
	random_rows_free(&rows);
}

/* Whenever it stops, what is there is no store. */
static void a_store_that_is_not_finished_is_none(void **state)
{
	struct random_rows rows = random_rows_make(16, 150000);
	int fd = random_file();
	struct store_writer *writer = store_writer_new(fd, 2);
	struct store *store;

	(void)state;
	for (size_t i = 0; i < rows.count; i++) {
		store_writer_add(writer, &rows.list[i]);
		if (i % 50000 == 0)
			assert_int_equal(store_open(dup(fd), "x", NULL,
						    &store),
					 STORE_UNFINISHED);
	}
	store_writer_free(writer);
	assert_int_equal(store_open(fd, "x", NULL, &store), STORE_UNFINISHED);
	random_rows_free(&rows);
}

static void limits_are_told(void **state)
{
	int fd = random_file();
	struct store_writer *writer = store_writer_new(fd, 0);
	const struct store_row far = {
		.how = STORE_FREED, .end_edge = STORE_EDGES(1),
	};
	char name[16];

	(void)state;
	for (unsigned i = 0; i <= STORE_FACTS_MAX; i++) {
		assert_int_equal(store_writer_error(writer), 0);
		snprintf(name, sizeof(name), "%u", i);
		store_writer_fact(writer, name, i);
	}
	assert_int_equal(store_writer_error(writer), -EFBIG);
	assert_int_equal(store_writer_finish(writer, &random_key), -EFBIG);
	store_writer_free(writer);
	assert_int_equal(ftruncate(fd, 0), 0);
	writer = store_writer_new(fd, 0);
	store_writer_add(writer, &far);
	assert_int_equal(store_writer_finish(writer, &random_key), -EFBIG);
	store_writer_free(writer);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_number_of_packers),
		cmocka_unit_test(rows_take_little_room),
		cmocka_unit_test(an_extended_store_is_the_same),
		cmocka_unit_test(a_branch_is_gone_on_with),
		cmocka_unit_test(a_branch_alone_is_of_no_use),
		cmocka_unit_test(what_is_not_there_does_not_extend),
		cmocka_unit_test(a_full_disk_is_told),
		cmocka_unit_test(a_store_that_is_not_finished_is_none),
		cmocka_unit_test(limits_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
