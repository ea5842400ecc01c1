/*
 * test_dynsym.c: symbols of the images of this very process, against dlsym,
 * and tables that lead out of an image.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dlfcn.h>
#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "unwind/elf/dynsym.h"

struct wanted {
	const char *library, *name;
	uintptr_t found;
};

/* What the loader tells; its images stay, and both ways of reading agree. */
static struct elfmap map_of(const struct dl_phdr_info *info, bool stays)
{
	return (struct elfmap){ .bias = info->dlpi_addr,
				.path = info->dlpi_name,
				.phdr = info->dlpi_phdr,
				.phnum = info->dlpi_phnum,
				.stays = stays };
}

static int look(struct dl_phdr_info *info, size_t size, void *data)
{
	struct elfmap map = map_of(info, true), copied = map_of(info, false);
	struct wanted *wanted = data;

	(void)size;
	if (!strstr(info->dlpi_name, wanted->library))
		return 0;
	wanted->found = dynsym_find(&map, wanted->name, STT_OBJECT);
	assert_int_equal(dynsym_find(&copied, wanted->name, STT_OBJECT),
			 wanted->found);
	return 0;
}

static uintptr_t find(const char *library, const char *name)
{
	struct wanted wanted = { library, name, 0 };

	dl_iterate_phdr(look, &wanted);
	return wanted.found;
}

static void data_of_the_c_library(void **state)
{
	static const char *const names[] = { "stdout", "optarg", "environ",
					     "program_invocation_name" };
	void *library = dlopen("libc.so.6", RTLD_NOW);

	(void)state;
	assert_non_null(library);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uintptr_t found = find("/libc.so.6", names[i]);
		Dl_info info;

		assert_int_not_equal(found, 0);
		/* The program may have a copy; the library's own is asked. */
		assert_int_not_equal(dladdr((void *)found, &info), 0);
		assert_non_null(strstr(info.dli_fname, "libc.so.6"));
	}
	assert_int_equal(find("/libc.so.6", "__jit_debug_descriptor"), 0);
	assert_int_equal(find("/libc.so.6", "malloc"), 0);	/* no data */
	assert_int_equal(find("linux-vdso", "stdout"), 0);
	dlclose(library);
}

static int look_for_import(struct dl_phdr_info *info, size_t size, void *data)
{
	static const char *const wanted[] = { "no_such_symbol_x", "dlsym",
					      "dlopen" };
	static const char *const none[] = { "no_such_symbol_x",
					    "look_for_import" };
	struct elfmap map = map_of(info, true);
	unsigned *found = data;

	(void)size;
	/* the program itself comes first, and has no name */
	if (!info->dlpi_name[0]) {
		assert_true(dynsym_imports(&map, wanted, 3));
		assert_false(dynsym_imports(&map, wanted, 1));
		assert_false(dynsym_imports(&map, none, 2));
		++*found;
	} else if (strstr(info->dlpi_name, "/libc.so.6")) {
		/* what it has itself is no import */
		assert_false(dynsym_imports(&map, wanted, 3));
		++*found;
	}
	return 0;
}

static void imports(void **state)
{
	unsigned found = 0;

	(void)state;
	dl_iterate_phdr(look_for_import, &found);
	assert_int_equal(found, 2);
}

/* An image of two pages of ours. */
struct made {
	ElfW(Phdr) segments[2];
	ElfW(Dyn) dynamic[8];
	uint32_t hash[8];
	ElfW(Sym) symbols[2];
	char strings[32];
};

static void make(struct made *m, struct elfmap *map)
{
	memset(m, 0, sizeof(*m));
	m->segments[0] = (ElfW(Phdr)){ .p_type = PT_LOAD, .p_flags = PF_R,
				       .p_memsz = sizeof(*m) };
	m->segments[1] = (ElfW(Phdr)){ .p_type = PT_DYNAMIC,
				       .p_vaddr = offsetof(struct made,
							   dynamic),
				       .p_memsz = sizeof(m->dynamic) };
	m->dynamic[0] = (ElfW(Dyn)){ DT_SYMTAB,
				     { offsetof(struct made, symbols) } };
	m->dynamic[1] = (ElfW(Dyn)){ DT_STRTAB,
				     { offsetof(struct made, strings) } };
	m->dynamic[2] = (ElfW(Dyn)){ DT_HASH,
				     { offsetof(struct made, hash) } };
	/* one bucket, two symbols */
	memcpy(m->hash, (uint32_t[]){ 1, 2, 1, 0, 0 }, 20);
	m->symbols[1] = (ElfW(Sym)){ .st_name = 1, .st_info = STT_OBJECT,
				     .st_shndx = 1, .st_value = 0x123 };
	strcpy(m->strings + 1, "descriptor");
	*map = (struct elfmap){ .bias = (uintptr_t)m,
				.path = "made",
				.phdr = m->segments,
				.phnum = 2 };
}

static uintptr_t find_made(const struct elfmap *map, const char *name)
{
	return dynsym_find(map, name, STT_OBJECT);
}

static void older_hash(void **state)
{
	struct elfmap map;
	struct made m;

	(void)state;
	make(&m, &map);
	assert_int_equal(find_made(&map, "descriptor"),
			 (uintptr_t)&m + 0x123);
	assert_int_equal(find_made(&map, "descripto"), 0);
	m.symbols[1].st_shndx = SHN_UNDEF;
	assert_int_equal(find_made(&map, "descriptor"), 0);
}

