/*
 * test_patch_plan_names.c: which functions are an allocator's, and what they
 * do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "cli/run/patch_plan_names.h"

static const struct patch_plan_family *family(const char *prefix)
{
	for (size_t i = 0; i < patch_plan_family_count; i++)
		if (strcmp(patch_plan_families[i].prefix, prefix) == 0)
			return &patch_plan_families[i];
	fail();
	return NULL;
}

/* op, block, size, count; NULL: it is none. */
static void says(const char *prefix, const char *name, const uint8_t *wanted)
{
	struct patch_shape shape;

	if (!wanted) {
		assert_false(patch_plan_names_function(family(prefix), name,
						       &shape));
		return;
	}
	assert_true(patch_plan_names_function(family(prefix), name, &shape));
	assert_memory_equal(&shape, wanted, sizeof(shape));
}

#define SHAPE(...) (const uint8_t[4]){ __VA_ARGS__ }
#define NO PATCH_NONE

static void test_functions(void **state)
{
	(void)state;
	says("", "malloc", SHAPE(PATCH_ALLOC, NO, 0, NO));
	says("", "calloc", SHAPE(PATCH_ALLOC, NO, 1, 0));
	says("", "mallocs", NULL);
	says("", "my_malloc", NULL);
	says("_rjem_", "_rjem_malloc", SHAPE(PATCH_ALLOC, NO, 0, NO));
	says("_rjem_", "_rjem_sdallocx", SHAPE(PATCH_FREE, 0, NO, NO));
	says("_rjem_", "_rjem_je_malloc_default", NULL);
	says("_rjem_", "malloc", NULL);
	says("je_", "je_xallocx", SHAPE(PATCH_RESIZE, 0, 1, NO));
	says("tc_", "tc_newarray_aligned_nothrow",
	     SHAPE(PATCH_ALLOC, NO, 0, NO));
	says("tc_", "tc_deletearray_sized_aligned",
	     SHAPE(PATCH_FREE, 0, NO, NO));
	says("tc_", "tc_version", NULL);
	says("je_", "je_new", NULL);
	says("mi_", "mi_posix_memalign", SHAPE(PATCH_POINTER, 0, 2, NO));
	says("mi_", "mi_zalloc", SHAPE(PATCH_ALLOC, NO, 0, NO));
	says("mi_", "mi_strdup", SHAPE(PATCH_STRING, NO, NO, NO));
	says("je_", "je_zalloc", NULL);
	says("sn_", "sn_calloc", SHAPE(PATCH_ALLOC, NO, 1, 0));
	says("sn_rust_", "sn_rust_alloc_zeroed", SHAPE(PATCH_ALLOC, NO, 1, NO));
	says("sn_rust_", "sn_rust_dealloc", SHAPE(PATCH_FREE, 0, NO, NO));
	says("sn_rust_", "sn_rust_realloc", SHAPE(PATCH_REALLOC, 0, 3, NO));
	says("sn_rust_", "sn_rust_usable_size", NULL);
}

static void test_heaps(void **state)
{
	(void)state;
	says("mi_", "mi_heap_malloc", SHAPE(PATCH_ALLOC, NO, 1, NO));
	says("mi_", "mi_heap_recalloc_aligned_at",
	     SHAPE(PATCH_REALLOC, 1, 3, 2));
	says("mi_", "mi_heap_reallocf",
	     SHAPE(PATCH_REALLOC_OR_FREE, 1, 2, NO));
	/* a heap, not a block */
	says("mi_", "mi_heap_new", NULL);
	says("mi_", "mi_heap_free", NULL);
	says("mi_", "mi_heap_delete", NULL);
}

static void test_other_names(void **state)
{
	struct patch_shape shape;

	(void)state;
	assert_true(patch_plan_names_operator("_ZnamRKSt9nothrow_t", &shape));
	assert_true(patch_plan_names_operator("_ZnwjSt11align_val_t", &shape));
	assert_int_equal(shape.op, PATCH_ALLOC);
	assert_true(
		patch_plan_names_operator("_ZdlPvmSt11align_val_t", &shape));
	assert_int_equal(shape.op, PATCH_FREE);
	assert_false(patch_plan_names_operator("_Znwi", &shape));
	assert_false(patch_plan_names_operator("_Znw", &shape));
	assert_false(patch_plan_names_operator("_ZN3fooEv", &shape));
	assert_int_equal(patch_plan_names_jemalloc("je_arrow_sdallocx"), 9);
	assert_int_equal(patch_plan_names_jemalloc("_rjem_sdallocx"), 0);
	assert_int_equal(patch_plan_names_jemalloc("sdallocx"), 0);
	assert_int_equal(patch_plan_names_jemalloc("je_arrow_malloc"), 0);
	assert_string_equal(patch_plan_names_sanitizer("__asan_init"),
			    "AddressSanitizer");
	assert_null(patch_plan_names_sanitizer("main"));
	assert_true(patch_plan_names_related("__libc_free"));
	assert_false(patch_plan_names_related("on_click"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_heaps),
		cmocka_unit_test(test_other_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
