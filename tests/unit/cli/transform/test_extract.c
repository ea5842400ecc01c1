/* test_extract.c: whatever embedded files are called, nothing is written
 * outside of the directory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ftw.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/trace/read/reader.h"
#include "cli/transform/extract.h"
#include "tests/unit/trace_write.h"

static void paths_become_names(void **state)
{
	static const char *const pairs[][2] = {
		{ "/usr/bin/a", "usr/bin/a" }, { "a", "a" },
		{ "../../etc/passwd", "__/__/etc/passwd" },
		{ "/..", "__" }, { "/", "nameless" }, { "", "nameless" },
		{ ".", "nameless" }, { "././x/./y", "x/y" },
		{ "//x///y//", "x/y" }, { "a\n\x1b[2Jb", "a__[2Jb" },
		{ "gnp.\xe2\x80\xae" "txt", "gnp._txt" },
		{ "...", "..." }, { "..x/..", "..x/__" },
		{ "x\\..\\y", "x\\..\\y" },
	};
	struct buffer out = { 0 };
	char deep[5000], *name;

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		buffer_clear(&out);
		extract_path(&out, pairs[i][0], "");
		assert_string_equal(out.data, pairs[i][1]);
	}
	for (size_t i = 0; i < sizeof(deep); i++)
		deep[i] = i % 2 ? '/' : 'd';
	deep[sizeof(deep) - 1] = 0;
	buffer_clear(&out);
	extract_path(&out, deep, "");
	assert_true(out.size < 200);
	memset(deep, 'n', sizeof(deep) - 1);
	buffer_clear(&out);
	extract_path(&out, deep, ".debug");
	assert_true(out.size < 255);
	name = strstr(out.data, ".debug");
	assert_true(name != NULL && name[6] == 0);
	buffer_free(&out);
}

/* ---- a directory of one's own, and what is in it ---- */

static char base[64], trace[96], target[96];
static struct embedded list;
static struct reader_report report;
static unsigned files_found, outside;

static int count_entry(const char *path, const struct stat *status, int type,
		       struct FTW *walk)
{
	(void)status, (void)walk;
	if (type != FTW_F || strcmp(path, trace) == 0)
		return 0;
	files_found++;
	outside += strncmp(path, target, strlen(target)) != 0 ||
		path[strlen(target)] != '/';
	return 0;
}

static int remove_entry(const char *path, const struct stat *status, int type,
			struct FTW *walk)
{
	(void)status, (void)type, (void)walk;
	return remove(path);
}

static void take_file(void *owner, const struct trace_file *piece, uint64_t at)
{
	(void)owner;
	embedded_add(&list, piece, at);
}

static void take_line(void *owner, unsigned type, const char *key,
		      const char *value)
{
	(void)owner, (void)type, (void)key, (void)value;
}

static void make_trace(const char *const *paths, size_t count)
{
	const struct reader_sink sink = {
		.line = take_line, .file = take_file,
	};
	struct trace_write t;

	strcpy(base, "/tmp/gnomon-unit-XXXXXX");
	assert_non_null(mkdtemp(base));
	snprintf(trace, sizeof(trace), "%s/trace-XXXXXX", base);
	snprintf(target, sizeof(target), "%s/in/here", base);
	trace_write_begin(&t);
	trace_write_line(&t, GT_INFO, "pid", "1");
	for (size_t i = 0; i < count; i++) {
		struct trace_file file = {
			.number = (uint32_t)i, .kind = GT_FILE_INCLUDED,
			.size = 5, .piece_size = 5, .path = paths[i],
			.path_size = strlen(paths[i]),
		};
		struct buffer payload = { 0 };

		compose_file(&payload, &file, (const uint8_t *)"hello", 0);
		trace_write_chunk(&t, (struct chunk){ .type = GT_FILE },
				  &payload);
	}
	trace_write_line(&t, GT_END, "reason", "exit");
	trace_write_file(&t, trace);
	buffer_free(&t.bytes);
	memset(&list, 0, sizeof(list));
	assert_int_equal(reader_run(trace, &sink, &report, NULL), 0);
	assert_int_equal(list.count, count);
	snprintf(target + strlen(base), 10, "/in");
	assert_int_equal(mkdir(target, 0700), 0);
	snprintf(target, sizeof(target), "%s/in/here", base);
}

/* How many files were written. */
static unsigned run(bool force, uint64_t max)
{
	struct extract extract;
	unsigned written = 0;

	assert_true(extract_open(&extract, target, force, max));
	for (size_t i = 0; i < list.count; i++) {
		char *to = extract_file(&extract, &list, i, trace,
					report.trace_id);

		written += to != NULL;
		free(to);
	}
	extract_close(&extract);
	files_found = outside = 0;
	nftw(base, count_entry, 8, FTW_PHYS);
	assert_int_equal(outside, 0);
	return written;
}

static void end(void)
{
	embedded_free(&list);
	nftw(base, remove_entry, 8, FTW_PHYS | FTW_DEPTH);
}

static void hostile_names_stay_inside(void **state)
{
	char absolute[96], huge[4097];
	const char *paths[] = {
		"../escaped", "../../escaped", "a/../../../escaped", absolute,
		"..", ".", "/", "", "x", "x", "x.9", "./x", huge,
		"x/below a file",
	};
	size_t count = sizeof(paths) / sizeof(paths[0]);

	(void)state;
	memset(huge, 'h', sizeof(huge) - 1);
	huge[sizeof(huge) - 1] = 0;
	snprintf(absolute, sizeof(absolute), "/tmp/gnomon-unit-absolute");
	make_trace(paths, count);
	/* But for what would have to be below a file, and a file "__" where a
	 * directory of that name is. */
	assert_int_equal(run(false, UINT64_MAX), count - 2);
	assert_int_equal(files_found, count - 2);
	assert_int_equal(access(absolute, F_OK), -1);
	/* Nothing is overwritten, unless that is asked for. */
	assert_int_equal(run(false, UINT64_MAX), 0);
	assert_int_equal(run(true, UINT64_MAX), count - 2);
	assert_int_equal(files_found, count - 2);
	end();
}

static void links_are_not_followed(void **state)
{
	static const char *const paths[] = { "dir/file", "link", "ok" };
	char path[128], other[128];

	(void)state;
	make_trace(paths, 3);
	assert_int_equal(mkdir(target, 0700), 0);
	snprintf(path, sizeof(path), "%s/dir", target);
	assert_int_equal(symlink("../..", path), 0);
	snprintf(path, sizeof(path), "%s/link", target);
	snprintf(other, sizeof(other), "%s/in/victim", base);
	assert_int_equal(symlink(other, path), 0);
	assert_int_equal(run(false, UINT64_MAX), 1);
	assert_int_equal(access(other, F_OK), -1);
	/* With force the link itself is replaced. */
	assert_int_equal(run(true, UINT64_MAX), 2);
	assert_int_equal(access(other, F_OK), -1);
	end();
}

static void limits_hold(void **state)
{
	static const char *const paths[] = { "a", "b", "c" };

	(void)state;
	make_trace(paths, 3);
	assert_int_equal(run(false, 14), 2);
	assert_int_equal(files_found, 2);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_become_names),
		cmocka_unit_test(hostile_names_stay_inside),
		cmocka_unit_test(links_are_not_followed),
		cmocka_unit_test(limits_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
