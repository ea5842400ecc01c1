/* test_section.c: sections by name, in good files and broken ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "unwind/elf/section.h"

static void test_own(void **unused)
{
	uint64_t address = 0, size = 0;

	(void)unused;
	assert_true(section_find("", ".eh_frame", &address, &size));
	assert_true(address > 0);
	assert_true(size > 100);
	assert_true(section_find("/proc/self/exe", ".text", &address, &size));
	assert_false(section_find("", ".no_such_section", &address, &size));
	assert_false(section_find("", ".bss", &address, &size));
	assert_false(section_find("/no/such/file", ".text", &address, &size));
	assert_false(section_find("/proc/self", ".text", &address, &size));
	assert_false(section_find("/dev/zero", ".text", &address, &size));
	assert_false(section_find("", ".tex", &address, &size));
	assert_false(section_find("", "", &address, &size));
}

/* Nobody waits for who would write to it. */
static void test_pipe(void **unused)
{
	char path[] = "/tmp/test_section.XXXXXX";
	uint64_t address, size;

	(void)unused;
	close(mkstemp(path));
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(10);
	assert_false(section_find(path, ".text", &address, &size));
	alarm(0);
	unlink(path);
}

static uint8_t *read_self(size_t *size)
{
	struct stat st;
	uint8_t *bytes;
	int fd = open("/proc/self/exe", O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	bytes = malloc(st.st_size);
	assert_int_equal(read(fd, bytes, st.st_size), st.st_size);
	close(fd);
	*size = st.st_size;
	return bytes;
}

static void write_to(const char *path, const uint8_t *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
}

/* Whatever the headers say, nothing outside the file is read. */
static void test_broken(void **unused)
{
	char path[] = "/tmp/test_section.XXXXXX";
	size_t size, cut;
	uint8_t *bytes = read_self(&size);
	Elf64_Ehdr *e = (Elf64_Ehdr *)bytes, good = *e;
	uint64_t address, length;
	int i;

	(void)unused;
	close(mkstemp(path));
	for (cut = 0; cut < size; cut += size / 17 + 1) {
		write_to(path, bytes, cut);
		assert_false(section_find(path, ".text", &address, &length));
	}
	for (i = 0; i < 5; i++) {
		*e = good;
		switch (i) {
		case 0:
			e->e_shoff = size - 64;
			break;
		case 1:
			e->e_shnum = 0xffff;
			break;
		case 2:
			e->e_shstrndx = e->e_shnum;
			break;
		case 3:
			e->e_shoff = 0 - UINT64_C(64) * e->e_shstrndx;
			break;
		default:
			e->e_ident[EI_CLASS] = ELFCLASS32;
		}
		write_to(path, bytes, size);
		assert_false(section_find(path, ".text", &address, &length));
	}
	*e = good;
	write_to(path, bytes, size);
	assert_true(section_find(path, ".text", &address, &length));
	unlink(path);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
