// LINK: random_rows.c
/*
 * test_store.c: opening a file: good, unfinished, foreign, of another format,
 * truncated, with flipped bits. Damage is found when the file is opened or
 * scanned, and never gives wrong rows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/base/io_full.h"
#include "cli/store/store_file.h"
#include "tests/unit/cli/store/random_rows.h"

static enum store_state open_state(int fd)
{
	struct store *store;
	enum store_state state = store_open(dup(fd), "x", NULL, &store);

	assert_int_equal(state == STORE_GOOD, store != NULL);
	store_close(store);
	return state;
}

static size_t size_of(int fd)
{
	struct stat file;

	assert_int_equal(fstat(fd, &file), 0);
	return (size_t)file.st_size;
}

/* Another file with these bytes. */
static int file_of(const void *bytes, size_t size)
{
	int fd = random_file();

	assert_int_equal(io_full_write_at(fd, bytes, size, 0), 0);
	return fd;
}

static char *bytes_of(int fd, size_t *size)
{
	char *bytes = malloc(size_of(fd));

	*size = size_of(fd);
	assert_int_equal(io_full_read_at(fd, bytes, *size, 0), *size);
	return bytes;
}

static void what_was_kept_is_there(void **state)
{
	struct random_rows rows = random_rows_make(1, 900);
	int fd = random_rows_write(&rows, 0);
	struct store *store = random_store(fd, NULL);
	uint64_t value, least, greatest;
	size_t size;
	char *blob;

	(void)state;
	assert_memory_equal(store_key(store), &random_key, sizeof(random_key));
	assert_int_equal(store_rows(store), rows.count);
	assert_int_equal(store_live_rows(store), rows.live);
	assert_int_equal(store_bytes(store), size_of(fd));
	assert_true(store_fact(store, "unpaired", &value));
	assert_int_equal(value, 17);
	assert_true(store_fact(store, "last", &value));
	assert_int_equal(value, rows.end);
	assert_false(store_fact(store, "las", &value));
	blob = store_blob(store, "state", &size);
	assert_int_equal(size, 9);
	assert_memory_equal(blob, "something", 9);
	free(blob);
	assert_null(store_blob(store, "stat", &size));
	assert_true(store_bounds(store, STORE_ALLOC_EDGE, &least, &greatest));
	assert_int_equal(least, 0);
	assert_true(greatest < 2 * rows.count);
	assert_true(store_column_bytes(store, STORE_SIZE) > 0);
	assert_true(store_column_bytes(store, STORE_SIZE) < size_of(fd));
	store_close(store);
	close(fd);
	random_rows_free(&rows);
}

static void a_file_is_told_what_it_is(void **state)
{
	struct random_rows rows = random_rows_make(1, 10);
	int fd = random_rows_write(&rows, 0), other;
	char zeros[4096] = { 0 };
	uint64_t word = 0;

	(void)state;
	assert_int_equal(open_state(fd), STORE_GOOD);
	other = file_of("", 0);
	assert_int_equal(open_state(other), STORE_UNFINISHED);
	close(other);
	other = file_of(zeros, sizeof(zeros));
	assert_int_equal(open_state(other), STORE_UNFINISHED);
	close(other);
	other = file_of("\x7f" "ELF, or anything else, as long as this", 40);
	assert_int_equal(open_state(other), STORE_FOREIGN);
	close(other);
	/* the version, behind the magic */
	word = STORE_VERSION + 1;
	assert_int_equal(io_full_write_at(fd, &word, 4, 8), 0);
	assert_int_equal(open_state(fd), STORE_NEWER);
	word = STORE_VERSION - 1;
	assert_int_equal(io_full_write_at(fd, &word, 4, 8), 0);
	assert_int_equal(open_state(fd), STORE_OLDER);
	word = STORE_VERSION;
	assert_int_equal(io_full_write_at(fd, &word, 4, 8), 0);
	/* the word of the byte order */
	word = __builtin_bswap64(STORE_ORDER_WORD);
	assert_int_equal(io_full_write_at(fd, &word, 8, 16), 0);
	assert_int_equal(open_state(fd), STORE_FOREIGN);
	close(fd);
	assert_int_equal(open_state(STDIN_FILENO + 1000), STORE_UNREADABLE);
	random_rows_free(&rows);
}

