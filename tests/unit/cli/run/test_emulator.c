/*
 * test_emulator.c: which programs an emulator has to run, by the first bytes of
 * their files, and by what arguments.
 */
#include <elf.h>
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

#include "cli/run/emulator.h"
#include "cli/run/program.h"

static char directory[] = "/tmp/gnomon-emulator-XXXXXX";
static char library[64], program[64], qemu[64];
static struct emulator emulator;

static void make_file(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, 0755), 0);
}

static void make_elf(const char *path, uint8_t class, bool big,
		     uint8_t machine)
{
	uint8_t bytes[20] = { 0x7f, 'E', 'L', 'F', class,
			      big ? ELFDATA2MSB : ELFDATA2LSB };

	bytes[big ? 19 : 18] = machine;
	make_file(path, bytes, sizeof(bytes));
}

static char *in_directory(char *to, const char *name)
{
	snprintf(to, 64, "%s/%s", directory, name);
	return to;
}

static int make_all(void **state)
{
	char path[64];

	(void)state;
	if (!mkdtemp(directory) || setenv("PATH", directory, 1) ||
	    unsetenv("QEMU_LD_PREFIX"))
		return -1;
	make_elf(in_directory(library, "libgnomon.so"), ELFCLASS64, false,
		 EM_X86_64);
	make_elf(in_directory(qemu, "qemu-arm"), ELFCLASS64, false,
		 EM_X86_64);
	in_directory(program, "program");
	mkdir(in_directory(path, "arm"), 0755);
	mkdir(in_directory(path, "arm/emulated"), 0755);
	make_file(in_directory(path, "arm/libgnomon.so"), "", 0);
	make_file(in_directory(path, "arm/emulated/gnomon-recorder"), "", 0);
	return 0;
}

static int remove_all(void **state)
{
	static const char *const names[] = {
		"arm/emulated/gnomon-recorder", "arm/emulated",
		"arm/libgnomon.so", "arm", "program", "qemu-arm",
		"libgnomon.so", ""
	};
	char path[64];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (remove(in_directory(path, names[i])))
			return -1;
	return 0;
}

static bool find(const char *what, char **argv, int *status)
{
	return emulator_find(&emulator, what, argv, library, status);
}

static void of_this_machine(void **state)
{
	char *argv[] = { (char *)"it", NULL };
	int status = 7;

	(void)state;
	make_elf(program, ELFCLASS64, false, EM_X86_64);
	assert_false(find(program, argv, &status));
	assert_int_equal(status, 0);
	make_file(program, "#!/bin/sh\n", 10);	/* too short for a file of ELF */
	assert_false(find(program, argv, &status));
	make_elf(program, ELFCLASS64, false, EM_ARM);	/* no such processor */
	assert_false(find(program, argv, &status));
	make_elf(program, ELFCLASS32, true, EM_ARM);
	assert_false(find(program, argv, &status));
	assert_false(find("/nowhere/at/all", argv, &status));
	assert_int_equal(status, 0);
}

/* The guest keeps its argv[0]. */
static void of_another(void **state)
{
	char *argv[] = { (char *)"it", (char *)"one", (char *)"two", NULL };
	char **word;
	int status;

	(void)state;
	make_elf(program, ELFCLASS32, false, EM_ARM);
	assert_true(find(program, argv, &status));
	assert_string_equal(emulator.program, qemu);
	assert_string_equal(emulator.guest, program);
	assert_non_null(strstr(emulator.library, "/arm/libgnomon.so"));
	word = emulator.argv;
	assert_string_equal(*word++, qemu);
	if (strcmp(*word, "-L") == 0) {
		assert_string_equal(word[1], "/usr/arm-linux-gnueabihf");
		word += 2;
	}
	assert_string_equal(*word++, "-0");
	assert_string_equal(*word++, "it");
	assert_string_equal(*word++, program);
	assert_string_equal(*word++, "one");
	assert_string_equal(*word++, "two");
	assert_null(*word);
	emulator_free(&emulator);
	/* parts of a processor that nothing was built for */
	make_elf(program, ELFCLASS64, true, EM_MIPS);
	assert_false(find(program, argv, &status));
	assert_int_equal(status, PROGRAM_OWN_FAILURE);
}

/* qemu that is named itself, with its own arguments, stays as it is. */
static void by_name(void **state)
{
	char *argv[] = { (char *)"qemu-arm", (char *)"-L", (char *)"/usr",
			 program, NULL };
	int status;

	(void)state;
	make_elf(program, ELFCLASS32, false, EM_ARM);
	assert_true(find(qemu, argv, &status));
	assert_string_equal(emulator.program, qemu);
	assert_string_equal(emulator.guest, program);
	for (size_t i = 0; i < 5; i++)
		assert_ptr_equal(emulator.argv[i], argv[i]);
	emulator_free(&emulator);
	argv[3] = (char *)"--version";
	assert_false(find(qemu, argv, &status));
	assert_int_equal(status, 0);
}

static void environment(void **state)
{
	char *argv[] = { (char *)"it", NULL };
	char wanted[160];
	int status;

	(void)state;
	make_elf(program, ELFCLASS32, false, EM_ARM);
	assert_true(find(program, argv, &status));
	setenv("QEMU_SET_ENV", "A=b", 1);
	emulator_set_environment(&emulator);
	snprintf(wanted, sizeof(wanted), "A=b,LD_PRELOAD=%s",
		 emulator.library);
	assert_string_equal(getenv("QEMU_SET_ENV"), wanted);
	assert_string_equal(getenv("GNOMON_RECORDER"), emulator.recorder);
	emulator_free(&emulator);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_this_machine),
		cmocka_unit_test(of_another),
		cmocka_unit_test(by_name),
		cmocka_unit_test(environment),
	};

	return cmocka_run_group_tests(tests, make_all, remove_all);
}
