/* test_reduced.c: a reduced file is no larger than what it was made of,
 * whatever its section headers claim. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/symbol/reduced.h"

static off_t size_of(int fd)
{
	struct stat status;

	assert_int_equal(fstat(fd, &status), 0);
	return status.st_size;
}

/* This program. */
static int copy_self(void)
{
	int self = open("/proc/self/exe", O_RDONLY);
	int copy = memfd_create("copy", MFD_CLOEXEC);
	char piece[65536];
	ssize_t n;

	while ((n = read(self, piece, sizeof(piece))) > 0)
		assert_int_equal(write(copy, piece, (size_t)n), n);
	close(self);
	return copy;
}

static Elf_Scn *section_of(Elf *elf, const char *name, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	size_t names;

	assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
	while ((section = elf_nextscn(elf, section)) != NULL) {
		assert_non_null(gelf_getshdr(section, header));
		if (strcmp(elf_strptr(elf, names, header->sh_name), name) ==
		    0)
			return section;
	}
	fail_msg("no %s", name);
	return NULL;
}

/* .eh_frame claims such an alignment, and to lie that far behind its index. */
static int with_claims(uint64_t align, uint64_t distance)
{
	int fd = copy_self();
	GElf_Shdr index, header;
	GElf_Ehdr ehdr;
	Elf_Scn *section;
	size_t at;
	Elf *elf;

	elf = elf_begin(fd, ELF_C_READ, NULL);
	section_of(elf, ".eh_frame_hdr", &index);
	section = section_of(elf, ".eh_frame", &header);
	assert_non_null(gelf_getehdr(elf, &ehdr));
	at = ehdr.e_shoff + elf_ndxscn(section) * ehdr.e_shentsize;
	elf_end(elf);
	header.sh_addr = index.sh_addr + distance;
	header.sh_addralign = align;
	assert_int_equal(pwrite(fd, &header.sh_addr, 8, (off_t)at +
			 (off_t)offsetof(Elf64_Shdr, sh_addr)), 8);
	assert_int_equal(pwrite(fd, &header.sh_addralign, 8, (off_t)at +
			 (off_t)offsetof(Elf64_Shdr, sh_addralign)), 8);
	return fd;
}

static void claims(void **state)
{
	static const struct { uint64_t align, distance; } list[] = {
		{ 8, 1 << 16 }, { UINT64_C(1) << 40, UINT64_C(1) << 33 },
		{ UINT64_C(1) << 63, UINT64_C(1) << 40 },
		{ UINT64_MAX, UINT64_MAX - 8 }, { 0, UINT64_MAX - 4096 },
		{ 3, 1 << 20 },
	};

	(void)state;
	elf_version(EV_CURRENT);
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		int fd = with_claims(list[i].align, list[i].distance);
		int out = memfd_create("reduced", MFD_CLOEXEC);

		/* It may be refused; what is written has a bound. */
		reduced_write(fd, -1, out);
		if (size_of(out) > size_of(fd))
			fail_msg("claim %zu: %jd bytes from %jd", i,
				 (intmax_t)size_of(out),
				 (intmax_t)size_of(fd));
		close(out);
		close(fd);
	}
}

/* As it is, the two stand as far apart as in memory. */
static void index_and_table(void **state)
{
	int fd = copy_self(), out = memfd_create("reduced", MFD_CLOEXEC);
	GElf_Shdr index, table;
	Elf *elf;

	(void)state;
	elf_version(EV_CURRENT);
	assert_int_equal(reduced_write(fd, -1, out), 0);
	elf = elf_begin(out, ELF_C_READ, NULL);
	section_of(elf, ".eh_frame_hdr", &index);
	section_of(elf, ".eh_frame", &table);
	assert_int_equal(table.sh_offset - index.sh_offset,
			 table.sh_addr - index.sh_addr);
	elf_end(elf);
	close(out);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(claims),
		cmocka_unit_test(index_and_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
