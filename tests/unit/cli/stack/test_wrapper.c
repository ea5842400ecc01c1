/*
 * Which functions a site is not told by: wrappers by their whole names, with
 * or without what a demangler puts behind them; nothing that only resembles.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "cli/stack/wrapper.h"

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
		if (!wrapper_is("program", names[i]))
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
		if (wrapper_is("program", names[i]))
			fail_msg("%s is the user's", names[i]);
	assert_false(wrapper_is("program", NULL));
	assert_false(wrapper_is(NULL, NULL));
}

/* Static functions of wrappers, without names; their siblings elsewhere. */
static void parts(void **state)
{
	(void)state;
	assert_true(
		wrapper_is_part(true, "libx.so", "libx.so",
				wrapper_allocates("libx.so", "sqlite3Malloc")));
	assert_false(wrapper_is_part(true, "libx.so", "liby.so", true));
	assert_false(wrapper_is_part(false, "libx.so", "libx.so", true));
	assert_false(
		wrapper_is_part(true, "libx.so", "libx.so",
				wrapper_allocates("libx.so", "sqlite3_exec")));
	/* Called by the C library: as the user's main is. */
	assert_false(wrapper_is_part(true, "libc.so.6", "libc.so.6",
				     wrapper_allocates("libx.so", "qsort")));
	assert_false(wrapper_is_part(true, NULL, NULL, true));
}

static void loaders(void **state)
{
	static const char *const names[] = {
		"ld-linux-x86-64.so.2", "ld-linux-armhf.so.3", "ld-2.31.so",
		"ld-musl-x86_64.so.1", "ld.so.1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!wrapper_is(names[i], NULL))
			fail_msg("%s is a loader", names[i]);
	assert_false(wrapper_is("ld.so.10", NULL));
	assert_false(wrapper_is("world.so.1", NULL));
	assert_false(wrapper_is("ld.so.conf", NULL));
}

static void language(void **state)
{
	(void)state;
	assert_true(wrapper_is("libc.so.6", "strdup"));
	assert_true(wrapper_is("libstdc++.so.6", NULL));
	assert_true(wrapper_is("program", "std::vector<int>::reserve()"));
	assert_true(wrapper_is("program", "void std::swap<int>(int&, int&)"));
	assert_true(wrapper_is("program", "operator new(unsigned long)"));
	assert_true(wrapper_is("program", "alloc::vec::Vec<T>::push"));
	assert_false(
		wrapper_is("program", "int work<std::string>(std::string)"));
}

/* std and its crates, as rustc 1.63 names them in both manglings. */
static void rust(void **state)
{
	static const char *const std[] = {
		"hashbrown::raw::alloc::inner::do_alloc",
		"hashbrown::raw::alloc::inner::do_alloc::<alloc::alloc::Global>",
		"<u8 as alloc::vec::spec_from_elem::SpecFromElem>::from_elem",
		"<T as alloc::slice::hack::ConvertVec>::to_vec",
		"<T as core::convert::Into<U>>::into",
		"<u8 as <[_]>::to_vec_in::ConvertVec>::to_vec::<"
			"alloc::alloc::Global>",
		"<&mut W as core::fmt::Write>::write_str",
		"<&mut alloc::string::String as core::fmt::Write>::write_str",
		"<[alloc::string::String]>::sort",
		"<[T] as alloc::slice::Join<&str>>::join",
		"<(A,B) as core::clone::Clone>::clone",
		"<alloc::vec::Vec<app::Item>>::push",
		"<alloc::boxed::Box<dyn app::Run> as core::ops::Fn>::call",
		"<<std::thread::Builder>::spawn_unchecked_<app::main::"
			"{closure#0}, usize>::{closure#1} as core::ops::"
			"function::FnOnce<()>>::call_once::{shim:vtable#0}",
		"core::ops::function::FnOnce::call_once{{vtable.shim}}",
		"core::ptr::drop_in_place<app::Item>", "__rust_alloc",
		"<fn(&T) -> U as core::fmt::Debug>::fmt",
	};
	static const char *const users[] = {
		"<app::Item as core::clone::Clone>::clone",
		"<&app::Item as core::iter::IntoIterator>::into_iter",
		"<T as app::Frobnicate>::frobnicate",
		"<u8 as app::Parse>::parse", "<app::Item>::new",
		"<u8 as <app::Item>::parse::Inner>::parse",
		"<app::Tree<alloc::string::String>>::insert",
		"app::core::run", "corelib::run", "stdx::Vec::push",
		"core::Engine::run()", "alloc::Pool::get(int) const",
		"core::Engine::step(int) [clone .part.0]", "<", "<<", "<a as ",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(std) / sizeof(std[0]); i++)
		if (!wrapper_is("program", std[i]))
			fail_msg("%s is std's", std[i]);
	for (size_t i = 0; i < sizeof(users) / sizeof(users[0]) - 3; i++)
		if (wrapper_is("program", users[i]))
			fail_msg("%s is the user's", users[i]);
	/* Odd ones end. */
	for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++)
		wrapper_is("program", users[i]);
}

