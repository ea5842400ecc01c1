/*
 * test_debugfile.c: files that a trace carries come first, and are refused
 * like others if they are not what was recorded; those of a sysroot are found
 * where cross compilers have them. The file in question is this
 * test's own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/base/terminal/log.h"
#include "cli/symbol/elf/elffile.h"
#include "cli/symbol/names/symbols.h"

struct given {
	const char *path;
	uint8_t build_id[ELF_TABLES_ID_MAX];
	size_t size;
	int calls;
	struct elf_kind kind;
};

static int give(void *owner, const uint8_t *build_id, size_t size)
{
	struct given *given = owner;

	given->calls++;
	assert_int_equal(size, given->size);
	assert_memory_equal(build_id, given->build_id, size);
	return given->path ? open(given->path, O_RDONLY | O_CLOEXEC) : -1;
}

static void read_id(struct given *given)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct elffile *file = elffile_open(fd, "self");

	assert_non_null(file);
	given->size = elf_tables_id(&file->tables, given->build_id);
	assert_true(given->size > 0);
	elffile_close(file);
}

/* The name of give() when its file is looked for under this path. */
static const char *name_by(struct given *given, const char *path,
			   struct symbols **symbols)
{
	extern const ElfW(Ehdr) __ehdr_start;
	struct debugfile_places places = {
		.embedded = give, .embedded_owner = given,
		.no_debuginfod = true, .kind = given->kind,
	};
	struct symbol_image image = {
		.file = { path, given->build_id, given->size, 0 },
		.bias = (uintptr_t)&__ehdr_start,
	};

	log_set_quiet(true);
	*symbols = symbols_new(&places, false);
	return symbols_find(*symbols, 3, &image, (uintptr_t)give, true)
		->frames[0].function;
}

static void embedded_files_are_found(void **state)
{
	struct given given = { .path = "/proc/self/exe" };
	struct symbols *symbols;

	(void)state;
	read_id(&given);
	assert_string_equal(name_by(&given, "/not/there", &symbols), "give");
	assert_true(given.calls > 0);
	symbols_free(symbols);
}

static void embedded_files_come_first(void **state)
{
	struct given given = { .path = NULL };
	struct symbols *symbols;
	char self[4096];
	ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);

	(void)state;
	assert_true(size > 0);
	self[size] = 0;
	read_id(&given);
	assert_string_equal(name_by(&given, self, &symbols), "give");
	assert_int_equal(given.calls, 1);
	symbols_free(symbols);
}

static void others_are_refused(void **state)
{
	static const char *const paths[] = { "/bin/sh", "/dev/null", NULL };
	struct symbols *symbols;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct given given = { .path = paths[i] };

		read_id(&given);
		assert_null(name_by(&given, "/not/there", &symbols));
		symbols_free(symbols);
	}
}

/* What was recorded ran on another processor: this program is none of it, even
 * if that has the same build-id, or neither has one. */
static void other_processors_are_refused(void **state)
{
	struct given given = { .path = "/proc/self/exe" };
	struct symbols *symbols;

	(void)state;
	read_id(&given);
	given.kind = elf_kind_named("mips64", 8, "big");
	assert_null(name_by(&given, "/proc/self/exe", &symbols));
	symbols_free(symbols);
}

/* debugfile_binary for this test's own file, by that path and the sysroot:
 * where it was found, to be freed; NULL: nowhere. */
static char *found_under(const char *root, const char *path)
{
	struct debugfile_places places = { .sysroot = root,
					   .no_debuginfod = true };
	struct given given = { .path = NULL };
	struct debugfile_wanted wanted = { .path = path };
	char *found;
	int fd;

	read_id(&given);
	wanted.build_id = given.build_id;
	wanted.build_id_size = given.size;
	fd = debugfile_binary(&places, &wanted, &found);
	assert_int_equal(fd >= 0, found != NULL);
	if (fd >= 0)
		close(fd);
	return found;
}

static void copy_file(const char *from, const char *to)
{
	FILE *in = fopen(from, "r"), *out = fopen(to, "w");
	char bytes[4096];
	size_t got;

	assert_true(in != NULL && out != NULL);
	while ((got = fread(bytes, 1, sizeof(bytes), in)) > 0)
		assert_int_equal(fwrite(bytes, 1, got, out), got);
	assert_int_equal(fclose(in) | fclose(out), 0);
}

/* The path under it, or a library folder in it, only with the right build-id;
 * nothing else of this machine, if its programs are of the same kind. */
static void sysroots_have_library_folders(void **state)
{
	char root[] = "/tmp/gnomon-sysroot.XXXXXX", self[4096];
	ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char folder[64], file[96], *found;

	(void)state;
	assert_true(size > 0);
	self[size] = 0;
	assert_non_null(mkdtemp(root));
	snprintf(folder, sizeof(folder), "%s/lib", root);
	snprintf(file, sizeof(file), "%s/libself.so.6", folder);
	assert_null(found_under(root, "/lib/any-linux-gnu/libself.so.6"));
	assert_int_equal(mkdir(folder, 0700), 0);
	copy_file("/bin/sh", file);
	assert_null(found_under(root, "/lib/any-linux-gnu/libself.so.6"));
	assert_int_equal(unlink(file), 0);
	copy_file(self, file);
	found = found_under(root, "/lib/any-linux-gnu/libself.so.6");
	assert_string_equal(found, file);
	free(found);
	found = found_under(NULL, "/lib/any-linux-gnu/libself.so.6");
	assert_null(found);
	assert_null(found_under(root, self));
	assert_int_equal(unlink(file) | rmdir(folder) | rmdir(root), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(embedded_files_are_found),
		cmocka_unit_test(embedded_files_come_first),
		cmocka_unit_test(others_are_refused),
		cmocka_unit_test(other_processors_are_refused),
		cmocka_unit_test(sysroots_have_library_folders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
