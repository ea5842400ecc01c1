/*
 * test_index_checkpoint.c: parts of stores: when one is due, that a whole one
 * is there whenever its maker dies, and that it is taken for no finished store.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/model/index/index_checkpoint.h"

#define EVERY 100

static const struct store_key key = { .trace_id = 7, .prefix_bytes = 5 };

struct place {
	char folder[32], part[64], new[64];
	int fd;			/* of the store itself */
	struct store_writer *writer;
};

static void make_place(struct place *p)
{
	snprintf(p->folder, sizeof(p->folder), "/tmp/gnomon-unit-XXXXXX");
	assert_non_null(mkdtemp(p->folder));
	snprintf(p->part, sizeof(p->part), "%s/a.part", p->folder);
	snprintf(p->new, sizeof(p->new), "%s/a.part.new", p->folder);
	p->fd = open(p->folder, O_TMPFILE | O_RDWR, 0600);
	assert_true(p->fd >= 0);
	p->writer = store_writer_new(p->fd, 0);
}

static void free_place(struct place *p)
{
	store_writer_free(p->writer);
	close(p->fd);
	unlink(p->part);
	unlink(p->new);
	assert_int_equal(rmdir(p->folder), 0);
}

static void add_row(struct store_writer *writer, uint64_t edge,
		    enum store_how how)
{
	const struct store_row row = {
		.begin = edge, .end = edge + 1, .alloc_edge = edge,
		.end_edge = edge + 1, .address = 64, .how = (uint8_t)how,
	};

	store_writer_add(writer, &row);
}

/* Of a part that has so many live rows. */
static void take(struct place *p, struct index_checkpoint *parts, uint64_t live,
		 uint64_t events)
{
	struct store_writer *branch =
		index_checkpoint_begin(parts, p->writer, p->fd, 0);

	assert_non_null(branch);
	for (uint64_t i = 0; i < live; i++)
		add_row(branch, 1000 + i, STORE_LIVE);
	assert_true(index_checkpoint_end(parts, branch, &key, events));
}

static struct store *open_part(const struct place *p)
{
	struct store *store;

	assert_int_equal(store_open(open(p->part, O_RDONLY), p->part, NULL,
				    &store), STORE_GOOD);
	return store;
}

static void when_one_is_due(void **state)
{
	struct index_checkpoint parts;

	(void)state;
	index_checkpoint_init(&parts, NULL, EVERY, 0);
	assert_false(index_checkpoint_due(&parts, UINT64_MAX, 0));
	index_checkpoint_init(&parts, "x", EVERY, 50);
	assert_false(index_checkpoint_due(&parts, 50 + EVERY - 1, 0));
	assert_true(index_checkpoint_due(&parts, 50 + EVERY, 1000000));
	index_checkpoint_init(&parts, "x", 0, 50);
	assert_false(index_checkpoint_due(&parts, INDEX_CHECKPOINT_EVENTS, 0));
	assert_true(
		index_checkpoint_due(&parts, 50 + INDEX_CHECKPOINT_EVENTS, 0));
	/* the more there is to keep, the more rarely */
	assert_false(index_checkpoint_due(&parts, 50 + INDEX_CHECKPOINT_EVENTS,
					  INDEX_CHECKPOINT_EVENTS));
	assert_true(index_checkpoint_due(
		&parts, 50 + INDEX_CHECKPOINT_EVENTS * INDEX_CHECKPOINT_LIVE,
		INDEX_CHECKPOINT_EVENTS));
}

static void one_takes_the_place_of_another(void **state)
{
	struct index_checkpoint parts;
	struct store *store;
	struct place p;

	(void)state;
	make_place(&p);
	/* what a killed one has left is in nobody's way */
	close(open(p.new, O_WRONLY | O_CREAT, 0600));
	index_checkpoint_init(&parts, p.part, EVERY, 0);
	add_row(p.writer, 1, STORE_FREED);
	take(&p, &parts, 2, EVERY);
	store = open_part(&p);
	assert_int_equal(store_rows(store), 3);
	assert_int_equal(store_live_rows(store), 2);
	/* nobody takes it for a store of a shorter trace */
	assert_int_equal(store_key(store)->options, INDEX_CHECKPOINT);
	assert_int_equal(store_key(store)->prefix_bytes, key.prefix_bytes);
	store_close(store);
	assert_int_not_equal(access(p.new, F_OK), 0);
	assert_false(index_checkpoint_due(&parts, 2 * EVERY - 1, 0));
	assert_true(index_checkpoint_due(&parts, 2 * EVERY, 0));
	add_row(p.writer, 3, STORE_FREED);
	take(&p, &parts, 1, 2 * EVERY);
	store = open_part(&p);
	assert_int_equal(store_rows(store), 3);
	assert_int_equal(store_live_rows(store), 1);
	store_close(store);
	free_place(&p);
}

/* Where one cannot be written, the one before stays, and no other is tried. */
static void none_can_be_written(void **state)
{
	struct index_checkpoint parts;
	struct store_writer *branch;
	struct place p;

	(void)state;
	make_place(&p);
	index_checkpoint_init(&parts, "/none/a.part", EVERY, 0);
	assert_true(index_checkpoint_due(&parts, EVERY, 0));
	assert_null(index_checkpoint_begin(&parts, p.writer, p.fd, 0));
	assert_false(index_checkpoint_due(&parts, EVERY, 0));
	index_checkpoint_init(&parts, p.part, EVERY, 0);
	take(&p, &parts, 1, EVERY);
	branch = index_checkpoint_begin(&parts, p.writer, p.fd, 0);
	assert_non_null(branch);
	assert_int_equal(unlink(p.new), 0);
	assert_false(index_checkpoint_end(&parts, branch, &key, EVERY));
	assert_false(index_checkpoint_due(&parts, 9 * EVERY, 0));
	store_close(open_part(&p));
	free_place(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(when_one_is_due),
		cmocka_unit_test(one_takes_the_place_of_another),
		cmocka_unit_test(none_can_be_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
