/*
 * patch_plan_names.c: see patch_plan_names.h. After the manuals of jemalloc
 * 5.3, gperftools 2.10, mimalloc 2.1 and snmalloc 0.7, and the Itanium C++
 * ABI's mangling.
 */
#include "cli/run/patch_plan_names.h"

#include <string.h>

#define NO PATCH_NONE

const struct patch_plan_family patch_plan_families[] = {
	{ "_rjem_", 6, "jemalloc" },
	{ "je_", 3, "jemalloc" },
	{ "tc_", 3, "tcmalloc" },
	{ "mi_", 3, "mimalloc" },
	{ "sn_rust_", 8, "snmalloc" },
	{ "sn_", 3, "snmalloc" },
	{ "", 0, "malloc" },
};
const size_t patch_plan_family_count =
	sizeof(patch_plan_families) / sizeof(patch_plan_families[0]);

struct patch_plan_name {
	const char *name;
	struct patch_shape shape;	/* op, block, size, count */
};

/* Functions that exist with any prefix. */
static const struct patch_plan_name common[] = {
	{ "malloc", { PATCH_ALLOC, NO, 0, NO } },
	{ "calloc", { PATCH_ALLOC, NO, 1, 0 } },
	{ "realloc", { PATCH_REALLOC, 0, 1, NO } },
	{ "reallocf", { PATCH_REALLOC_OR_FREE, 0, 1, NO } },
	{ "reallocarray", { PATCH_REALLOC, 0, 2, 1 } },
	{ "free", { PATCH_FREE, 0, NO, NO } },
	{ "cfree", { PATCH_FREE, 0, NO, NO } },
	{ "free_sized", { PATCH_FREE, 0, NO, NO } },
	{ "free_aligned_sized", { PATCH_FREE, 0, NO, NO } },
	{ "posix_memalign", { PATCH_POINTER, 0, 2, NO } },
	{ "aligned_alloc", { PATCH_ALLOC, NO, 1, NO } },
	{ "memalign", { PATCH_ALLOC, NO, 1, NO } },
	{ "valloc", { PATCH_ALLOC, NO, 0, NO } },
	{ "pvalloc", { PATCH_ALLOC, NO, 0, NO } },
	/* jemalloc */
	{ "mallocx", { PATCH_ALLOC, NO, 0, NO } },
	{ "rallocx", { PATCH_REALLOC, 0, 1, NO } },
	{ "xallocx", { PATCH_RESIZE, 0, 1, NO } },
	{ "dallocx", { PATCH_FREE, 0, NO, NO } },
	{ "sdallocx", { PATCH_FREE, 0, NO, NO } },
};

/* tc_…; its C++ functions begin with new or delete. */
static const struct patch_plan_name tcmalloc[] = {
	{ "malloc_skip_new_handler", { PATCH_ALLOC, NO, 0, NO } },
};

/* sn_rust_…; dealloc and realloc also take alignment and size. */
static const struct patch_plan_name snmalloc[] = {
	{ "alloc", { PATCH_ALLOC, NO, 1, NO } },
	{ "alloc_zeroed", { PATCH_ALLOC, NO, 1, NO } },
	{ "dealloc", { PATCH_FREE, 0, NO, NO } },
	{ "realloc", { PATCH_REALLOC, 0, 3, NO } },
};

/* mi_…, or mi_heap_… with one more argument first. */
static const struct patch_plan_name mimalloc[] = {
	{ "zalloc", { PATCH_ALLOC, NO, 0, NO } },
	{ "malloc_small", { PATCH_ALLOC, NO, 0, NO } },
	{ "zalloc_small", { PATCH_ALLOC, NO, 0, NO } },
	{ "mallocn", { PATCH_ALLOC, NO, 1, 0 } },
	{ "reallocn", { PATCH_REALLOC, 0, 2, 1 } },
	{ "rezalloc", { PATCH_REALLOC, 0, 1, NO } },
	{ "recalloc", { PATCH_REALLOC, 0, 2, 1 } },
	{ "expand", { PATCH_RESIZE, 0, 1, NO } },
	{ "malloc_aligned", { PATCH_ALLOC, NO, 0, NO } },
	{ "malloc_aligned_at", { PATCH_ALLOC, NO, 0, NO } },
	{ "zalloc_aligned", { PATCH_ALLOC, NO, 0, NO } },
	{ "zalloc_aligned_at", { PATCH_ALLOC, NO, 0, NO } },
	{ "calloc_aligned", { PATCH_ALLOC, NO, 1, 0 } },
	{ "calloc_aligned_at", { PATCH_ALLOC, NO, 1, 0 } },
	{ "realloc_aligned", { PATCH_REALLOC, 0, 1, NO } },
	{ "realloc_aligned_at", { PATCH_REALLOC, 0, 1, NO } },
	{ "rezalloc_aligned", { PATCH_REALLOC, 0, 1, NO } },
	{ "rezalloc_aligned_at", { PATCH_REALLOC, 0, 1, NO } },
	{ "recalloc_aligned", { PATCH_REALLOC, 0, 2, 1 } },
	{ "recalloc_aligned_at", { PATCH_REALLOC, 0, 2, 1 } },
	{ "aligned_recalloc", { PATCH_REALLOC, 0, 2, 1 } },
	{ "aligned_offset_recalloc", { PATCH_REALLOC, 0, 2, 1 } },
	{ "free_size", { PATCH_FREE, 0, NO, NO } },
	{ "free_size_aligned", { PATCH_FREE, 0, NO, NO } },
	{ "free_aligned", { PATCH_FREE, 0, NO, NO } },
	{ "new", { PATCH_ALLOC, NO, 0, NO } },
	{ "new_aligned", { PATCH_ALLOC, NO, 0, NO } },
	{ "new_nothrow", { PATCH_ALLOC, NO, 0, NO } },
	{ "new_aligned_nothrow", { PATCH_ALLOC, NO, 0, NO } },
	{ "new_n", { PATCH_ALLOC, NO, 1, 0 } },
	{ "new_realloc", { PATCH_REALLOC, 0, 1, NO } },
	{ "new_reallocn", { PATCH_REALLOC, 0, 2, 1 } },
	{ "alloc_new", { PATCH_ALLOC, NO, 0, NO } },
	{ "alloc_new_n", { PATCH_ALLOC, NO, 1, 0 } },
	{ "strdup", { PATCH_STRING, NO, NO, NO } },
	{ "strndup", { PATCH_STRING, NO, NO, NO } },
	{ "realpath", { PATCH_STRING, NO, NO, NO } },
};