static void a_pipe_is_foreign(void **state)
{
	struct store *store;
	int pipes[2];

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(store_open(pipes[0], "pipe", NULL, &store),
			 STORE_FOREIGN);
	close(pipes[1]);
}

static void states_have_texts(void **state)
{
	(void)state;
	for (unsigned i = STORE_GOOD; i <= STORE_UNREADABLE; i++)
		assert_non_null(strstr(store_state_text(i), i ==
				       STORE_UNREADABLE ? "cannot" : "is"));
}

/* ---- damage ---- */

static void note_batch(void *owner, unsigned worker,
		       const struct store_batch *batch)
{
	struct random_rows *rows = owner;

	(void)worker;
	for (size_t i = 0; i < batch->count; i++)
		for (unsigned c = 0; c < STORE_COLUMNS; c++)
			assert_int_equal(batch->column[c][i],
				random_value(rows, batch->column[STORE_ROW][i],
					     c, rows->end));
}

/* Whether the file is told to be bad, at once or by a scan. */
static bool is_bad(int fd, struct random_rows *rows)
{
	const struct store_scan all = { .now = rows->end };
	struct notes notes = NOTES_INIT;
	struct store *store;
	size_t size;
	char *blob;
	bool bad;

	if (store_open(dup(fd), "bad.idx", &notes, &store) != STORE_GOOD)
		return true;
	bad = store_scan_each(store, &all, STORE_BIT(STORE_COLUMNS) - 1,
			      note_batch, rows) != 0;
	if (bad) {
		assert_int_equal(notes.count, 1);
		assert_true(notes.list[0].error);
		assert_non_null(strstr(notes.list[0].text, "bad.idx: "
				       "damaged at byte "));
	}
	blob = store_blob(store, "state", &size);
	bad |= blob == NULL;
	free(blob);
	store_close(store);
	notes_free(&notes);
	return bad;
}

static void a_truncated_file_is_bad_at_every_byte(void **state)
{
	struct random_rows rows = random_rows_make(2, 30);
	int fd = random_rows_write(&rows, 0);
	size_t size;
	char *bytes = bytes_of(fd, &size);

	(void)state;
	assert_false(is_bad(fd, &rows));
	for (size_t i = 0; i < size; i++) {
		int other = file_of(bytes, i);

		assert_true(is_bad(other, &rows));
		close(other);
	}
	assert_int_equal(io_full_write_at(fd, "x", 1, size), 0);
	assert_true(is_bad(fd, &rows));
	free(bytes);
	close(fd);
	random_rows_free(&rows);
}

static void a_flipped_bit_is_found_everywhere(void **state)
{
	struct random_rows rows = random_rows_make(3, 40);
	int fd = random_rows_write(&rows, 0);
	size_t size;
	char *bytes = bytes_of(fd, &size);

	(void)state;
	for (size_t i = 0; i < size; i++) {
		char flipped = (char)(bytes[i] ^ 1 << i % 8);

		assert_int_equal(io_full_write_at(fd, &flipped, 1, i), 0);
		assert_true(is_bad(fd, &rows));
		assert_int_equal(io_full_write_at(fd, &bytes[i], 1, i), 0);
	}
	assert_false(is_bad(fd, &rows));
	free(bytes);
	close(fd);
	random_rows_free(&rows);
}

/* Others may change the file while it is open. */
static void a_file_that_is_cut_while_open_is_bad(void **state)
{
	struct random_rows rows = random_rows_make(3, 4000);
	int fd = random_rows_write(&rows, 0);
	struct store *store = random_store(fd, NULL);
	const struct store_scan all = { 0 };
	uint64_t count, bytes;

	(void)state;
	assert_int_equal(ftruncate(fd, STORE_HEADER_SIZE + 8), 0);
	assert_int_equal(store_scan_count(store, &all, &count, &bytes),
			 -EBADMSG);
	store_close(store);
	close(fd);
	random_rows_free(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_kept_is_there),
		cmocka_unit_test(a_file_is_told_what_it_is),
		cmocka_unit_test(a_pipe_is_foreign),
		cmocka_unit_test(states_have_texts),
		cmocka_unit_test(a_truncated_file_is_bad_at_every_byte),
		cmocka_unit_test(a_flipped_bit_is_found_everywhere),
		cmocka_unit_test(a_file_that_is_cut_while_open_is_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