static void members(void **state)
{
	static const char *const jvm[] = {
		"os::malloc(unsigned long, MEMFLAGS, NativeCallStack const&)",
		"os::realloc(void*, unsigned long, MEMFLAGS)",
		"os::strdup(char const*, MEMFLAGS)",
		"AllocateHeap(unsigned long, MEMFLAGS, "
			"AllocFailStrategy::AllocFailEnum)",
		"CHeapObj<(MEMFLAGS)7>::operator new(unsigned long)",
		"CHeapObj<(MEMFLAGS)7>::operator delete(void*)",
		"Arena::Arena(MEMFLAGS, unsigned long)",
		"Arena::grow(unsigned long, AllocFailStrategy::AllocFailEnum)",
		"Arena::Amalloc(unsigned long)",
		"Chunk::operator new(unsigned long, AllocFailStrategy::"
			"AllocFailEnum, unsigned long)",
		"ChunkPool::allocate(unsigned long, AllocFailStrategy::"
			"AllocFailEnum)",
		"NMTPreInitAllocation::do_alloc(unsigned long)",
		"GrowableArrayCHeap<Symbol*, (MEMFLAGS)2>::allocate(int)",
		"int* ArrayAllocator<int>::allocate(unsigned long)",
	};
	static const char *const users[] = {
		"os::init_2()", "os::malloc_and_more(int)",
		"StringTable::create_table()", "ArenaUser::Arena()",
		"Hashtable<Symbol*, (MEMFLAGS)19>::new_entry(unsigned, Symbol*)",
		"Unsafe_AllocateMemory0", "AllocateHeapOf(int)",
		"GrowableArray<int>::sort(int (*)(int*, int*))",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(jvm) / sizeof(jvm[0]); i++) {
		if (!wrapper_is("libjvm.so", jvm[i]) ||
		    !wrapper_allocates("libjvm.so", jvm[i]))
			fail_msg("%s allocates for others", jvm[i]);
		if (wrapper_is("program", jvm[i]))
			fail_msg("%s is another program's", jvm[i]);
	}
	for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++)
		if (wrapper_is("libjvm.so", users[i]))
			fail_msg("%s says something", users[i]);
	assert_true(wrapper_is("libjli.so", "JLI_MemAlloc"));
	assert_true(wrapper_is("libpython3.11.so.1.0", "PyType_GenericAlloc"));
	assert_true(wrapper_is("libglib-2.0.so.0", "g_rc_box_alloc"));
	assert_true(wrapper_is("program", "__cxa_allocate_exception"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrappers),
		cmocka_unit_test(users_code),
		cmocka_unit_test(parts),
		cmocka_unit_test(loaders),
		cmocka_unit_test(language),
		cmocka_unit_test(rust),
		cmocka_unit_test(members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
