/*
 * test_elf_symbols.c: the symbols of this program and their names; those of a
 * file that was cut, or whose tables say what cannot be; files that are none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/recorder/embed/embed_open.h"
#include "cli/symbol/elf/elf_symbols.h"

/* More than are read at once. */
#define MANY 1500

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
__asm__(".altmacro\n"
	".macro many_one n\n"
	"many_\\n = \\n\n"
	".endm\n"
	".set many, 0\n"
	".rept " TEXT(MANY) "\n"
	"many_one %many\n"
	".set many, many + 1\n"
	".endr\n"
	".noaltmacro\n");

static struct elf_tables tables;
static Elf64_Shdr *symtab;

/* A copy of this program, which may be written to. */
static int load(void **state)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int fd = memfd_create("own", MFD_CLOEXEC);
	struct stat st;

	(void)state;
	if (from < 0 || fstat(from, &st))
		return -1;
	while (lseek(fd, 0, SEEK_CUR) < st.st_size)
		if (sendfile(fd, from, NULL, (size_t)st.st_size) <= 0)
			return -1;
	close(from);
	if (elf_tables_load(&tables, fd))
		return -1;
	symtab = NULL;
	for (uint32_t i = 0; i < tables.sections; i++)
		if (tables.section[i].sh_type == SHT_SYMTAB)
			symtab = &tables.section[i];
	return symtab == NULL;
}

static int unload(void **state)
{
	(void)state;
	close(tables.fd);
	elf_tables_free(&tables);
	return 0;
}

struct seen {
	uint64_t count, until;
	uint64_t mains, many, longest, elsewhere;
};

static bool see(void *owner, const Elf64_Sym *symbol, const char *name,
		uint32_t section)
{
	struct seen *seen = owner;
	size_t length = strlen(name);

	/* which all fit into symbols here */
	seen->elsewhere += section != (symbol->st_shndx < SHN_LORESERVE ?
				       symbol->st_shndx : ELF_SYMBOLS_NOWHERE);
	seen->longest = length > seen->longest ? length : seen->longest;
	seen->mains += strcmp(name, "main") == 0 && symbol->st_size > 0 &&
		       ELF64_ST_TYPE(symbol->st_info) == STT_FUNC;
	seen->many += strncmp(name, "many_", 5) == 0 &&
		      strtoull(name + 5, NULL, 10) == symbol->st_value;
	return ++seen->count != seen->until;
}

static void each_has_its_name(void **state)
{
	struct seen seen = { 0 };

	(void)state;
	assert_true(elf_symbols_each(&tables, symtab, see, &seen));
	assert_int_equal(seen.count, symtab->sh_size / sizeof(Elf64_Sym));
	assert_int_equal(seen.many, MANY);
	assert_int_equal(seen.elsewhere, 0);
	assert_int_equal(seen.mains, 1);
}

static void it_ends_when_told(void **state)
{
	struct seen seen = { .until = MANY };

	(void)state;
	assert_false(elf_symbols_each(&tables, symtab, see, &seen));
	assert_int_equal(seen.count, MANY);
}

/* One table whose last name does not end: it ends with the table. */
static void names_end(void **state)
{
	Elf64_Shdr *names = &tables.section[symtab->sh_link];
	struct seen seen = { 0 };

	(void)state;
	names->sh_size = 3;
	assert_true(elf_symbols_each(&tables, symtab, see, &seen));
	assert_true(seen.longest <= 2);
	assert_int_equal(seen.mains, 0);
}

static void what_cannot_be_is_refused(void **state)
{
	const Elf64_Shdr good = *symtab;
	struct seen seen = { 0 };

	(void)state;
	symtab->sh_link = tables.sections;
	assert_false(elf_symbols_each(&tables, symtab, see, &seen));
	*symtab = good;
	symtab->sh_offset = UINT64_MAX - 100;
	assert_false(elf_symbols_each(&tables, symtab, see, &seen));
	*symtab = good;
	symtab->sh_type = SHT_NOBITS;
	assert_false(elf_symbols_each(&tables, symtab, see, &seen));
	*symtab = good;
	tables.section[symtab->sh_link].sh_size = tables.size;
	assert_false(elf_symbols_each(&tables, symtab, see, &seen));
	assert_int_equal(seen.count, 0);
}

/* By anybody, while it is read. */
static void a_file_may_be_cut(void **state)
{
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(ftruncate(tables.fd, 4096), 0);
	assert_false(elf_symbols_each(&tables, symtab, see, &seen));
	assert_int_equal(seen.count, 0);
}

static void say_sections(uint16_t count, uint16_t names)
{
	assert_int_equal(pwrite(tables.fd, &count, sizeof(count),
				offsetof(Elf64_Ehdr, e_shnum)),
			 sizeof(count));
	assert_int_equal(pwrite(tables.fd, &names, sizeof(names),
				offsetof(Elf64_Ehdr, e_shstrndx)),
			 sizeof(names));
}

