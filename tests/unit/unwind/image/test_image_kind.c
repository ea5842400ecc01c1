/* test_image_kind.c: images by name, note and symbol. */
// FLAGS: -rdynamic
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <dlfcn.h>
#include <elf.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/test_unwinder.h"
#include "unwind/elf/dynsym.h"
#include "unwind/elf/elfmap.h"
#include "unwind/image/image.h"
#include "unwind/image/image_kind.h"

/* A segment without anything, for names alone. */
static uint8_t segment[256] __attribute__((aligned(8)));

static struct elfmap map_with(ElfW(Phdr) *headers, unsigned count,
			      const char *path)
{
	return (struct elfmap){
		.bias = (uintptr_t)segment,
		.path = path,
		.phdr = headers,
		.phnum = count,
	};
}

static struct image_kind kind_of_name(const char *name)
{
	ElfW(Phdr) load = { .p_type = PT_LOAD, .p_flags = PF_R,
			    .p_memsz = sizeof(segment) };
	struct elfmap map = map_with(&load, 1, name);

	return image_kind_of(&map);
}

static void test_names(void **unused)
{
	static const struct {
		const char *path;
		bool forbids_barriers;
		enum gt_mode_why forbidden_why;
	} cases[] = {
		{ "/lib64/ld-linux-x86-64.so.2", true, GT_WHY_DEFAULT },
		{ "/lib/ld-musl-x86_64.so.1", true, GT_WHY_DEFAULT },
		{ "/lib/libc.musl-x86_64.so.1", true, GT_WHY_DEFAULT },
		{ "/lib/x86_64-linux-gnu/libc.so.6", true, GT_WHY_DEFAULT },
		{ "/lib/x86_64-linux-gnu/libc-2.31.so", true, GT_WHY_DEFAULT },
		{ "libpthread.so.0", true, GT_WHY_DEFAULT },
		{ "/a/libgcc_s.so.1", true, GT_WHY_DEFAULT },
		{ "linux-vdso.so.1", true, GT_WHY_DEFAULT },
		{ "/opt/libgnomon.so", true, GT_WHY_DEFAULT },
		{ "libunwind.so.1", true, GT_WHY_DEFAULT },
		{ "libunwind.so.1.0", true, GT_WHY_DEFAULT },
		{ "libunwind.so.8", true, GT_WHY_UNWINDER },
		{ "libunwind.so.12", true, GT_WHY_UNWINDER },
		{ "/x/libunwind-x86_64.so.8", true, GT_WHY_UNWINDER },
		{ "/usr/lib/libnode.so.108", true, GT_WHY_RUNTIME },
		{ "/p/_greenlet.cpython-311-x86_64-linux-gnu.so", false,
		  GT_WHY_RUNTIME },
		{ "/usr/lib/ruby/3.1.0/continuation.so", false,
		  GT_WHY_RUNTIME },
		{ "/usr/lib/uftrace/libmcount-fast.so", true,
		  GT_WHY_HIJACKED },
		{ "libbytehound.so", true, GT_WHY_HIJACKED },
		/* Names that only resemble those. */
		{ "/usr/lib/libstdc++.so.6", false, GT_WHY_DEFAULT },
		{ "/usr/lib/libcrypto.so.3", false, GT_WHY_DEFAULT },
		{ "/libc.so.6/plugin.so", false, GT_WHY_DEFAULT },
		{ "mylibc.so.6", false, GT_WHY_DEFAULT },
		{ "libc", false, GT_WHY_DEFAULT },
		{ "libunwindow.so.8", true, GT_WHY_DEFAULT },
		{ "", false, GT_WHY_DEFAULT },
		{ NULL, false, GT_WHY_DEFAULT },
	};
	unsigned i;

	(void)unused;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct image_kind kind = kind_of_name(cases[i].path);

		if (kind.forbids_barriers != cases[i].forbids_barriers ||
		    kind.forbidden_why != cases[i].forbidden_why)
			fail_msg("%s: %d, %d", cases[i].path,
				 kind.forbids_barriers, kind.forbidden_why);
	}
}

/* Writes a note of the given sizes at `at`; returns what follows it. */
static size_t put_note(size_t at, const char *owner, uint32_t owner_size,
		       uint32_t type, uint32_t size)
{
	ElfW(Nhdr) note = { owner_size, size, type };

	memcpy(segment + at, &note, sizeof(note));
	at += sizeof(note);
	memcpy(segment + at, owner, strlen(owner) + 1);
	return at + ((owner_size + 3) & ~3u) + ((size + 3) & ~3u);
}

