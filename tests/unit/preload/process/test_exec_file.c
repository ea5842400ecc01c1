/*
 * test_exec_file.c: programs of this processor and of others, scripts of either,
 * and what is none, by path, descriptor, and name.
 */
#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "arch.h"
#include "preload/process/exec_file.h"
#include "unwind/base/memory.h"
#include "unwind/elf/elfmap.h"

static char directory[] = "/tmp/exec_file.XXXXXX", back[4096];

static void make_file(const char *name, const void *bytes, size_t size)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
}

static void make_elf(const char *name, unsigned char class, uint16_t machine)
{
	char start[64] = { 0x7f, 'E', 'L', 'F', (char)class };

	memcpy(start + 18, &machine, sizeof(machine));
	make_file(name, start, sizeof(start));
}

static void make_script(const char *name, const char *text)
{
	make_file(name, text, strlen(text));
}

static int make_all(void **state)
{
	const unsigned char other = ELFMAP_CLASS == ELFCLASS64 ? ELFCLASS32 :
								 ELFCLASS64;
	char text[256];

	(void)state;
	if (!getcwd(back, sizeof(back)) || !mkdtemp(directory) ||
	    chdir(directory) || mkdir("folder", 0700) ||
	    mkdir("folder/name", 0700) || mkdir("later", 0700))
		return -1;
	make_elf("ours", ELFMAP_CLASS, ARCH_ELF_MACHINE);
	make_elf("machine", ELFMAP_CLASS, ARCH_ELF_MACHINE + 1);
	make_elf("order", ELFMAP_CLASS, __builtin_bswap16(ARCH_ELF_MACHINE));
	make_elf("class", other, ARCH_ELF_MACHINE);
	make_elf("later/name", ELFMAP_CLASS, ARCH_ELF_MACHINE + 1);
	make_script("script", "#! ./machine -x\n");
	make_script("plain", "#!./ours");
	snprintf(text, sizeof(text), "#!\t%s/script\n", directory);
	make_script("twice", text);
	make_script("itself", "#! ./itself\n");
	make_script("nobody", "#! \n");
	make_script("text", "echo\n");
	make_script("empty", "");
	make_script("short", "\177ELF");
	return 0;
}

static int remove_all(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", directory);
	return chdir(back) || system(command);
}

static const struct {
	const char *name;
	bool foreign;
} cases[] = {
	{ "ours", false }, { "machine", true }, { "order", true },
	{ "class", true }, { "script", true }, { "plain", false },
	{ "twice", true }, { "itself", false }, { "nobody", false },
	{ "text", false }, { "empty", false }, { "short", false },
	{ "folder", false }, { "missing", false },
};

static void check_paths(void)
{
	char path[128];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(path, sizeof(path), "%s/%s", directory,
			 cases[i].name);
		if (exec_file_foreign(AT_FDCWD, path) != cases[i].foreign ||
		    exec_file_foreign(AT_FDCWD, cases[i].name) !=
			    cases[i].foreign)
			fail_msg("%s", cases[i].name);
	}
}

static void paths(void **state)
{
	(void)state;
	check_paths();
}

/* Which looks from the root directory. */
static void paths_in_an_emulator(void **state)
{
	(void)state;
	unwind_emulated = true;
	check_paths();
	unwind_emulated = false;
}

static void descriptors(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int fd = open(cases[i].name, O_RDONLY | O_CLOEXEC);

		if (exec_file_foreign(fd, "") != cases[i].foreign)
			fail_msg("%s", cases[i].name);
		/* elsewhere, whatever is here */
		assert_false(exec_file_foreign(fd, "machine"));
		if (fd >= 0)
			close(fd);
	}
	assert_false(exec_file_foreign(AT_FDCWD, NULL));
}

static void names(void **state)
{
	char list[256];

	(void)state;
	snprintf(list, sizeof(list), "/nowhere:%s/folder:%s/later:", directory,
		 directory);
	assert_true(exec_file_foreign_in(list, "name"));
	assert_true(exec_file_foreign_in(list, "machine"));
	assert_false(exec_file_foreign_in(list, "ours"));
	assert_false(exec_file_foreign_in("/nowhere", "machine"));
	assert_true(exec_file_foreign_in("", "machine"));
	assert_true(exec_file_foreign_in("/nowhere", "./machine"));
	assert_false(exec_file_foreign_in(NULL, "sh"));
	assert_false(exec_file_foreign_in(list, ""));
	assert_false(exec_file_foreign_in(list, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths),
		cmocka_unit_test(paths_in_an_emulator),
		cmocka_unit_test(descriptors),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, make_all, remove_all);
}