/* Without sections the notes of segments say the same; only who can do without
 * them gets such a file. */
static void a_file_without_sections(void **state)
{
	struct elf_tables bare;
	uint8_t id[2][ELF_TABLES_ID_MAX];
	uint32_t size = elf_tables_id(&tables, id[0]);

	(void)state;
	if (tables.class->ehdr_size != sizeof(Elf64_Ehdr))
		skip();
	assert_int_equal(elf_tables_load_bare(&bare, tables.fd), 0);
	assert_int_equal(bare.sections, tables.sections);
	elf_tables_free(&bare);
	say_sections(0, 0);
	assert_int_equal(elf_tables_load(&bare, tables.fd), -EBADMSG);
	assert_null(bare.phdr);
	assert_int_equal(elf_tables_load_bare(&bare, tables.fd), 0);
	assert_int_equal(bare.sections, 0);
	assert_int_equal(bare.phdrs, tables.phdrs);
	assert_int_equal(elf_tables_id(&bare, id[1]), size);
	assert_memory_equal(id[0], id[1], size);
	assert_false(elf_tables_link(&bare, (char *)id[1], sizeof(id[1])));
	elf_tables_free(&bare);
	/* names outside of the table; more than the file has */
	say_sections((uint16_t)tables.sections, (uint16_t)tables.sections);
	assert_int_equal(elf_tables_load_bare(&bare, tables.fd), -EBADMSG);
	say_sections(SHN_LORESERVE - 1, 1);
	assert_int_equal(elf_tables_load_bare(&bare, tables.fd), -EBADMSG);
}

static void say_first(uint64_t count, uint32_t names)
{
	Elf64_Shdr first = { .sh_size = count, .sh_link = names };

	assert_int_equal(pwrite(tables.fd, &first, sizeof(first),
				(off_t)tables.header.e_shoff), sizeof(first));
}

/* The first section counts what the header cannot. */
static void a_file_of_more_sections(void **state)
{
	struct elf_tables more;

	(void)state;
	if (tables.class->ehdr_size != sizeof(Elf64_Ehdr))
		skip();
	say_sections(0, SHN_XINDEX);
	say_first(tables.sections, tables.names_section);
	assert_int_equal(elf_tables_load(&more, tables.fd), 0);
	assert_int_equal(more.sections, tables.sections);
	assert_string_equal(elf_tables_name(&more, &more.section[1]),
			    elf_tables_name(&tables, &tables.section[1]));
	elf_tables_free(&more);
	say_first(tables.sections, tables.sections);
	assert_int_equal(elf_tables_load(&more, tables.fd), -EBADMSG);
	say_first(UINT64_MAX / sizeof(Elf64_Shdr) + 2, 1);
	assert_int_equal(elf_tables_load(&more, tables.fd), -EBADMSG);
	/* bytes that cost nothing: the file has a hole */
	say_first(ELF_TABLES_SECTIONS + UINT64_C(1), tables.names_section);
	assert_int_equal(elf_tables_load(&more, tables.fd), -EBADMSG);
	assert_int_equal(ftruncate(tables.fd, (off_t)(tables.size +
			 (ELF_TABLES_SECTIONS + 1) * sizeof(Elf64_Shdr))), 0);
	assert_int_equal(elf_tables_load(&more, tables.fd), -E2BIG);
	assert_null(more.section);
	say_first(ELF_TABLES_SECTIONS, tables.names_section);
	assert_int_equal(elf_tables_load(&more, tables.fd), 0);
	assert_int_equal(more.sections, ELF_TABLES_SECTIONS);
	elf_tables_free(&more);
}

/* Whose opening waits, or does something, or cannot be. */
static void files_that_are_none(void **state)
{
	char folder[] = "/tmp/gnomon-plain.XXXXXX", path[64];
	int fd;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/pipe", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(10);
	assert_int_equal(embed_open_plain(path), -EINVAL);
	alarm(0);
	assert_int_equal(embed_open_plain(folder), -EINVAL);
	assert_int_equal(embed_open_plain("/dev/zero"), -EINVAL);
	unlink(path);
	assert_int_equal(embed_open_plain(path), -ENOENT);
	fd = embed_open_plain("/proc/self/exe");
	assert_true(fd >= 0);
	close(fd);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_has_its_name, load,
						unload),
		cmocka_unit_test_setup_teardown(it_ends_when_told, load,
						unload),
		cmocka_unit_test_setup_teardown(names_end, load, unload),
		cmocka_unit_test_setup_teardown(what_cannot_be_is_refused,
						load, unload),
		cmocka_unit_test_setup_teardown(a_file_may_be_cut, load,
						unload),
		cmocka_unit_test_setup_teardown(a_file_without_sections, load,
						unload),
		cmocka_unit_test_setup_teardown(a_file_of_more_sections, load,
						unload),
		cmocka_unit_test(files_that_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