static bool starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool find(const struct patch_plan_name *names, size_t count,
		 const char *name, struct patch_shape *shape)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i].name, name) == 0) {
			*shape = names[i].shape;
			return true;
		}
	return false;
}

#define FIND(names, name, shape) \
	find(names, sizeof(names) / sizeof((names)[0]), name, shape)

static bool find_tcmalloc(const char *name, struct patch_shape *shape)
{
	bool makes = starts(name, "new");

	if (FIND(tcmalloc, name, shape))
		return true;
	*shape = (struct patch_shape){ makes ? PATCH_ALLOC : PATCH_FREE,
				       makes ? NO : 0, makes ? 0 : NO, NO };
	return makes || starts(name, "delete");
}

static uint8_t shifted(uint8_t argument)
{
	return argument < NO - 1 ? argument + 1 : argument;
}

static bool find_mimalloc(const char *name, struct patch_shape *shape)
{
	bool of_heap = starts(name, "heap_");

	if (of_heap)
		name += strlen("heap_");
	/* these create and delete heaps, not blocks */
	if (of_heap && (starts(name, "new") || starts(name, "free")))
		return false;
	if (!FIND(mimalloc, name, shape) && !FIND(common, name, shape))
		return false;
	if (of_heap) {
		shape->block = shifted(shape->block);
		shape->size = shifted(shape->size);
		shape->count = shifted(shape->count);
	}
	return true;
}

bool patch_plan_names_function(const struct patch_plan_family *family,
			       const char *name, struct patch_shape *shape)
{
	if (strncmp(name, family->prefix, family->length) != 0)
		return false;
	name += family->length;
	if (strcmp(family->prefix, "mi_") == 0)
		return find_mimalloc(name, shape);
	if (strcmp(family->prefix, "sn_rust_") == 0)
		return FIND(snmalloc, name, shape);
	return FIND(common, name, shape) ||
		(strcmp(family->prefix, "tc_") == 0 &&
		 find_tcmalloc(name, shape));
}

/* Mangled types of size_t: unsigned long, unsigned int. */
#define SIZE_LETTERS "mj"

bool patch_plan_names_operator(const char *name, struct patch_shape *shape)
{
	bool makes = starts(name, "_Zn") && (name[3] == 'w' || name[3] == 'a') &&
		     strchr(SIZE_LETTERS, name[4]) && name[4];

	*shape = (struct patch_shape){ makes ? PATCH_ALLOC : PATCH_FREE,
				       makes ? NO : 0, makes ? 0 : NO, NO };
	return makes || starts(name, "_ZdlPv") || starts(name, "_ZdaPv");
}

size_t patch_plan_names_jemalloc(const char *name)
{
	size_t size = strlen(name), own = strlen("sdallocx");

	if (size <= own || size - own > 32 ||
	    strcmp(name + size - own, "sdallocx") != 0)
		return 0;
	for (size_t i = 0; i < patch_plan_family_count; i++)
		if (patch_plan_families[i].length == size - own &&
		    starts(name, patch_plan_families[i].prefix))
			return 0;
	return size - own;
}

bool patch_plan_names_related(const char *name)
{
	static const char *const parts[] = {
		"alloc", "free", "memalign", "strdup", "strndup", "_Zn",
		"_Zd", "new", "delete", "expand", "realpath"
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(name, parts[i]) != NULL)
			return true;
	return false;
}

const char *patch_plan_names_sanitizer(const char *name)
{
	static const char *const names[][2] = {
		{ "__asan_init", "AddressSanitizer" },
		{ "__hwasan_init", "HWAddressSanitizer" },
		{ "__lsan_init", "LeakSanitizer" },
		{ "__msan_init", "MemorySanitizer" },
		{ "__tsan_init", "ThreadSanitizer" },
		{ "__scudo_allocate", "scudo" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i][0]) == 0)
			return names[i][1];
	return NULL;
}

const char *patch_plan_names_telling(const char *name)
{
	if (strcmp(name, "mallctl") == 0 || strcmp(name, "mallocx") == 0)
		return "jemalloc";
	if (strcmp(name, "tc_malloc") == 0 || starts(name, "_ZN8tcmalloc"))
		return "tcmalloc";
	if (strcmp(name, "mi_malloc") == 0 || starts(name, "_mi_"))
		return "mimalloc";
	if (starts(name, "_ZN8snmalloc"))
		return "snmalloc";
	return NULL;
}
