/*
 * Which functions a site is not told by: wrappers by their whole names, with
 * or without what a demangler puts behind them; nothing that only resembles.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "cli/profile/glue.h"

static void wrappers(void **state)
{
	static const char *const names[] = {
		"zmalloc", "ztrymalloc_usable", "zcalloc", "xmalloc",
		"xreallocarray", "my_malloc", "sh_xmalloc", "safe_calloc",
		"ggc_internal_alloc(unsigned long, void (*)(void*), "
			"unsigned long, unsigned long)",
		"xcalloc(unsigned long, unsigned long) [clone .part.0]",
		"zmalloc.constprop.0", "sqlite3_malloc64", "sqlite3DbStrDup",
		"CRYPTO_zalloc", "llvm::allocate_buffer(unsigned long, "
			"unsigned long)",
		"malloc", "free", "xfree", "zfree", "zfree_usable", "my_free",
		"sqlite3_free", "sqlite3DbFreeNN.part.0", "PyMem_RawFree",
		"g_free", "CRYPTO_clear_free", "ggc_free(void*)",
		"operator delete(void*, unsigned long)",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!glue_is("program", names[i]))
			fail_msg("%s is a wrapper", names[i]);
}

static void users_code(void **state)
{
	static const char *const names[] = {
		"malloc_everything", "xmalloc_test", "tgt_malloc", "Pool::malloc",
		"pool::xmalloc(unsigned long)", "remalloc", "prealloc",
		"xmalloc<int>(int)", "zmalloc2", "createObject", "make",
		"sqlite3_exec", "sqlite3PagerOpen", "ggc_collect", "x", "",
		"my_stdmap()", "allocate", "palloc_users",
		"free_everything", "freeObject", "Pool::free(void*)", "xfree2",
		"sqlite3_free_table", "sqlite3VdbeDelete", "_Py_Dealloc",
		"g_list_free", "zfreelist",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (glue_is("program", names[i]))
			fail_msg("%s is the user's", names[i]);
	assert_false(glue_is("program", NULL));
	assert_false(glue_is(NULL, NULL));
}

/* Static functions of wrappers, without names; their siblings elsewhere. */
static void parts(void **state)
{
	(void)state;
	assert_true(glue_is_part(true, "libx.so", "libx.so",
				 glue_wraps("sqlite3Malloc")));
	assert_false(glue_is_part(true, "libx.so", "liby.so", true));
	assert_false(glue_is_part(false, "libx.so", "libx.so", true));
	assert_false(glue_is_part(true, "libx.so", "libx.so",
				  glue_wraps("sqlite3_exec")));
	/* Called by the C library: as the user's main is. */
	assert_false(glue_is_part(true, "libc.so.6", "libc.so.6",
				  glue_wraps("qsort")));
	assert_false(glue_is_part(true, NULL, NULL, true));
}

static void language(void **state)
{
	(void)state;
	assert_true(glue_is("libc.so.6", "strdup"));
	assert_true(glue_is("libstdc++.so.6", NULL));
	assert_true(glue_is("program", "std::vector<int>::reserve()"));
	assert_true(glue_is("program", "void std::swap<int>(int&, int&)"));
	assert_true(glue_is("program", "operator new(unsigned long)"));
	assert_true(glue_is("program", "alloc::vec::Vec<T>::push"));
	assert_false(glue_is("program", "int work<std::string>(std::string)"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrappers),
		cmocka_unit_test(users_code),
		cmocka_unit_test(parts),
		cmocka_unit_test(language),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
