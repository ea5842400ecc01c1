/* test_emulated_file.c: this program as an image, and files below a prefix that
 * are it, another, or none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/recorder/emit/emulated_file.h"
#include "cli/symbol/elf/elf_tables.h"
#include "preload/base/options.h"

#define NAME "/libown.so"

static char own[PATH_MAX], prefix[] = "/tmp/emulated_file.XXXXXX";
static char below[sizeof(prefix) + sizeof(NAME)];
static struct gl_image image;

/* The image of this program, and a link to it where it is looked for. */
static int make(void **state)
{
	uint8_t id[ELF_TABLES_ID_MAX];
	struct elf_tables file;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);

	(void)state;
	if (n < 0 || fd < 0 || elf_tables_load_bare(&file, fd) != 0)
		return -1;
	own[n] = 0;
	image.build_id_size = elf_tables_id(&file, id);
	if (image.build_id_size > sizeof(image.build_id))
		return -1;
	memcpy(image.build_id, id, image.build_id_size);
	for (uint32_t i = 0; i < file.phdrs; i++) {
		const Elf64_Phdr *p = &file.phdr[i];

		if (p->p_type == PT_LOAD && image.segments < GL_SEGMENTS_MAX)
			image.segment[image.segments++] = (struct gl_segment){
				.size = p->p_memsz, .offset = p->p_offset,
				.flags = p->p_flags };
	}
	elf_tables_free(&file);
	close(fd);
	strcpy(image.path, NAME);
	if (mkdtemp(prefix) == NULL)
		return -1;
	snprintf(below, sizeof(below), "%s" NAME, prefix);
	return symlink(own, below);
}

static int clear(void **state)
{
	(void)state;
	unlink(below);
	return rmdir(prefix);
}

static void the_file_itself_is_named(void **state)
{
	char path[GT_PATH_MAX] = "";

	(void)state;
	assert_true(image.build_id_size > 0);
	assert_true(emulated_file_find(&image, prefix, path));
	assert_string_equal(path, own);
}

static void another_file_is_not_it(void **state)
{
	struct gl_image other = image;
	char path[GT_PATH_MAX] = "";

	(void)state;
	other.build_id[0] ^= 1;
	assert_false(emulated_file_find(&other, prefix, path));
	other.build_id_size = 0;
	assert_false(emulated_file_find(&other, prefix, path));
	strcpy(other.path, NAME ".1");
	assert_false(emulated_file_find(&other, prefix, path));
	strcpy(other.path, NAME + 1);
	assert_false(emulated_file_find(&other, prefix, path));
	assert_string_equal(path, "");
}

/* Of the two, the file has none either. */
static void segments_tell_without_a_build_id(void **state)
{
	struct gl_image bare = image;
	char copy[] = "/tmp/emulated_bare.XXXXXX", path[GT_PATH_MAX] = "";
	char command[3 * PATH_MAX];
	int fd = mkstemp(copy);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	snprintf(command, sizeof(command),
		 "objcopy --remove-section .note.gnu.build-id %s %s", own,
		 copy);
	if (system(command) != 0)
		skip();
	assert_int_equal(unlink(below) | symlink(copy, below), 0);
	assert_false(emulated_file_find(&bare, prefix, path));
	bare.build_id_size = 0;
	bare.segment[0].flags = image.segment[0].flags ^ PF_W;
	assert_false(emulated_file_find(&bare, prefix, path));
	bare.segment[0].flags = image.segment[0].flags;
	assert_true(emulated_file_find(&bare, prefix, path));
	assert_string_equal(path, copy);
	assert_int_equal(unlink(below) | symlink(own, below) | unlink(copy), 0);
}

static void what_is_no_plain_elf_file_is_none(void **state)
{
	char path[GT_PATH_MAX];
	int fd;

	(void)state;
	assert_int_equal(unlink(below) | mkfifo(below, 0600), 0);
	assert_false(emulated_file_find(&image, prefix, path));
	assert_int_equal(unlink(below), 0);
	fd = open(below, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "\177ELF", 4), 4);
	close(fd);
	assert_false(emulated_file_find(&image, prefix, path));
	assert_int_equal(unlink(below) | symlink(own, below), 0);
}

static void the_command_knows_better(void **state)
{
	(void)state;
	unsetenv(OPTIONS_EMULATOR_ROOT);
	unsetenv("QEMU_LD_PREFIX");
	assert_null(emulated_file_prefix());
	setenv("QEMU_LD_PREFIX", "/a", 1);
	assert_string_equal(emulated_file_prefix(), "/a");
	setenv(OPTIONS_EMULATOR_ROOT, "/b", 1);
	assert_string_equal(emulated_file_prefix(), "/b");
	setenv(OPTIONS_EMULATOR_ROOT, "", 1);
	assert_string_equal(emulated_file_prefix(), "/a");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_file_itself_is_named),
		cmocka_unit_test(another_file_is_not_it),
		cmocka_unit_test(segments_tell_without_a_build_id),
		cmocka_unit_test(what_is_no_plain_elf_file_is_none),
		cmocka_unit_test(the_command_knows_better),
	};

	return cmocka_run_group_tests(tests, make, clear);
}
