/*
 * image_kind.c: telling images by name, note and symbol.
 *
 * A name is the last part of the path that the loader knows, and the soname;
 * either may tell, as a library may be renamed or a path a number
 * (/proc/self/fd/3). Program names are no evidence, the main program has none
 * here: what it is shows in its notes and in what it exports.
 *
 * Thread context: any thread, also signal handlers.
 */
#include <elf.h>

#include "arch.h"
#include "unwind/dynsym.h"
#include "unwind/elfmap.h"
#include "unwind/image_kind.h"

#define SONAME_MAX_BYTES 128
#define NOTE_GO_BUILD_ID 4

struct name_rule {
	const char *prefix;
	struct image_kind kind;
};

/* The first that fits is taken. */
static const struct name_rule name_rules[] = {
	/* The C library, the loader and who unwinds: their code reads return
	 * addresses, or goes through them without returning. */
	{ "ld-linux", { true, GT_WHY_DEFAULT } },
	{ "ld-musl", { true, GT_WHY_DEFAULT } },
	{ "ld.so", { true, GT_WHY_DEFAULT } },
	{ "ld-2.", { true, GT_WHY_DEFAULT } },
	{ "libc.so", { true, GT_WHY_DEFAULT } },
	{ "libc-2.", { true, GT_WHY_DEFAULT } },
	{ "libc.musl", { true, GT_WHY_DEFAULT } },
	{ "libpthread", { true, GT_WHY_DEFAULT } },
	{ "libgcc_s", { true, GT_WHY_DEFAULT } },
	{ "linux-vdso", { true, GT_WHY_DEFAULT } },
	{ "linux-gate", { true, GT_WHY_DEFAULT } },
	{ "libgnomon", { true, GT_WHY_DEFAULT } },
	/* LLVM's; nongnu's, of any other number, takes the place of libgcc's
	 * and gives up at a return address that no table knows. */
	{ "libunwind.so.1", { true, GT_WHY_DEFAULT } },
	{ "libunwind.so", { true, GT_WHY_UNWINDER } },
	{ "libunwind-", { true, GT_WHY_UNWINDER } },
	{ "libunwind", { true, GT_WHY_DEFAULT } },
	/* V8 walks its stacks by return address. */
	{ "libnode.so", { true, GT_WHY_RUNTIME } },
	{ "libv8.so", { true, GT_WHY_RUNTIME } },
	/* Copies slices of a stack away and back. */
	{ "_greenlet.", { false, GT_WHY_RUNTIME } },
	{ "greenlet.", { false, GT_WHY_RUNTIME } },
	/* Ruby's callcc copies whole stacks, and jumps without longjmp. */
	{ "continuation.so", { false, GT_WHY_RUNTIME } },
	/* Replace return addresses themselves. */
	{ "libmcount", { true, GT_WHY_HIJACKED } },
	{ "libbytehound", { true, GT_WHY_HIJACKED } },
	{ "libnwind", { true, GT_WHY_HIJACKED } },
};
#define NAME_RULES (sizeof(name_rules) / sizeof(name_rules[0]))

/* Whoever exports one of these has V8 inside: node, whose add-ons register by
 * the first, and everything that lets add-ons call V8. */
static const char *const v8_symbols[] = {
	"node_module_register",
	"_ZN2v82V810GetVersionEv",	/* v8::V8::GetVersion() */
};
/* A program that has nongnu libunwind inside, as its exceptions' unwinder,
 * exports it to the C++ library; no name tells. */
static const char nongnu_symbol[] = "__libunwind_Unwind_RaiseException";
/* By the first personality routines change the context of an unwinder that goes
 * by .ARM.exidx, and the stubs' one knows that of libgcc alone (barriers.S). Of
 * LLVM's, where that is hidden in an image, there is to be seen that it finds
 * tables by the second, as libgcc does not there. */
static const char exidx_symbol[] = "_Unwind_VRS_Set";
static const char *const exidx_import[] = { "dl_iterate_phdr" };
#define V8_SYMBOLS (sizeof(v8_symbols) / sizeof(v8_symbols[0]))

static const char *last_part(const char *path)
{
	const char *name = path;

	for (; *path; path++)
		if (*path == '/')
			name = path + 1;
	return name;
}

/* "libunwind.so.1" is the beginning of "libunwind.so.1.0", not of
 * "libunwind.so.12": a prefix that ends in a digit ends a number. */
static bool begins_with(const char *name, const char *prefix)
{
	char end = 0;

	for (; *prefix; prefix++, name++) {
		if (*name != *prefix)
			return false;
		end = *prefix;
	}
	return end < '0' || end > '9' || *name < '0' || *name > '9';
}

static const struct name_rule *find_name(const char *name)
{
	unsigned i;

	for (i = 0; i < NAME_RULES; i++)
		if (begins_with(name, name_rules[i].prefix))
			return &name_rules[i];
	return NULL;
}

static bool has_v8(const struct elfmap *map)
{
	unsigned i;

	for (i = 0; i < V8_SYMBOLS; i++)
		if (dynsym_find(map, v8_symbols[i], STT_FUNC))
			return true;
	return false;
}

static bool is_foreign_unwinder(const struct elfmap *map, const char *name)
{
	if (dynsym_find(map, nongnu_symbol, STT_FUNC))
		return true;
	if (!ARCH_ELF_EXIDX || begins_with(name, "libgcc_s") ||
	    begins_with(name, "libgnomon"))
		return false;
	return dynsym_find(map, exidx_symbol, STT_FUNC) ||
	       dynsym_imports(map, exidx_import, 1);
}

struct image_kind image_kind_of(const struct elfmap *map)
{
	const char *path = map->path ? map->path : "";
	const struct name_rule *by_path = find_name(last_part(path)), *by_name;
	struct image_kind kind = { false, GT_WHY_DEFAULT };
	char soname[SONAME_MAX_BYTES];
	uint32_t size;

	if (by_path)
		kind = by_path->kind;
	by_name = dynsym_soname(map, soname, sizeof(soname)) ?
			  find_name(soname) : NULL;
	if (by_name) {
		kind.no_barrier |= by_name->kind.no_barrier;
		if (kind.verdict == GT_WHY_DEFAULT)
			kind.verdict = by_name->kind.verdict;
	}
	if (kind.verdict == GT_WHY_DEFAULT &&
	    (elfmap_note(map, "Go", NOTE_GO_BUILD_ID, NULL, 0, &size) ||
	     has_v8(map)))
		kind = (struct image_kind){ true, GT_WHY_RUNTIME };
	if (kind.verdict == GT_WHY_DEFAULT &&
	    is_foreign_unwinder(map, last_part(path)))
		kind.verdict = GT_WHY_UNWINDER;
	return kind;
}