/* The first byte of the description; -1: there is no such note. */
static int find_note(size_t size, const char *owner, uint32_t type,
		     uint32_t *found)
{
	ElfW(Phdr) headers[2] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R,
		  .p_memsz = sizeof(segment) },
		{ .p_type = PT_NOTE, .p_memsz = size },
	};
	struct elfmap map = map_with(headers, 2, "");
	uint8_t byte = 0;

	return elfmap_note(&map, owner, type, &byte, 1, found) ? byte : -1;
}

static void test_notes(void **unused)
{
	size_t first, second;
	uint32_t size;

	(void)unused;
	memset(segment, 0, sizeof(segment));
	first = put_note(0, "GNU", 4, NT_GNU_BUILD_ID, 5);
	second = put_note(first, "Go", 4, 4, 8);
	segment[16] = 11;
	segment[first + 16] = 22;
	assert_int_equal(find_note(second, "GNU", NT_GNU_BUILD_ID, &size), 11);
	assert_int_equal(size, 5);
	/* Go pads its name's size as well. */
	assert_int_equal(find_note(second, "Go", 4, &size), 22);
	assert_int_equal(size, 8);
	assert_int_equal(find_note(second, "Go", 3, &size), -1);
	assert_int_equal(find_note(second, "G", 4, &size), -1);
	/* Cut short, or beyond the segment. */
	assert_int_equal(find_note(second - 1, "Go", 4, &size), -1);
	assert_int_equal(find_note(sizeof(segment) + 1, "GNU", NT_GNU_BUILD_ID,
				   &size), -1);
	put_note(0, "GNU", UINT32_MAX, NT_GNU_BUILD_ID, UINT32_MAX - 3);
	assert_int_equal(find_note(second, "Go", 4, &size), -1);
	put_note(0, "GNU", 0, NT_GNU_BUILD_ID, 0);
	assert_int_equal(find_note(12, "GNU", NT_GNU_BUILD_ID, &size), -1);
}

static void test_go_program(void **unused)
{
	ElfW(Phdr) headers[2] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R,
		  .p_memsz = sizeof(segment) },
		{ .p_type = PT_NOTE },
	};
	struct elfmap map = map_with(headers, 2, "");
	struct image_kind kind;

	(void)unused;
	memset(segment, 0, sizeof(segment));
	headers[1].p_memsz = put_note(0, "Go", 4, 4, 16);
	kind = image_kind_of(&map);
	assert_true(kind.forbids_barriers);
	assert_int_equal(kind.forbidden_why, GT_WHY_RUNTIME);
}

/* As an embedder of V8 exports it; exported by this program. */
const char *_ZN2v82V810GetVersionEv(void);
const char *_ZN2v82V810GetVersionEv(void)
{
	return "";
}

static void test_verdict(void **unused)
{
	const struct image *libc, *own;

	(void)unused;
	assert_int_equal(test_unwinder_init(CAPTURE_AUTO, 0), 0);
	assert_int_equal(image_forbidden_why(), GT_WHY_RUNTIME);
	own = image_find((uintptr_t)test_verdict);
	assert_false(image_allows_barriers(own));
	libc = image_find((uintptr_t)dlsym(RTLD_DEFAULT,
					    "gnu_get_libc_version"));
	assert_false(image_allows_barriers(libc));
	own = image_find((uintptr_t)dlsym(RTLD_DEFAULT, "_cmocka_run_group_tests"));
	assert_true(image_allows_barriers(own));
}

static int take_soname(struct dl_phdr_info *info, size_t size, void *data)
{
	struct elfmap map = { .bias = info->dlpi_addr,
			      .phdr = info->dlpi_phdr,
			      .phnum = info->dlpi_phnum };
	char name[64];

	(void)size;
	if (strstr(info->dlpi_name, "libcmocka") &&
	    dynsym_soname(&map, name, sizeof(name))) {
		assert_false(dynsym_soname(&map, name, 4));
		strcpy(data, name);
	}
	return 0;
}

static void test_soname(void **unused)
{
	char name[64] = "";

	(void)unused;
	dl_iterate_phdr(take_soname, name);
	assert_string_equal(name, "libcmocka.so.0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_go_program),
		cmocka_unit_test(test_verdict),
		cmocka_unit_test(test_soname),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