/* A DT_GNU_HASH of a program that exports nothing does not say how many symbols
 * there are. */
static void imports_alone(void **state)
{
	static const char *const wanted[] = { "wanted" };
	struct elfmap map;
	struct made m;

	(void)state;
	make(&m, &map);
	m.dynamic[2].d_tag = DT_GNU_HASH;
	/* one bucket, which is empty, and one word of the filter */
	memcpy(m.hash, (uint32_t[]){ 1, 1, 1, 0, 0, 0, 0 }, 28);
	m.symbols[1].st_shndx = SHN_UNDEF;
	memcpy(m.strings + 1, "wanted", 7);
	m.symbols[1].st_name = 1;
	assert_true(dynsym_imports(&map, wanted, 1));
	m.strings[1] = 'x';
	assert_false(dynsym_imports(&map, wanted, 1));
}

static void hostile(void **state)
{
	struct elfmap map;
	struct made m;

	(void)state;
	make(&m, &map);
	m.hash[2] = 0x7fffffff;		/* no such symbol */
	assert_int_equal(find_made(&map, "descriptor"), 0);
	make(&m, &map);
	m.hash[0] = 0xffffffff;
	assert_int_equal(find_made(&map, "descriptor"), 0);
	make(&m, &map);
	m.hash[1] = 0xffffffff;		/* a chain that never ends */
	m.hash[3] = m.hash[4] = 1;
	assert_int_equal(find_made(&map, "another"), 0);
	make(&m, &map);
	m.symbols[1].st_name = 0xfffffff0;
	assert_int_equal(find_made(&map, "descriptor"), 0);
	make(&m, &map);
	m.dynamic[0].d_un.d_ptr = 0x7fffffff0000;
	assert_int_equal(find_made(&map, "descriptor"), 0);
	make(&m, &map);
	m.segments[1].p_memsz = UINT64_MAX / 2;
	assert_int_equal(find_made(&map, "descriptor"), 0);
}

/* It may be unmapped at any moment. */
static void unmapped(void **state)
{
	struct elfmap map;
	struct made *m = mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ElfW(Phdr) segments[2];
	char name[16];

	(void)state;
	assert_ptr_not_equal(m, MAP_FAILED);
	make(m, &map);
	memcpy(segments, m->segments, sizeof(segments));
	map.phdr = segments;
	assert_int_equal(find_made(&map, "descriptor"), (uintptr_t)m + 0x123);
	munmap(m, sizeof(*m));
	assert_int_equal(find_made(&map, "descriptor"), 0);
	assert_false(dynsym_soname(&map, name, sizeof(name)));
}

static void size_of_a_variable(void **state)
{
	struct elfmap map;
	struct made m;
	size_t size;

	(void)state;
	make(&m, &map);
	m.symbols[1].st_size = 77;
	assert_int_equal(dynsym_object(&map, "descriptor", &size),
			 (uintptr_t)&m + 0x123);
	assert_int_equal(size, 77);
}

/* What a symbol is, and whether it has an address, is asked for. */
static void entries(void **state)
{
	const uint32_t data = 1u << STT_OBJECT, code = 1u << STT_FUNC;
	struct elfmap map;
	struct dynsym d;
	struct made m;

	(void)state;
	make(&m, &map);
	assert_true(dynsym_open(&d, &map));
	assert_int_equal(dynsym_entry(&d, "descriptor", data),
			 (uintptr_t)&m.symbols[1]);
	assert_int_equal(dynsym_entry(&d, "descriptor", data | code),
			 (uintptr_t)&m.symbols[1]);
	assert_int_equal(dynsym_entry(&d, "descriptor", code), 0);
	assert_int_equal(dynsym_entry(&d, "descriptor",
				      data | DYNSYM_NOWHERE), 0);
	m.symbols[1].st_value = 0;
	assert_int_equal(dynsym_entry(&d, "descriptor", data), 0);
	assert_int_equal(dynsym_entry(&d, "descriptor",
				      data | DYNSYM_NOWHERE),
			 (uintptr_t)&m.symbols[1]);
	m.dynamic[1].d_tag = DT_NULL;	/* no strings */
	assert_false(dynsym_open(&d, &map));
}

static int look_for_relocations(struct dl_phdr_info *info, size_t size,
				void *data)
{
	struct elfmap map = map_of(info, true);
	unsigned *found = data, i;
	struct dynsym d;

	(void)size;
	if (!dynsym_open(&d, &map))
		return 0;
	for (i = 0; i < 2; i++) {
		if (!d.relocs[i])
			continue;
		++*found;
		assert_int_equal(d.reloc_bytes, sizeof(ElfW(Rela)));
		assert_int_not_equal(d.relocs_bytes[i], 0);
		assert_int_equal(d.relocs_bytes[i] % d.reloc_bytes, 0);
		assert_true(elfmap_inside(&map, d.relocs[i],
					  d.relocs_bytes[i]));
	}
	return 0;
}

static void relocations(void **state)
{
	unsigned found = 0;

	(void)state;
	dl_iterate_phdr(look_for_relocations, &found);
	assert_true(found > 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(imports),
		cmocka_unit_test(data_of_the_c_library),
		cmocka_unit_test(older_hash),
		cmocka_unit_test(imports_alone),
		cmocka_unit_test(hostile),
		cmocka_unit_test(unmapped),
		cmocka_unit_test(size_of_a_variable),
		cmocka_unit_test(entries),
		cmocka_unit_test(relocations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
