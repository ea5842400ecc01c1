/*
 * image_kind.c: classifies images by name, notes and symbols.
 *
 * The name is the last component of the loader's path, or the soname. Either
 * may match: a library may be renamed, and a path may be a number
 * (/proc/self/fd/3). The main program has no name here, as program names are no
 * evidence: its notes and exported symbols identify it.
 *
 * Thread context: any thread, also signal handlers.
 */
#include <elf.h>

#include "arch.h"
#include "unwind/elf/dynsym.h"
#include "unwind/elf/elfmap.h"
#include "unwind/image/image_kind.h"

#define SONAME_MAX_BYTES 128
#define NOTE_GO_BUILD_ID 4

struct name_rule {
	const char *prefix;
	struct image_kind kind;
};

/* The first matching rule applies. */
static const struct name_rule name_rules[] = {
	/* The C library, the loader and unwinders: their code reads return
	 * addresses, or skips frames without returning. */
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
	/* LLVM's libunwind. The nongnu libunwind, with any other number,
	 * replaces libgcc's unwinder and gives up at a return address without
	 * an unwind table. */
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

/* An image that exports one of these contains V8: node, whose add-ons register
 * by the first symbol, and any program that lets add-ons call V8. */
static const char *const v8_symbols[] = {
	"node_module_register",
	"_ZN2v82V810GetVersionEv",	/* v8::V8::GetVersion() */
};
/* A program that contains nongnu libunwind, as the unwinder of its exceptions,
 * exports this symbol for the C++ library; no name identifies it. */
static const char nongnu_symbol[] = "__libunwind_Unwind_RaiseException";
/* Our stubs' personality routine supports one unwinder by .ARM.exidx, libgcc's
 * (barriers.S). Another one exports _Unwind_VRS_Set, by which personality
 * routines set registers. LLVM's may also be hidden inside an image, which then
 * imports dl_iterate_phdr: LLVM's finds tables by it, libgcc's does not on this
 * architecture. */
static const char exidx_export[] = "_Unwind_VRS_Set";
static const char *const exidx_imports[] = { "dl_iterate_phdr" };
#define V8_SYMBOLS (sizeof(v8_symbols) / sizeof(v8_symbols[0]))

static const char *last_part(const char *path)
{
	const char *name = path;

	for (; *path; path++)
		if (*path == '/')
			name = path + 1;
	return name;
}

/* A prefix that ends in a digit ends a number: "libunwind.so.1" matches
 * "libunwind.so.1.0", not "libunwind.so.12". */
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
	return dynsym_find(map, exidx_export, STT_FUNC) ||
	       dynsym_imports(map, exidx_imports, 1);
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
		kind.forbids_barriers |= by_name->kind.forbids_barriers;
		if (kind.forbidden_why == GT_WHY_DEFAULT)
			kind.forbidden_why = by_name->kind.forbidden_why;
	}
	if (kind.forbidden_why == GT_WHY_DEFAULT &&
	    (elfmap_note(map, "Go", NOTE_GO_BUILD_ID, NULL, 0, &size) ||
	     has_v8(map)))
		kind = (struct image_kind){ true, GT_WHY_RUNTIME };
	if (kind.forbidden_why == GT_WHY_DEFAULT &&
	    is_foreign_unwinder(map, last_part(path)))
		kind.forbidden_why = GT_WHY_UNWINDER;
	return kind;
}
